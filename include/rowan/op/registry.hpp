// rowan/op/registry.hpp: registry, a compile-time list of operators, and the types of gradient rules.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/near_name.hpp>
#include <rowan/op/declared.hpp>
#include <rowan/op/slots.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

/// An operator is a tag type: its `name` is a value, its slots are types, and its kernels are the overloads of `run`.
///
///     struct clip_op {
///         static constexpr std::string_view name = "clip";
///         using inputs = slots<slot::x>;                     // in the order of run's arguments after the device
///         using outputs = slots<slot::out>;                  // in the order of run's result, a value or a tuple
///         struct attributes { double limit = 1; };           // optional: the last argument of run
///         static constexpr VarSpec infer(VarSpec const& x, attributes const&);   // an array for several outputs
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

/// The bit mask of the inputs whose row i determines row i of the result: the operator's `row_inputs`, a constant or a
/// function of the specs of its inputs and its attributes, or 0 if it has none. Other inputs are used as a whole
/// (weights). If the operator also has `sums_rows`, its results are sums over these rows instead (gradients of weights).
/// A recurrent net runs such an operator once for all steps.
/// errors   none
/// cost     that of the operator's function, if it has one
template <class Op, class Attributes, class... Spec>
constexpr unsigned row_inputs_of([[maybe_unused]] Attributes const& attributes, Spec const&... in) {
    // with parameters of its own: for nvcc, `in` is no constant where this is evaluated at compile time
    if constexpr (requires(Attributes const& a, Spec const&... spec) { Op::row_inputs(spec..., a); }) {
        return Op::row_inputs(in..., attributes);
    } else if constexpr (requires { Op::row_inputs; }) {
        return Op::row_inputs;
    } else {
        return 0u;
    }
}
/// Whether the results are sums over the rows of the inputs in row_inputs, if there are any: the operator's
/// `sums_rows`, a bool or a function of its attributes, or false if it has none.
/// errors   none
/// cost     that of the operator's function, if it has one
template <class Op, class Attributes>
constexpr bool sums_rows_of([[maybe_unused]] Attributes const& attributes) {
    if constexpr (requires { Op::sums_rows(attributes); }) {
        return Op::sums_rows(attributes);
    } else if constexpr (requires { Op::sums_rows; }) {
        return Op::sums_rows;
    } else {
        return false;
    }
}

/// Says of an operator that it reads rows of the input in slot `table` that the input in slot `ids` names: an element of
/// its `static constexpr std::array<SlotLookup, n> lookups`. All elements with one table together name every row that it
/// reads of it, so that a deferred optimizer brings only these up to date.
struct SlotLookup {
    std::uint8_t table;  ///< the slot of the table
    std::uint8_t ids;    ///< the slot of the row numbers
};

/// The bit mask of the inputs whose levels alone are used: the operator's `static constexpr unsigned level_inputs`, or
/// 0 if it has none. No gradient flows to their elements.
template <class Op>
inline constexpr unsigned level_inputs_of = 0;
template <class Op>
requires requires { detail::declaration_of<Op>::level_inputs; }
inline constexpr unsigned level_inputs_of<Op> = detail::declaration_of<Op>::level_inputs;

/// Whether an operator without `row_inputs` still treats rows independently, as for another axis or whole sequences:
/// its `row_wise`, a bool or a function of its attributes, or false if it has none. If the step of a recurrent net has
/// an operator with neither `row_inputs` nor `row_wise`, the net does not split its batches into parts.
/// errors   none
/// cost     that of the operator's function, if it has one
template <class Op, class Attributes>
constexpr bool row_wise_of([[maybe_unused]] Attributes const& attributes) {
    if constexpr (requires { Op::row_wise(attributes); }) {
        return Op::row_wise(attributes);
    } else if constexpr (requires { Op::row_wise; }) {
        return Op::row_wise;
    } else {
        return false;
    }
}

/// How the results follow from the inputs: what tells training in parts how the costs of parts make that of a batch.
enum class Linearity : std::uint8_t {
    none,          ///< in no way that is known
    constant,      ///< they do not depend on their elements
    scaled,        ///< in proportion to the first input; others are shapes or levels
    shifted,       ///< the same, and a constant is added
    sum,           ///< a sum of the inputs
    product,       ///< a product of the inputs
    quotient,      ///< the first input divided by the second one
    sum_of_rows,   ///< a sum over rows, or elements
    mean_of_rows,  ///< a mean over them
    weighed_sum,   ///< a sum over rows of the first two inputs, which the third input has weights of
    weighed_mean,  ///< the mean that divides by the sum of these weights
    of_all_rows,   ///< another function of all rows, as a maximum
    inside         ///< through operators of its own, as a loop
};

/// The operator's `linearity`, a Linearity or a function of its attributes. Without one, that of the attributes'
/// `reduction`, if they have one, as those of losses; else none.
/// errors   none
/// cost     that of the operator's function, if it has one
template <class Op, class Attributes>
constexpr Linearity linearity_of([[maybe_unused]] Attributes const& attributes) {
    if constexpr (requires { Op::linearity(attributes); }) {
        return Op::linearity(attributes);
    } else if constexpr (requires { Op::linearity; }) {
        return Op::linearity;
    } else if constexpr (requires { decltype(attributes.reduction)::mean, decltype(attributes.reduction)::sum; }) {
        using Reduction = decltype(attributes.reduction);
        if (attributes.reduction == Reduction::mean) return Linearity::mean_of_rows;
        if (attributes.reduction == Reduction::sum) return Linearity::sum_of_rows;
    }
    return Linearity::none;
}

