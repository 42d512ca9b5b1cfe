// rowan/layer/gradient_clip.hpp: layer::GradientClip, what gradients are limited to before an optimizer gets them, and the ways to do so.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/op/clip.hpp>
#include <rowan/op/clip_by_norm.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

// Of a row-sparse gradient that names a row several times, the sum of these is limited: the result is that of the dense gradient.

/// Every element is cut to [min, max], which must have 0 within it where a gradient is row-sparse.
struct ClipByValue {
    double min = -1;  ///< what is less becomes this
    double max = 1;   ///< what is more becomes this

    using op = clip_op;
    ClipOptions options() const { return {min, max}; }
};

/// The gradient of each parameter is scaled to this Euclidean norm, where its own is greater.
struct ClipByNorm {
    double max_norm = 1;  ///< the greatest norm that is left as it is

    using op = clip_by_norm_op;
    ClipByNormOptions options() const { return {max_norm}; }
};

/// All gradients are scaled by one factor to this norm of all of them together, where theirs is greater.
struct ClipByGlobalNorm {
    double max_norm = 1;  ///< the greatest norm that is left as it is

    using op = clip_by_global_norm_op;
    static constexpr bool together = true;  ///< of all gradients, not of each
    ClipByNormOptions options() const { return {max_norm}; }
};

/// What a way to limit gradients has: an operator of one input and one result, and its attributes.
template <class C>
concept gradient_clip_options = requires(C const& c) {
    typename C::op;
    { c.options() } -> std::same_as<typename C::op::attributes>;
    requires C::op::inputs::size == 1 && C::op::outputs::size == 1;
};

/// One of the above, or the user's own with the same members, for gradients of some element types on a device; or nothing.
template <class Device>
class GradientClipOn {
public:
    GradientClipOn() = default;  ///< gradients stay as they are
    /// For parameters of float and double.
    template <gradient_clip_options C>
    GradientClipOn(C const& c) : GradientClipOn(c, dtypes<float, double>{}) {}

    /// Gradients of other types, such as one of the user's.
    ///     GradientClip(ClipByNorm{.max_norm = 1}, dtypes<mine>{})
    /// errors   std::bad_alloc
    /// cost     O(types)
    template <gradient_clip_options C, class... T>
    GradientClipOn(C const& c, dtypes<T...>);

    /// Adds the operators to a scope and puts what they give in the place of the gradients.
    /// errors   TypeError if a gradient has elements of another type than this is for, or of several types where all are limited together
    /// cost     one operator for each gradient, or one for all together
    void add(Scope& scope, std::vector<ParameterGradient>& gradients) const;

private:
    struct Kind {
        std::int32_t wire;
        std::function<std::vector<Variable*>(Scope&, std::vector<Variable*>)> make;
    };

    [[noreturn]] static void refuse(ParameterGradient const& g, std::string const& expected);

    std::vector<Kind> kinds_;
    bool together_ = false;
};

template <class Device>
template <gradient_clip_options C, class... T>
GradientClipOn<Device>::GradientClipOn(C const& c, dtypes<T...>) {
    if constexpr (requires { C::together; }) together_ = C::together;
    (kinds_.push_back({dtype<T>::wire,
                       [c](Scope& scope, std::vector<Variable*> g) {
                           return scope.new_op<typename C::op, Device, T>(std::move(g), c.options()).outputs;
                       }}),
     ...);
}

template <class Device>
void GradientClipOn<Device>::add(Scope& scope, std::vector<ParameterGradient>& gradients) const {
    if (kinds_.empty()) return;
    std::size_t const size = together_ ? gradients.size() : 1;
    for (std::size_t begin = 0; begin < gradients.size(); begin += size) {
        std::int32_t const wire = gradients[begin].gradient->spec().dtype;
        std::vector<Variable*> some;
        for (std::size_t i = begin; i < begin + size; ++i) {
            if (gradients[i].gradient->spec().dtype != wire)
                refuse(gradients[i], std::string("that of all, ").append(std::to_string(wire)));
            some.push_back(gradients[i].gradient);
        }
        auto const kind = std::ranges::find(kinds_, wire, &Kind::wire);
        if (kind == kinds_.end()) refuse(gradients[begin], "one that gradients are clipped of");
        auto const clipped = kind->make(scope, std::move(some));
        for (std::size_t i = 0; i < size; ++i) gradients[begin + i].gradient = clipped[i];
    }
}

template <class Device>
void GradientClipOn<Device>::refuse(ParameterGradient const& g, std::string const& expected) {
    throw TypeError(std::string("the element type of the gradient of ").append(g.parameter->name()),
                    std::to_string(g.gradient->spec().dtype), expected);
}

/// That of the host.
using GradientClip = GradientClipOn<Cpu>;

ROWAN_TEMPLATE(class GradientClipOn<Cpu>)
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByValue const&, dtypes<float, double>))
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByNorm const&, dtypes<float, double>))
ROWAN_TEMPLATE(GradientClipOn<Cpu>::GradientClipOn(ClipByGlobalNorm const&, dtypes<float, double>))

}  // namespace rowan::inline v0::layer
