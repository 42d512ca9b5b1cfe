// rowan/op/registry.hpp: registry, a list of operators as a type, and what the rules of gradients are made of.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/op/slots.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

/// What an operator is: a tag type whose `name` is a value, whose slots are types, whose kernels are the overloads of its `run`.
///
///     struct clip_op {
///         static constexpr std::string_view name = "clip";
///         using inputs = slots<slot::x>;                     // in the order of run's arguments, which follow the device
///         using outputs = slots<slot::out>;                  // in the order of run's result: a value, or a tuple of them
///         struct attributes { double limit = 1; };           // run's last argument, if it is there
///         static constexpr VarSpec infer(VarSpec const& x, attributes const&);   // for one output; else an array
///         template <class T, class D> static Tensor<T, D> run(D exec, Tensor<T, D> const& x, attributes const&);
///         using grad = grad_rule<clip_grad_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;
///     };
template <class Op>
concept operation = requires {
    { Op::name } -> std::convertible_to<std::string_view>;
    typename Op::inputs;
    typename Op::outputs;
    typename Op::grad;
};

/// An operator of which row i of the result follows from row i of some inputs may say so: `static constexpr unsigned row_inputs` has a bit
/// for each of these inputs, the others being taken as a whole (weights). With `sums_rows` its results are sums over these rows instead
/// (gradients of weights). A recurrent net then runs it once for all steps.
template <class Op>
inline constexpr unsigned row_inputs_of = [] {
    if constexpr (requires { Op::row_inputs; }) {
        return Op::row_inputs;
    } else {
        return 0u;
    }
}();
/// Whether its results are sums over the rows of these inputs.
template <class Op>
inline constexpr bool sums_rows_of = [] {
    if constexpr (requires { Op::sums_rows; }) {
        return Op::sums_rows;
    } else {
        return false;
    }
}();

/// An operator that treats rows apart without that, such as one along another axis or one of whole sequences, says `row_wise`: true, or a
/// function of its attributes. A batch of a recurrent net whose step has an operator of which neither is known runs in one part.
/// errors   none
/// cost     that of the operator's own function, if it has one
template <class Op, class Attributes>
bool row_wise_of(Attributes const& attributes) {
    static_cast<void>(attributes);
    if constexpr (requires { Op::row_wise(attributes); }) {
        return Op::row_wise(attributes);
    } else if constexpr (requires { Op::row_wise; }) {
        return Op::row_wise;
    } else {
        return false;
    }
}

/// Is there a kernel of `Op` for a device and arguments of these types?
template <class Op, class... Args>
concept runnable = requires(Args... args) {
    Op::run(static_cast<Args>(args)...);
};

/// The operator has no gradient: no error reaches what it reads.
struct no_grad {};

/// What a gradient operator reads: slots of the forward operator, gradients of its outputs, and what rules before it made.
template <class... Slot>
using uses = slots<Slot...>;

/// What it makes: gradients of the forward operator's inputs, in the order of its outputs; other slots are passed to later rules.
template <class... Slot>
using makes = slots<Slot...>;

/// One operator of the backward pass; what it uses and makes are its own slots where they are not named.
template <class Op, class Uses = typename Op::inputs, class Makes = typename Op::outputs>
struct grad_rule {
    using op = Op;         ///< the operator
    using reads = Uses;    ///< the slots of what it reads
    using writes = Makes;  ///< the slots of what it makes
};

/// Several, one after the other. Those that make nothing that is wanted are left out.
template <class... Rule>
struct grad_rules {};

namespace detail {

template <class Grad>
struct as_rules {
    using type = grad_rules<Grad>;
};
template <>
struct as_rules<no_grad> {
    using type = grad_rules<>;
};
template <class... Rule>
struct as_rules<grad_rules<Rule...>> {
    using type = grad_rules<Rule...>;
};

template <std::size_t n>
constexpr bool distinct(std::array<std::string_view, n> names) {
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
}

// No constant: at compile time the error names it.
[[noreturn]] inline void there_is_no_operator_of_that_name(std::string_view name, std::size_t size) {
    throw GraphError(std::string("there is no operator \"")
                         .append(name)
                         .append("\" among the ")
                         .append(std::to_string(size))
                         .append(" of this registry"));
}

}  // namespace detail

/// The rules of an operator's backward pass, none for no_grad.
template <class Op>
using grad_rules_of = typename detail::as_rules<typename Op::grad>::type;

/// An operator that has a gradient.
template <class Op>
concept differentiable = operation<Op> && !std::same_as<typename Op::grad, no_grad>;

/// A list of operators, known by type at compile time and by name at run time. It has no state: a program carries the kernels that it
/// calls, and only `dispatch` needs them all. A user extends a list by naming more: `builtin_ops::with<my_clip>`.
template <class... Op>
struct registry {
    static constexpr std::size_t size = sizeof...(Op);
    /// Of the operators, in the order of the list.
    static constexpr std::array<std::string_view, size> names{Op::name...};
    static_assert(detail::distinct(names), "rowan::registry: two operators share a name: rename one of them");

    /// Is `O` in the list?
    template <class O>
    static constexpr bool has = (std::is_same_v<O, Op> || ...);

    /// The list with more operators at its end.
    template <class... More>
    using with = registry<Op..., More...>;

    /// Calls visit(O{}) for the operator O of that name and returns what it returns, which must be of one type for all.
    /// errors   GraphError if there is none
    /// cost     a binary search of a table made at compile time
    template <class Visit>
    static constexpr decltype(auto) dispatch(std::string_view name, Visit&& visit) {
        static_assert(size > 0, "rowan::registry: dispatch needs at least one operator");
        using first = std::tuple_element_t<0, std::tuple<Op...>>;
        using result = std::invoke_result_t<Visit&, first>;
        constexpr std::array<result (*)(Visit&), size> call{[](Visit& v) -> result { return v(Op{}); }...};
        return call[position(name)](visit);
    }

private:
    static constexpr std::array<std::size_t, size> by_name = [] {
        std::array<std::size_t, size> order{};
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [](std::size_t a, std::size_t b) { return names[a] < names[b]; });
        return order;
    }();

    static constexpr std::size_t position(std::string_view name) {
        auto const found = std::lower_bound(by_name.begin(), by_name.end(), name,
                                            [](std::size_t i, std::string_view n) { return names[i] < n; });
        if (found == by_name.end() || names[*found] != name) detail::there_is_no_operator_of_that_name(name, size);
        return *found;
    }
};

}  // namespace rowan::inline v0
