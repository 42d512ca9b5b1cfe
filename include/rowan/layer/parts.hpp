// rowan/layer/parts.hpp: layer::Parts, the number of batches that make a step.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/layer/detail/gradient_sums.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/op/detail/dtype_text.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace rowan::inline v0::layer {

/// Gradient accumulation: `count` batches, the parts of a step, make one step of the optimizer.
///     train(cost, reader, {.optimizer = layer::Adam{}, .parts = 8});
/// The gradient of a step is the mean of those of its parts, each weighed by its number of rows, as if the parts were
/// one batch and the cost a mean over its rows: (rows_0 · g_0 + rows_1 · g_1 + …) / (rows_0 + rows_1 + …). The number of
/// rows of a part is that of the first variable, walking back from the cost, whose first dim is UNK; 1 if there is none.
/// So are the step's cost, and the moving statistics of batch_norm, which each part computes from those before the step.
///
/// The products are summed in dtype<T>::sum, as a binary tree over the numbers of the parts, (0 + 1) + (2 + 3), divided,
/// and rounded once. A row-sparse gradient is merged for each part. A step of a single part is one without this option:
/// nothing is weighed, and duplicate rows remain.
///
/// Schedules, clipping, moving averages and `Parameters::steps` count steps. The batches that are left at the end of an
/// epoch make a step of their own. Dropout has other masks for each part. Only one part runs at a time, and at most
/// log2 count sums of gradients and one are in memory, in dtype<T>::sum, on the host.
template <class Device>
class PartsOn {
public:
    PartsOn() = default;  ///< every batch is a step
    /// For gradients of float, double and bfloat16.
    /// errors   ValueError if count is not positive
    /// cost     O(1)
    PartsOn(std::int64_t count) : PartsOn(count, dtypes<float, double, bfloat16>{}) {}
    /// For gradients of other element types, such as user-defined ones.
    ///     {.parts = {8, dtypes<mine>{}}}
    /// errors   ValueError if count is not positive
    /// cost     O(number of types)
    template <class... T>
    PartsOn(std::int64_t count, dtypes<T...>);

    std::int64_t count() const noexcept { return count_; }   ///< the number of batches that make a step
    bool given() const noexcept { return !kinds_.empty(); }  ///< whether a number was given

    /// How to sum gradients, or moving statistics, of the element type of a variable; `what` is for the error.
    /// errors   TypeError if the element type is not supported
    /// cost     O(number of types)
    rowan::detail::GradientSums const& sums_of(Variable const& v, std::string const& what) const;

private:
    struct Kind {
        std::int32_t wire;
        rowan::detail::GradientSums sums;
    };
    std::int64_t count_ = 1;
    std::vector<Kind> kinds_;
    std::string types_;  // their names
};

template <class Device>
template <class... T>
PartsOn<Device>::PartsOn(std::int64_t count, dtypes<T...>)
    : count_(count), kinds_{{dtype<T>::wire, rowan::detail::gradient_sums<T, Device>()}...},
      types_(rowan::detail::dtype_list<T...>()) {
    static_assert((detail::is_element<T>() && ...),
                  "rowan::layer::Parts: specialize rowan::dtype<T> for each of these element types");
    if (count < 1) throw ValueError("parts", count, "1 or more");
    (kinds_.push_back({dtype<rowan::detail::kept_t<T>>::wire,  // of moving statistics
                       rowan::detail::gradient_sums<rowan::detail::kept_t<T>, Device>()}),
     ...);
}

template <class Device>
rowan::detail::GradientSums const& PartsOn<Device>::sums_of(Variable const& v, std::string const& what) const {
    for (Kind const& kind : kinds_) {
        if (kind.wire == v.spec().dtype) return kind.sums;
    }
    throw TypeError(std::string("parts: the element type of ").append(what), rowan::detail::dtype_text(v.spec().dtype),
                    types_);
}

/// The number of batches that make a step, for nets on the host.
using Parts = PartsOn<Cpu>;

ROWAN_TEMPLATE(class PartsOn<Cpu>)
ROWAN_TEMPLATE(PartsOn<Cpu>::PartsOn(std::int64_t, dtypes<float, double, bfloat16>))

}  // namespace rowan::inline v0::layer
