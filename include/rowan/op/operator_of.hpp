// rowan/op/operator_of.hpp: operator_of, the base of operators: their slots and attributes; and Elements.
#pragma once

#include <rowan/op/declared.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/slots.hpp>
#include <rowan/op/var_spec.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

/// The attributes of an operator that has none.
struct no_attributes {
    friend constexpr bool operator==(no_attributes const&, no_attributes const&) = default;
};

/// The base of an operator: the names of its inputs and outputs, and the type of its attributes. It has no gradient,
/// unless the operator defines `grad`. An operator may define `normal(x, attributes)`, which returns the attributes as
/// nets and files store them, such as with an axis counted from the first one, given the VarSpec of its first input.
template <class Inputs, class Outputs, class Attributes = no_attributes>
struct operator_of {
    using inputs = Inputs;          ///< in the order of run's arguments
    using outputs = Outputs;        ///< in the order of run's results
    using attributes = Attributes;  ///< the last argument of run
    using grad = no_grad;           ///< no gradient
};

template <class Op, class Uses, class Makes>
struct gradient_op;

/// The `grad` of an operator, or one of its rules: its function `backward`, which takes the device, the values in Uses
/// and the attributes, and returns those in Makes.
///     using grad = gradient<my_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;
///     template <class T, class D> static Tensor<T, D> backward(D exec, Tensor<T, D> const& out_grad, attributes const&);
template <class Op, class Uses, class Makes>
struct gradient {};

namespace detail {

template <class Op, class Uses, class Makes>
struct as_rule<gradient<Op, Uses, Makes>> {
    using type = grad_rule<gradient_op<Op, Uses, Makes>>;
};

template <class Op, class... Rule>
typename std::tuple_element_t<0, std::tuple<Rule...>>::op first_rule(grad_rules<Rule...>);

/// Whether a slot is a gradient.
template <class Slot>
inline constexpr bool is_grad = false;
template <class Slot>
inline constexpr bool is_grad<grad_of<Slot>> = true;

/// The position, among the used slots, of the one whose VarSpec a made gradient has: its own slot, or else the first
/// gradient.
template <class Made, class Used>
inline constexpr std::size_t spec_from = 0;
template <class Slot, class... Used>
inline constexpr std::size_t spec_from<grad_of<Slot>, slots<Used...>> = [] {
    constexpr std::array<bool, sizeof...(Used)> grads{is_grad<Used>...};
    if (slots<Used...>::template has<Slot>) return slots<Used...>::template index<Slot>;
    return static_cast<std::size_t>(std::find(grads.begin(), grads.end(), true) - grads.begin());
}();

/// The row_inputs of a gradient: all that it uses but inputs of Op that are no rows there, such as weights. None if Op
/// has no row_inputs that are the same for all specs.
template <class Op, class... Used>
inline constexpr unsigned gradient_rows = [] {
    unsigned rows = 0;
    if constexpr (requires { static_cast<unsigned>(Op::row_inputs); }) {
        using in = typename Op::inputs;
        std::array<bool, sizeof...(Used)> const is_row{
            (!in::template has<Used> || (Op::row_inputs >> in::template index<Used> & 1) != 0)...};
        for (std::size_t i = 0; i < is_row.size() && Op::row_inputs != 0; ++i) rows |= unsigned{is_row[i]} << i;
    }
    return rows;
}();

}  // namespace detail

