// rowan/train/gradient_clip.hpp: layer::GradientClip, gradient clipping before the optimizer's step.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/elementwise/clip.hpp>
#include <rowan/op/optimizer/clip_by_norm.hpp>
#include <rowan/train/detail/clip_mixed_types.hpp>
#include <rowan/train/detail/option_values.hpp>
#include <rowan/train/optimizer.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// What layer::GradientClipOn<Device> has that does not depend on Device.
class AnyGradientClip {
public:
    bool given() const noexcept { return !kinds_.empty(); }  ///< whether there is clipping
    /// The name and the options, which ranks that train together compare.
    NamedValues const& values() const noexcept { return values_; }

    /// Adds the clipping operators to a scope and replaces the gradients by their results.
    /// errors   TypeError if the element type of a gradient is not supported, or gradients differ in element type and
    ///          the operator that clips them jointly, such as a user-defined one, takes one type only
    /// cost     one operator for each gradient, or one for all jointly
    ROWAN_IF_CALLED void add(Scope& scope, std::vector<ParameterGradient>& gradients) const;

protected:
    using Make = std::function<std::vector<Variable*>(Scope&, std::vector<Variable*>)>;
    struct Kind {
        std::int32_t wire;
        Make make;
    };

    AnyGradientClip() = default;
    AnyGradientClip(std::string_view name, std::string types, NamedValues values)
        : name_(name), types_(std::move(types)), values_(std::move(values)) {}

    std::vector<Kind> kinds_;
    Make make_mixed_;  // clips gradients of several element types together
    bool together_ = false;

private:
    ROWAN_IF_CALLED [[noreturn]] void refuse(ParameterGradient const& g, std::string const& expected) const;

    std::string name_, types_;  // of the operator and of the element types
    NamedValues values_;
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

// Duplicate rows of a row-sparse gradient are summed before they are clipped, so the result equals that of the dense
// gradient.

/// Clips every element to [min, max], which must contain 0 if a gradient is row-sparse.
struct ClipByValue {
    double min = -1;  ///< lower bound
    double max = 1;   ///< upper bound

    using op = clip_op;
    ROWAN_OPTIONS(ClipByValue, min, max)
};

/// Scales the gradient of each parameter to the Euclidean norm max_norm if its norm is greater.
struct ClipByNorm {
    double max_norm = 1;  ///< maximum norm

    using op = clip_by_norm_op;
    ROWAN_OPTIONS(ClipByNorm, max_norm)
};

/// Scales all gradients, of any element types, by one factor to the joint Euclidean norm max_norm if their joint norm
/// is greater.
struct ClipByGlobalNorm {
    double max_norm = 1;  ///< maximum norm

    using op = clip_by_global_norm_op;
    static constexpr bool together = true;  ///< one operator clips all gradients
    ROWAN_OPTIONS(ClipByGlobalNorm, max_norm)
};

/// Requirements on a kind of clipping: those on an optimizer, and that the operator has one input and one output slot.
template <class C>
concept gradient_clip_options = optimizer_options<C> && C::op::inputs::size == 1 && C::op::outputs::size == 1;

/// One of the kinds above, or a user-defined one with the same members, for gradients of given element types on a
/// device; or no clipping.
template <class Device>
class GradientClipOn : public rowan::detail::AnyGradientClip {
public:
    GradientClipOn() = default;  ///< no clipping
    /// For gradients of the element types in trained_dtypes<C>.
    template <gradient_clip_options C>
    GradientClipOn(C const& c) : GradientClipOn(c, trained_dtypes<C>{}) {}

    /// For gradients of other element types, such as user-defined ones.
    ///     GradientClip(ClipByNorm{.max_norm = 1}, dtypes<mine>{})
    /// errors   std::bad_alloc
    /// cost     O(number of types)
    template <gradient_clip_options C, class... T>
    GradientClipOn(C const& c, dtypes<T...>);
};

template <class Device>
template <gradient_clip_options C, class... T>
GradientClipOn<Device>::GradientClipOn(C const& c, dtypes<T...>)
    : AnyGradientClip(C::op::name, rowan::detail::dtype_list<T...>(), rowan::detail::option_values(c)) {
    using Op = typename C::op;
    if constexpr (requires { C::together; }) together_ = C::together;
    (kinds_.push_back({dtype<T>::wire,
                       [c](Scope& scope, std::vector<Variable*> g) {
                           return scope.new_op<Op, Device, T>(std::move(g), rowan::detail::operator_options(c)).outputs;
                       }}),
     ...);
    if constexpr (rowan::detail::clips_mixed_types<Op>) {
        make_mixed_ = [c](Scope& scope, std::vector<Variable*> g) {
            return scope
                .new_op(rowan::detail::whole_kernel<rowan::detail::clip_mixed_types<Op, Device, T...>>::value,
                        std::move(g), rowan::detail::owned(rowan::detail::operator_options(c)))
                .outputs;
        };
    }
}

/// Gradient clipping for nets on the host.
using GradientClip = GradientClipOn<Cpu>;

ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByValue const&, trained_dtypes<ClipByValue>))
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByNorm const&, trained_dtypes<ClipByNorm>))
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByGlobalNorm const&, trained_dtypes<ClipByGlobalNorm>))

}  // namespace rowan::inline v0::layer

#include <rowan/train/gradient_clip_inl.hpp>
