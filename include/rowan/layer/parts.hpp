// rowan/layer/parts.hpp: layer::Parts, the number of batches whose gradients make a step.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/op/sum.hpp>
#include <rowan/sparse/merge.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// Gradient accumulation: `count` batches make a step of the optimizer, with the sum of their gradients. Only one batch
/// is in memory at a time.
///     train(cost, reader, {.optimizer = layer::Adam{}, .parts = 8});        // the sum of 8 gradients
///     train(cost / 8.0F, reader, {.optimizer = layer::Adam{}, .parts = 8});  // their mean; reported costs are eighths
/// Schedules, clipping, moving averages and `Parameters::steps` count steps, not batches. The batches that are left at
/// the end of an epoch make a step of their own. Moving statistics, such as those of batch_norm, change with each batch,
/// and dropout has other masks for each. The sums form a binary tree over the batches of a step: each half is summed, the
/// first half being the largest power of two. A row-sparse gradient is merged for each batch and for each sum, so that
/// it has at most one row for each row id; sgd then sums duplicates first.
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

    std::int64_t count() const noexcept { return count_; }  ///< the number of batches that make a step

    /// How to sum the gradients of one parameter.
    struct Sums {
        /// A gradient without duplicate rows; may be an alias.
        /// errors   std::bad_alloc
        /// cost     that of merge if it is row-sparse, else O(1)
        Value (*merged)(Device const& exec, Value const& gradient);
        /// The sum of two gradients.
        /// errors   ShapeError if their shapes differ
        /// cost     one read of both and one write of the sum; if they are row-sparse, that of merge
        Value (*add)(Device const& exec, Value const& a, Value const& b);
    };
    /// errors   TypeError if the element type of the gradient is not supported
    /// cost     O(number of types)
    Sums sums_of(ParameterGradient const& g) const;

private:
    template <class T>
    static Value merged(Device const& exec, Value const& gradient);
    template <class T>
    static Value add(Device const& exec, Value const& a, Value const& b);

    struct Kind {
        std::int32_t wire;
        Sums sums;
    };
    std::int64_t count_ = 1;
    std::vector<Kind> kinds_;
    std::string types_;  // their names
};

template <class Device>
template <class... T>
PartsOn<Device>::PartsOn(std::int64_t count, dtypes<T...>)
    : count_(count), kinds_{{dtype<T>::wire, {&PartsOn::template merged<T>, &PartsOn::template add<T>}}...},
      types_(rowan::detail::dtype_list<T...>()) {
    static_assert((detail::is_element<T>() && ...),
                  "rowan::layer::Parts: specialize rowan::dtype<T> for each of these element types");
    if (count < 1) throw ValueError("parts", static_cast<double>(count), "1 or more");
}

template <class Device>
auto PartsOn<Device>::sums_of(ParameterGradient const& g) const -> Sums {
    for (Kind const& kind : kinds_) {
        if (kind.wire == g.gradient->spec().dtype) return kind.sums;
    }
    throw TypeError(std::string("parts: the element type of the gradient of ").append(g.parameter->name()),
                    rowan::detail::dtype_text(g.gradient->spec().dtype), types_);
}

template <class Device>
template <class T>
Value PartsOn<Device>::merged(Device const& exec, Value const& gradient) {
    if (!gradient.is<SelectedRows<T, Device>>()) return gradient.share();
    auto const& g = gradient.get<SelectedRows<T, Device>>();
    if (g.merged()) return gradient.share();
    Value result;
    result.set(merge(exec, g));
    return result;
}

template <class Device>
template <class T>
Value PartsOn<Device>::add(Device const& exec, Value const& a, Value const& b) {
    Value result;
    if (a.is<SelectedRows<T, Device>>()) {
        using Rows = SelectedRows<T, Device>;
        std::vector<Rows> both;
        both.push_back(a.get<Rows>().share());
        both.push_back(b.get<Rows>().share());
        result.set(merge(exec, rowan::sum(exec, both)));
    } else {
        using Dense = LoDTensor<T, Device>;
        std::vector<Tensor<T, Device>> both;
        both.push_back(a.get<Dense>().value().share());
        both.push_back(b.get<Dense>().value().share());
        result.set(Dense(rowan::sum(exec, both)));
    }
    return result;
}

/// The number of batches that make a step, for nets on the host.
using Parts = PartsOn<Cpu>;

ROWAN_TEMPLATE(class PartsOn<Cpu>)
ROWAN_TEMPLATE(PartsOn<Cpu>::PartsOn(std::int64_t, dtypes<float, double, bfloat16>))

}  // namespace rowan::inline v0::layer
