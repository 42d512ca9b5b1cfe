// rowan/train/gradient_clip.hpp: layer::GradientClip, gradient clipping before the optimizer's step.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/train/detail/option_values.hpp>
#include <rowan/train/optimizer.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

struct ClipKinds;

/// Complete where clippings can be made, see make_clip.hpp.
template <class C>
struct CanMakeClips;

/// What layer::GradientClipOn<Device> has that does not depend on Device.
class AnyGradientClip {
public:
    ROWAN_IF_CALLED bool given() const noexcept;  ///< whether there is clipping
    /// The name and the options, which ranks that train together compare, of a clipping that is given.
    ROWAN_IF_CALLED NamedValues const& values() const noexcept;

    /// Adds the clipping operators to a scope and replaces the gradients by their results.
    /// errors   TypeError if the element type of a gradient is not supported, or gradients differ in element type and
    ///          the operator that clips them jointly, such as a user-defined one, takes one type only
    /// cost     one operator for each gradient, or one for all jointly
    ROWAN_IF_CALLED void add(Scope& scope, std::vector<ParameterGradient>& gradients) const;

    /// For some of its element types, which have these numbers; their names.
    ROWAN_IF_CALLED AnyGradientClip only_for(std::span<std::int32_t const> wires, std::string types) &&;

protected:
    AnyGradientClip() = default;

private:
    template <class Device, class C, class... T>
    friend AnyGradientClip make_clip(C const& c, dtypes<T...>);

    explicit AnyGradientClip(std::shared_ptr<ClipKinds const> kinds) noexcept : kinds_(std::move(kinds)) {}

    std::shared_ptr<ClipKinds const> kinds_;  // nullptr for none
};

/// A clipping C for gradients of element types T..., see make_clip.hpp.
template <class Device, class C, class... T>
AnyGradientClip make_clip(C const& c, dtypes<T...>);

/// make_clip, or that of the compiled library.
template <class Device, class C, class... T>
AnyGradientClip find_clip(C const& c, dtypes<T...> types) {
    using Compiled = dtypes<float, double, bfloat16>;
    if constexpr (!ROWAN_DECLARES_OPERATORS || !is_compiled_optimizer<Device, C, T...>) {
        static_assert(
            requires { CanMakeClips<C>{}; },
            "rowan::layer::GradientClip: the compiled library has no such clipping for these element types and "
            "this device: #include <rowan/own_operator.hpp>");
        return make_clip<Device>(c, types);
    } else if constexpr (std::is_same_v<dtypes<T...>, Compiled>) {
        return make_clip<Cpu>(c, types);
    } else {
        return make_clip<Cpu>(c, Compiled{}).only_for(std::array{dtype<T>::wire...}, dtype_list<T...>());
    }
}

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
concept gradient_clip_options =
    optimizer_options<C> && rowan::detail::declaration_of<typename C::op>::inputs::size == 1 &&
    rowan::detail::declaration_of<typename C::op>::outputs::size == 1;

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
    GradientClipOn(C const& c, dtypes<T...> types) : AnyGradientClip(rowan::detail::find_clip<Device>(c, types)) {}
};

/// Gradient clipping for nets on the host.
using GradientClip = GradientClipOn<Cpu>;

}  // namespace rowan::inline v0::layer

#include <rowan/train/gradient_clip_inl.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/train/detail/make_clip.hpp>
#endif
