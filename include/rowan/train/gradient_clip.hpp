// rowan/train/gradient_clip.hpp: layer::GradientClip, gradient clipping before the optimizer's step.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/elementwise/clip.hpp>
#include <rowan/op/optimizer/clip_by_norm.hpp>
#include <rowan/train/detail/clip_mixed_types.hpp>
#include <rowan/train/detail/option_values.hpp>
#include <rowan/train/optimizer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

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
class GradientClipOn {
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

    bool given() const noexcept { return !kinds_.empty(); }  ///< whether there is clipping
    /// The name and the options, which ranks that train together compare.
    rowan::detail::NamedValues const& values() const noexcept { return values_; }

    /// Adds the clipping operators to a scope and replaces the gradients by their results.
    /// errors   TypeError if the element type of a gradient is not supported, or gradients differ in element type and
    ///          the operator that clips them jointly, such as a user-defined one, takes one type only
    /// cost     one operator for each gradient, or one for all jointly
    void add(Scope& scope, std::vector<ParameterGradient>& gradients) const;

private:
    using Make = std::function<std::vector<Variable*>(Scope&, std::vector<Variable*>)>;
    struct Kind {
        std::int32_t wire;
        Make make;
    };

    [[noreturn]] void refuse(ParameterGradient const& g, std::string const& expected) const;

    std::vector<Kind> kinds_;
    std::string name_, types_;  // of the operator and of the element types
    rowan::detail::NamedValues values_;
    bool together_ = false;
    Make make_mixed_;  // clips gradients of several element types together
};

template <class Device>
template <gradient_clip_options C, class... T>
GradientClipOn<Device>::GradientClipOn(C const& c, dtypes<T...>)
    : name_(C::op::name), types_(rowan::detail::dtype_list<T...>()), values_(rowan::detail::option_values(c)) {
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

template <class Device>
void GradientClipOn<Device>::add(Scope& scope, std::vector<ParameterGradient>& gradients) const {
    if (!given()) return;
    std::size_t const size = together_ ? gradients.size() : 1;
    for (std::size_t begin = 0; begin < gradients.size(); begin += size) {
        std::int32_t const wire = gradients[begin].gradient->spec().dtype;
        std::vector<Variable*> some;
        Make const* make = nullptr;
        for (std::size_t i = begin; i < begin + size; ++i) {
            std::int32_t const own = gradients[i].gradient->spec().dtype;
            auto const kind = std::ranges::find(kinds_, own, &Kind::wire);
            if (kind == kinds_.end()) refuse(gradients[i], types_);
            if (own != wire && !make_mixed_)
                refuse(gradients[i], rowan::detail::dtype_text(wire).append(", that of the other gradients"));
            make = own != wire || make == &make_mixed_ ? &make_mixed_ : &kind->make;
            some.push_back(gradients[i].gradient);
        }
        auto const clipped = (*make)(scope, std::move(some));
        for (std::size_t i = 0; i < size; ++i) gradients[begin + i].gradient = clipped[i];
    }
}

template <class Device>
void GradientClipOn<Device>::refuse(ParameterGradient const& g, std::string const& expected) const {
    throw TypeError(std::string(name_).append(": the element type of the gradient of ").append(g.parameter->name()),
                    rowan::detail::dtype_text(g.gradient->spec().dtype), expected);
}

/// Gradient clipping for nets on the host.
using GradientClip = GradientClipOn<Cpu>;

ROWAN_TEMPLATE(class GradientClipOn<Cpu>)
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByValue const&, trained_dtypes<ClipByValue>))
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByNorm const&, trained_dtypes<ClipByNorm>))
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByGlobalNorm const&, trained_dtypes<ClipByGlobalNorm>))

}  // namespace rowan::inline v0::layer
