// rowan/train/optimizer.hpp: layer::Optimizer, the optimizer of train.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/train/detail/option_values.hpp>
#include <rowan/train/optimizers.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

/// A list of element types.
template <class... T>
struct dtypes {};

namespace detail {

struct ParameterUpdate;
struct OptimizerKinds;

/// Complete where updates can be made, see make_update.hpp.
template <class O>
struct CanMakeUpdates;

/// Whether the compiled library has all that O does for these element types.
template <class Device, class O, class... T>
inline constexpr bool is_compiled_optimizer = std::is_same_v<Device, Cpu>&& is_of_rowan<O>() && !requires {
    typename O::deferred;
}
&&((std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, bfloat16>)&&...);

/// What layer::OptimizerOn<Device> has that does not depend on Device.
class AnyOptimizer {
public:
    /// Of an optimizer that updates all rows, by `.lazy = false` or as Lamb: replaces a row-sparse gradient by a dense
    /// one, which it adds to the scope.
    /// errors   TypeError if this optimizer does not support the parameter's element type, or the parameter is a
    ///          SelectedRows, whose rows are updated only where they have a gradient
    /// cost     O(number of types), plus one operator
    ROWAN_IF_CALLED void densify(Scope& scope, ParameterGradient& g) const;

    /// Adds the operator that updates a parameter, and its states, to a scope.
    /// errors   TypeError if this optimizer does not support the parameter's element type; GraphError if the scope
    ///          already has states of these names; the scope then is as before
    /// cost     O(number of types), plus one operator and its states
    ROWAN_IF_CALLED ParameterUpdate add(Scope& scope, ParameterGradient const& g) const;

    /// The name and the options, which ranks that train together compare.
    ROWAN_IF_CALLED NamedValues const& values() const;

    /// For some of its element types, which have these numbers; their names.
    ROWAN_IF_CALLED AnyOptimizer only_for(std::span<std::int32_t const> wires, std::string types) &&;

private:
    template <class Device, class O, class... T>
    friend AnyOptimizer make_optimizer(O const& o, dtypes<T...>);
    friend class AnyAverage;

    AnyOptimizer() = default;
    explicit AnyOptimizer(std::shared_ptr<OptimizerKinds const> kinds) noexcept : kinds_(std::move(kinds)) {}

    std::shared_ptr<OptimizerKinds const> kinds_;  // nullptr for none, and if it has been moved from
};

/// An optimizer, a clipping or an average O for element types T..., see make_update.hpp.
template <class Device, class O, class... T>
AnyOptimizer make_optimizer(O const& o, dtypes<T...>);

/// make_optimizer, or that of the compiled library.
template <class Device, class O, class... T>
AnyOptimizer find_optimizer(O const& o, dtypes<T...> types) {
    using Compiled = dtypes<float, double, bfloat16>;
    if constexpr (!ROWAN_DECLARES_OPERATORS || !is_compiled_optimizer<Device, O, T...>) {
        static_assert(
            requires { CanMakeUpdates<O>{}; },
            "rowan::layer::Optimizer: the compiled library has no such optimizer for these element types and "
            "this device: #include <rowan/own_operator.hpp>");
        return make_optimizer<Device>(o, types);
    } else if constexpr (std::is_same_v<dtypes<T...>, Compiled>) {
        return make_optimizer<Cpu>(o, types);
    } else {
        return make_optimizer<Cpu>(o, Compiled{}).only_for(std::array{dtype<T>::wire...}, dtype_list<T...>());
    }
}

}  // namespace detail

namespace layer {

/// The element types of an optimizer or a GradientClip that is given none: float and double, and bfloat16 if its
/// operator is one of rowan's.
template <class O>
using trained_dtypes = std::conditional_t<rowan::detail::is_builtin<typename O::op>, dtypes<float, double, bfloat16>,
                                          dtypes<float, double>>;

/// One of the optimizers of optimizers.hpp, or a user-defined one with the same members, for parameters of given
/// element types on a device.
template <class Device>
class OptimizerOn : public rowan::detail::AnyOptimizer {
public:
    /// For parameters of the element types in trained_dtypes<O>.
    template <optimizer_options O>
    OptimizerOn(O const& o) : OptimizerOn(o, trained_dtypes<O>{}) {}

    /// For parameters of other element types, such as user-defined ones.
    ///     Optimizer(AdaGrad{.learning_rate = 0.1}, dtypes<mine>{})
    /// errors   std::bad_alloc
    /// cost     O(number of types)
    template <optimizer_options O, class... T>
    OptimizerOn(O const& o, dtypes<T...> types) : AnyOptimizer(rowan::detail::find_optimizer<Device>(o, types)) {
        static_assert((rowan::detail::is_element<T>() && ...),
                      "rowan::layer::Optimizer: specialize rowan::dtype<T> for each of these element types");
    }
};

/// The optimizer for nets on the host.
using Optimizer = OptimizerOn<Cpu>;

}  // namespace layer

}  // namespace rowan::inline v0

#include <rowan/train/optimizer_inl.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/train/detail/make_update.hpp>
#endif