/// All three of an operator with these attributes.
struct RowTraits {
    bool sums_rows;       ///< as sums_rows_of
    bool row_wise;        ///< as row_wise_of
    Linearity linearity;  ///< as linearity_of
};

/// Operators of rowan that a registry need not list: those instantiated for an element type, which is part of their
/// name in files, and those on arrays.
enum class OpFamily : std::uint8_t { none, array, cast, full };

/// The operator's `family`; none if it does not define one.
template <class Op>
inline constexpr OpFamily family_of = OpFamily::none;
template <class Op>
requires requires { requires std::convertible_to<decltype(detail::declaration_of<Op>::family), OpFamily>; }
inline constexpr OpFamily family_of<Op> = detail::declaration_of<Op>::family;

/// Whether the results, if they are no sums over rows, have a row for each row of the inputs: the operator's
/// `row_output`, a bool or a function of its attributes, or true if it has none.
/// errors   none
/// cost     that of the operator's function, if it has one
template <class Op, class Attributes>
constexpr bool row_output_of([[maybe_unused]] Attributes const& attributes) {
    if constexpr (requires { Op::row_output(attributes); }) {
        return Op::row_output(attributes);
    } else if constexpr (requires { Op::row_output; }) {
        return Op::row_output;
    } else {
        return true;
    }
}

/// Whether `Op` has a kernel for a device and arguments of these types.
template <class Op, class... Args>
concept runnable = requires(Args... args) {
    Op::run(static_cast<Args>(args)...);
};

/// The `grad` of an operator without a gradient: its inputs get no gradient.
struct no_grad {};

/// The slots that a gradient operator reads: slots of the forward operator, gradients of its outputs, and results of
/// earlier rules.
template <class... Slot>
using uses = slots<Slot...>;

/// The slots that a gradient operator writes, in the order of its outputs: gradients of the forward operator's inputs,
/// and other slots for later rules to read.
template <class... Slot>
using makes = slots<Slot...>;

/// One operator of the backward pass. Uses and Makes default to the operator's own slots.
template <class Op, class Uses = typename Op::inputs, class Makes = typename Op::outputs>
struct grad_rule {
    using op = Op;         ///< the operator
    using reads = Uses;    ///< the slots that it reads
    using writes = Makes;  ///< the slots that it writes
};

/// Several rules, run in order. A net leaves out the rules whose results it does not need.
template <class... Rule>
struct grad_rules {};

namespace detail {

template <class Rule>
struct as_rule {
    using type = Rule;
};
template <class Grad>
struct as_rules {
    using type = grad_rules<typename as_rule<Grad>::type>;
};
template <>
struct as_rules<no_grad> {
    using type = grad_rules<>;
};
template <class... Rule>
struct as_rules<grad_rules<Rule...>> {
    using type = grad_rules<typename as_rule<Rule>::type...>;
};

template <std::size_t n>
constexpr bool distinct(std::array<std::string_view, n> names) {
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
}

// Its bases are the list: a fold over as many operators as rowan has exceeds a limit of clang.
template <class... Op>
struct operator_list : std::type_identity<Op>... {};

// Not constexpr, so a compile error names it.
[[noreturn]] inline void there_is_no_operator_of_that_name(std::string_view name,
                                                           std::span<std::string_view const> names) {
    throw GraphError({"there is no operator \"", name, "\"", near_text(name, names), " among the ", names.size(),
                      " of this registry"});
}

}  // namespace detail

/// The gradient rules of an operator; none for no_grad.
template <class Op>
using grad_rules_of = typename detail::as_rules<typename Op::grad>::type;

namespace detail {

template <class Op>
struct row_rules {
    using type = grad_rules<>;
};
template <class Op>
requires requires { typename Op::row_grad; }
struct row_rules<Op> {
    using type = typename as_rules<typename Op::row_grad>::type;
};

}  // namespace detail

/// The rules that take the place of grad_rules_of where the operator's `row_inputs` of the specs of its inputs is not 0:
/// its `row_grad`. None if it has no such rules.
template <class Op>
using row_rules_of = typename detail::row_rules<Op>::type;

/// An operator that has a gradient.
template <class Op>
concept differentiable = operation<Op> && !std::same_as<typename Op::grad, no_grad>;

/// A list of operators, accessed by type at compile time and by name at run time. It has no state: a program contains
/// only the kernels that it calls; `dispatch` instantiates all of them. `with` extends a list:
/// `builtin_ops::with<my_clip>`.
template <class... Op>
struct registry {
    static constexpr std::size_t size = sizeof...(Op);
    /// The names of the operators, in the order of the list.
    static constexpr std::array<std::string_view, size> names{detail::declaration_of<Op>::name...};
    static_assert(detail::distinct(names), "rowan::registry: two operators share a name: rename one of them");

    /// Whether `O` is in the list.
    template <class O>
    static constexpr bool has = std::is_base_of_v<std::type_identity<O>, detail::operator_list<Op...>>;

    /// The list with operators appended.
    template <class... More>
    using with = registry<Op..., More...>;

    /// Calls visit(O{}) for the operator O with that name and returns its result, whose type must be the same for all
    /// operators.
    /// errors   GraphError if no operator has that name
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
        if (found == by_name.end() || names[*found] != name) detail::there_is_no_operator_of_that_name(name, names);
        return *found;
    }
};

}  // namespace rowan::inline v0
