// rowan/layer/operator_layer.hpp: operator_layer, the layer that adds one operator.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/layer/var.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace rowan::inline v0::detail {

struct type_of_field {
    template <class Struct, class Member>
    constexpr std::type_identity<Member> operator()(field<Struct, Member> const&) const {
        return {};
    }
};

/// The type of the option of an operator with `list_option`, which has no other; else one that no argument has.
template <class Op>
struct list_of {
    struct type {};
};
template <class Op>
requires(Op::list_option) struct list_of<Op> : decltype(attributes_of<Op>::fields(type_of_field{})) {
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// A layer that adds the operator Op to the net, with the options that Op takes: a function object, one for each of
/// rowan's operators in operators.hpp.
///     inline constexpr operator_layer<my_op> mine{};      // one of your own:
///     auto y = mine(x, {.slope = 0.1});
/// shapes   as the operator
/// errors   what the operator's `infer` throws for inputs and options that do not fit
/// cost     one operator in the net; when the net runs, that of the operator's `run`
template <class Op>
struct operator_layer {
    using Options = attributes_of<Op>;                       ///< the operator's attributes
    static constexpr std::size_t inputs = Op::inputs::size;  ///< the number of Vars that it takes

    template <class T, class Device>
    requires(inputs == 1) auto operator()(Var<T, Device> const& x, Options const& options = {}) const {
        return apply<Op>(options, x);
    }
    /// The option of an operator with `list_option`: layer::reshape(x, {0, -1}).
    template <class T, class Device>
    requires(inputs == 1) auto operator()(Var<T, Device> const& x,
                                          typename rowan::detail::list_of<Op>::type const& list) const {
        return apply<Op>(Options{list}, x);
    }
    template <class T, class U, class Device>
    requires(inputs == 2) auto operator()(Var<T, Device> const& x, Var<U, Device> const& y,
                                          Options const& options = {}) const {
        return apply<Op>(options, x, y);
    }
    template <class T, class U, class V, class Device>
    requires(inputs == 3) auto operator()(Var<T, Device> const& x, Var<U, Device> const& y, Var<V, Device> const& z,
                                          Options const& options = {}) const {
        return apply<Op>(options, x, y, z);
    }

    // Mistakes, which do not compile.
    template <rowan::detail::no_var X, class... More>
    void operator()(X const&, More const&...) const {
        rowan::detail::check_vars<X>();
    }
    template <class T, class Device, rowan::detail::no_var Y>
    requires(!std::same_as<Y, Options>) void operator()(Var<T, Device> const&, Y const&) const {
        static_assert(inputs == 1, "rowan::layer: this layer takes several Vars");
        static_assert(inputs != 1,
                      "rowan::layer: options have names, as in layer::sequence_pool(x, {.pool = Pooling::mean})");
    }
};

}  // namespace rowan::inline v0::layer
