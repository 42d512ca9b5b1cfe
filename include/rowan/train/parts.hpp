// rowan/train/parts.hpp: layer::Parts, the number of batches that make a step.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/train/optimizer.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>

namespace rowan::inline v0::detail {

struct GradientSums;
struct PartsFunctions;
ROWAN_IF_CALLED PartsFunctions const& parts_functions();

/// Complete where gradients of own element types or devices can be summed, see gradient_sums.hpp.
template <class T>
struct CanSumGradients;

/// The functions for gradients of T.
template <class T, class Device>
GradientSums const& gradient_sums();

/// Whether the compiled library sums gradients of T.
template <class T, class Device>
inline constexpr bool has_compiled_sums = std::is_same_v<Device, Cpu> &&
                                          (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                           std::is_same_v<T, bfloat16>);

/// What layer::PartsOn<Device> has that does not depend on Device.
class AnyParts {
public:
    std::int64_t count() const noexcept { return count_; }  ///< the number of batches that make a step
    PartsFunctions const* functions() const noexcept { return functions_; }  ///< nullptr unless a number was given

    /// How to sum gradients, or moving statistics, of the element type of a variable; `what` is for the error.
    /// errors   TypeError if the element type is not supported
    /// cost     O(number of types)
    ROWAN_IF_CALLED GradientSums const& sums_of(Variable const& v, std::string const& what) const;

protected:
    struct Kind {
        std::int32_t wire;
        GradientSums const* sums;
    };
    AnyParts() = default;
    ROWAN_IF_CALLED AnyParts(std::int64_t count, std::string types, std::initializer_list<Kind> kinds);

private:
    struct Kinds;

    std::int64_t count_ = 1;
    PartsFunctions const* functions_ = nullptr;
    std::shared_ptr<Kinds const> kinds_;
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Gradient accumulation: `count` batches, the parts of a step, make one step of the optimizer.
///     train(cost, reader, {.optimizer = layer::Adam{}, .parts = 8});
/// The step is that of one batch of all rows, up to rounding. Its gradient, from the g_i of the parts, and so its cost:
///     the cost is a sum over rows       g_0 + g_1 + …
///     the cost is a mean over rows      (n_0 · g_0 + n_1 · g_1 + …) / (n_0 + n_1 + …)
/// n_i is what the mean divides by in part i:
/// - of a cross entropy the number of labels that are not ignored, or the sum of their weights,
/// - of a binary cross entropy the number of elements that are not ignored,
/// - of a loss with weights of rows the sum of those of its elements, without the ignored ones,
/// - of layer::reduce_sum(x · w) / layer::reduce_sum(w) the divisor, which must not be 0: that is a ValueError,
/// - of other means the number of rows.
///
/// If no label counts in any part, cost and gradient are 0. A part whose losses have no rows, or whose rows all have the
/// weight 0, adds nothing; if no part of a step adds anything, it changes nothing: see Trainer::step. The products with
/// n_i are of type dtype<T>::sum: in float, weights far below 1e-30 or above 1e30 lose digits or overflow. What depends
/// on parameters alone, such as a penalty, may be added to a mean. The moving statistics of batch_norm, which each part
/// computes from those before the step, are weighed by its rows.
///
/// Walking back from the cost, sums and means over rows are found behind linear operators, which say so by their
/// `linearity`, as one of yours can. Another operator there, or a sum of a mean and a sum, is a GraphError; means that
/// are added must divide by numbers in the same proportion in all parts, else the step is a ValueError. The result of a
/// loop, or of another operator that reduces rows, is taken for a mean over the rows of its first input with rows. What
/// else a net computes of a whole batch is that of each part.
///
/// The products are summed in dtype<T>::sum, as a binary tree over the numbers of the parts, (0 + 1) + (2 + 3), divided,
/// and rounded once. A row-sparse gradient is merged for each part. A step of a single part is one without this option:
/// nothing is weighed, and duplicate rows remain.
///
/// Schedules, clipping, moving averages and `Parameters::steps` count steps. The batches that are left at the end of an
/// epoch make a step of their own. Dropout has other masks for each part. Only one part runs at a time, and at most
/// log2 count sums of gradients and one are in memory, in dtype<T>::sum, on the host.
template <class Device>
class PartsOn : public rowan::detail::AnyParts {
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
};

template <class Device>
template <class... T>
PartsOn<Device>::PartsOn(std::int64_t count, dtypes<T...>)
    : AnyParts(count, rowan::detail::dtype_list<T...>(),
               {Kind{dtype<T>::wire, &rowan::detail::gradient_sums<T, Device>()}...,
                Kind{dtype<rowan::detail::kept_t<T>>::wire,  // of moving statistics
                     &rowan::detail::gradient_sums<rowan::detail::kept_t<T>, Device>()}...}) {
    static_assert(
        !ROWAN_DECLARES_OPERATORS ||
            ((rowan::detail::has_compiled_sums<T, Device> || requires { rowan::detail::CanSumGradients<T>{}; }) && ...),
        "rowan::layer::Parts: the compiled library sums gradients of float, double and bfloat16 on the host: #include "
        "<rowan/own_operator.hpp>");
    static_assert((detail::is_element<T>() && ...),
                  "rowan::layer::Parts: specialize rowan::dtype<T> for each of these element types");
}

/// The number of batches that make a step, for nets on the host.
using Parts = PartsOn<Cpu>;

ROWAN_TEMPLATE(PartsOn<Cpu>::PartsOn(std::int64_t, dtypes<float, double, bfloat16>))

}  // namespace rowan::inline v0::layer

#include <rowan/train/parts_inl.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/train/detail/gradient_sums.hpp>
#endif
#include <rowan/train/train_options.hpp>  // has parts_functions
