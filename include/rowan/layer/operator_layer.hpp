// rowan/layer/operator_layer.hpp: operator_layer, list_layer and pair_layer, the layers that add one operator.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/layer/var.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

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
requires(declaration_of<Op>::list_option) struct list_of<Op> : decltype(attributes_of<Op>::fields(type_of_field{})) {
};

/// The least number of options, all of them numbers, that layers also take by position; 0: options have names.
template <class Op>
inline constexpr std::size_t number_options = 0;

/// The calls of a layer that add the operator Op.
template <class Op>
struct layer_calls {
    using Options = attributes_of<Op>;
    static constexpr std::size_t inputs = declaration_of<Op>::inputs::size;

    template <class T, class Device>
    requires(inputs == 1) auto operator()(layer::Var<T, Device> const& x, Options const& options = {}) const {
        return layer::apply<Op>(options, x);
    }
    /// The option of an operator with `list_option`: layer::reshape(x, {0, -1}).
    template <class T, class Device>
    requires(inputs == 1 && requires { requires declaration_of<Op>::list_option; }) auto operator()(
        layer::Var<T, Device> const& x, typename list_of<Op>::type const& list) const {
        return layer::apply<Op>(Options{list}, x);
    }
    /// The options of an operator with number_options: layer::clip(x, 0, 6).
    template <class T, class Device, std::convertible_to<double>... N>
    requires(inputs == 1 && number_options<Op> != 0 && sizeof...(N) >= number_options<Op>) auto operator()(
        layer::Var<T, Device> const& x, N... numbers) const {
        return layer::apply<Op>(Options{static_cast<double>(numbers)...}, x);
    }
    template <class T, class U, class Device>
    requires(inputs == 2) auto operator()(layer::Var<T, Device> const& x, layer::Var<U, Device> const& y,
                                          Options const& options = {}) const {
        static_assert(std::same_as<T, U> || !takes_alike<Op>,
                      "rowan::layer: x and y have one element type: convert with layer::cast");
        return layer::apply<Op>(options, x, y);
    }
    template <class T, class U, class V, class Device>
    requires(inputs == 3) auto operator()(layer::Var<T, Device> const& x, layer::Var<U, Device> const& y,
                                          layer::Var<V, Device> const& z, Options const& options = {}) const {
        return layer::apply<Op>(options, x, y, z);
    }
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// A layer that adds the operator Op to the net, with the options that Op takes, or, for other numbers of Vars, one of
/// Other: a function object, one for each of rowan's operators in operators.hpp.
///     inline constexpr operator_layer<my_op> mine{};      // one of your own:
///     auto y = mine(x, {.slope = 0.1});
/// shapes   as the operator
/// errors   what the operator's `infer` throws for inputs and options that do not fit
/// cost     one operator in the net; when the net runs, that of the operator's `run`
template <class Op, class... Other>
struct operator_layer : rowan::detail::layer_calls<Op>, rowan::detail::layer_calls<Other>... {
    using typename rowan::detail::layer_calls<Op>::Options;
    using rowan::detail::layer_calls<Op>::inputs;
    using rowan::detail::layer_calls<Op>::operator();
    using rowan::detail::layer_calls<Other>::operator()...;

    // Mistakes, which do not compile.
    template <rowan::detail::no_var X, class... More>
    void operator()(X const&, More const&...) const {
        rowan::detail::check_vars<X>();
    }
    template <class T, class Device, rowan::detail::no_var Y>
    requires(!std::same_as<Y, Options> && rowan::detail::number_options<Op> != 1) void operator()(Var<T, Device> const&,
                                                                                                  Y const&) const {
        if constexpr (inputs != 1) rowan::detail::check_vars<Y>();
        static_assert(inputs != 1,
                      "rowan::layer: options have names, as in layer::sequence_pool(x, {.pool = Pooling::mean})");
    }
};

/// A layer that adds the operator Op, which takes one or more values of a type: layer::concat({a, b}, {.axis = 1}). An
/// axis that is the only option needs no name.
/// shapes   as the operator
/// errors   what the operator's `infer` throws for inputs and options that do not fit
/// cost     one operator in the net; when the net runs, that of the operator's `run`
template <class Op>
struct list_layer {
    using Options = attributes_of<Op>;  ///< the operator's attributes

    template <class T, class Device>
    Var<T, Device> operator()(std::vector<Var<T, Device>> const& x, Options const& options = {}) const {
        std::vector<Variable*> inputs;
        for (auto const& part : x) inputs.push_back(&*part);
        return Var<T, Device>(*default_scope().new_op<Op, Device, T>(std::move(inputs), options).outputs[0]);
    }
    template <class T, class Device>
    Var<T, Device> operator()(std::initializer_list<Var<T, Device>> x, Options const& options = {}) const {
        return (*this)(std::vector(x), options);
    }
    template <class T, class Device>
    Var<T, Device> operator()(std::vector<Var<T, Device>> const& x, std::int64_t axis) const {
        return (*this)(x, Options{.axis = axis});
    }
    template <class T, class Device>
    Var<T, Device> operator()(std::initializer_list<Var<T, Device>> x, std::int64_t axis) const {
        return (*this)(std::vector(x), Options{.axis = axis});
    }
};

/// A layer that adds the operator Op, which makes a value and numbers: Result<T, Device>{value, numbers}. A number k
/// needs no name.
/// shapes   as the operator
/// errors   what the operator's `infer` throws for inputs and options that do not fit
/// cost     one operator in the net; when the net runs, that of the operator's `run`
template <class Op, template <class, class> class Result>
struct pair_layer {
    using Options = attributes_of<Op>;  ///< the operator's attributes

    template <class T, class Device>
    Result<T, Device> operator()(Var<T, Device> const& x, Options const& options = {}) const {
        auto const& made = default_scope().new_op<Op, Device, T>({&*x}, options).outputs;
        return {Var<T, Device>(*made[0]), Var<std::int64_t, Device>(*made[1])};
    }
    template <class T, class Device, std::same_as<Options> O = Options>
    Result<T, Device> operator()(Var<T, Device> const& x, decltype(O::k) k) const {
        return (*this)(x, Options{.k = k});
    }
};

}  // namespace rowan::inline v0::layer