/// The operator of a gradient<Op, Uses, Makes>: it has the name of Op and "_grad", the attributes of Op, and its
/// `row_wise` and `row_output`, or the `row_output_backward` of Op. Each gradient has the VarSpec of its slot if that is
/// used, or else of the first used gradient; those of a list have the VarSpecs of the list; unless Op has a function `infer_backward`.
template <class Op, class... Used, class... Made>
struct gradient_op<Op, slots<Used...>, slots<Made...>>
    : operator_of<slots<Used...>, slots<Made...>, typename Op::attributes> {
    static constexpr std::string_view name = detail::joined_name<Op, detail::grad_op_suffix>::value;
    static constexpr unsigned row_inputs = detail::gradient_rows<Op, Used...>;

    static constexpr bool row_wise(typename Op::attributes const& attributes) { return row_wise_of<Op>(attributes); }
    static constexpr bool row_output(typename Op::attributes const& attributes) {
        if constexpr (requires { Op::row_output_backward; }) return Op::row_output_backward;
        return row_output_of<Op>(attributes);
    }

    template <std::same_as<VarSpec>... Spec>
    requires(sizeof...(Spec) == sizeof...(Used) && !requires {
        &Op::infer_backward;
    }) static constexpr std::array<VarSpec, sizeof...(Made)> infer(Spec const&... in) {
        std::array<VarSpec, sizeof...(Used)> const all{in...};
        return {all[detail::spec_from<Made, slots<Used...>>]...};
    }
    template <std::same_as<VarSpec>... Spec>
    requires(sizeof...(Spec) + 1 == sizeof...(Used) && !requires {
        &Op::infer_backward;
    }) static constexpr std::vector<VarSpec> infer(std::span<VarSpec const> list, Spec const&...) {
        return {list.begin(), list.end()};
    }
    template <class... In>
    requires requires(In const&... in) { Op::infer_backward(in...); }
    static constexpr auto infer(In const&... in) { return Op::infer_backward(in...); }

    template <class D, class... In>
    requires requires(D const& exec, In const&... in) { Op::backward(exec, in...); }
    static auto run(D const& exec, In const&... in) { return Op::backward(exec, in...); }
};

/// The operator of an operator's first gradient rule.
template <class Op>
using gradient_operator = decltype(detail::first_rule<Op>(grad_rules_of<Op>{}));

namespace detail {

template <class Op>
struct attributes_type {
    using type = no_attributes;
};
template <class Op>
requires requires { typename Op::attributes; }
struct attributes_type<Op> {
    using type = typename Op::attributes;
};

}  // namespace detail

/// The type of the operator's attributes, the last argument of its `run`; no_attributes if it has none.
template <class Op>
using attributes_of = typename detail::attributes_type<detail::declaration_of<Op>>::type;

/// The element types for which an operator has kernels, as `static constexpr Elements elements`; by default floats.
/// Programs in files, Python and the compiled library provide it for these. `floats` includes user-defined types.
enum class Elements : std::uint8_t { floats = 1, integers = 2, numbers = 3, bools = 4, all = 7 };

/// The operator's `elements`; floats if it does not say.
template <class Op>
inline constexpr Elements elements_of = Elements::floats;
template <class Op>
requires requires { detail::declaration_of<Op>::elements; }
inline constexpr Elements elements_of<Op> = detail::declaration_of<Op>::elements;

/// Whether the operator has kernels for elements of T.
template <class Op, class T>
inline constexpr bool takes_elements = (static_cast<unsigned>(elements_of<Op>) & (std::same_as<T, bool> ? 4U
                                                                                  : std::integral<T>    ? 2U
                                                                                                        : 1U)) != 0;

namespace detail {

/// The base of rowan's operators but gradients. The compiled library has the kernels of Self, and not of an operator of
/// the user's that derives from it.
template <class Self, class Inputs, class Outputs, class Attributes = no_attributes>
struct builtin_op : operator_of<Inputs, Outputs, Attributes> {
    using itself = Self;
};

/// Whether a type is declared in namespace rowan.
template <class T>
consteval bool is_of_rowan() {
    std::string_view const text =
        __PRETTY_FUNCTION__;  // "… [with T = rowan::v0::sgd_op]", of clang "… [T = rowan::sgd_op]"
    return text.substr(text.find("T = ") + 4).starts_with("rowan::");
}

/// Whether the operator is one of rowan's but no gradient.
template <class Op>
inline constexpr bool is_builtin = requires {
    requires std::same_as<typename declaration_of<Op>::itself, Op>;
};

/// Whether the compiled library has the operators of the families cast and full that make elements of T.
template <class T>
inline constexpr bool is_compiled_element =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int64_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, bool>;

}  // namespace detail

}  // namespace rowan::inline v0
