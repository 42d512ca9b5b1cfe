// rowan/graph/detail/make_kernel.hpp: how the kernel of an operator is made from its functions, which must be known here.
#pragma once

#include <rowan/graph/detail/op_call.hpp>
#include <rowan/graph/detail/op_infer.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/registry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

template <class Op>
struct CanMakeKernels {};

/// The result types of an operator for dense inputs.
template <class Op, class D, class... T>
struct results_of {
    using type =
        typename result_types<decltype(call<Op>(std::declval<D const&>(), std::declval<attributes_of<Op> const&>(),
                                                std::declval<LoDTensor<T, D>&>()...))>::type;
};
template <class Op, class D, class T, class... More>
requires(is_variadic<Op, D, T, More...>&& Op::inputs::size ==
         1 + sizeof...(More)) struct results_of<Op, D, T, More...> {
    using type = type_list<Tensor<T, D>>;
};

template <class Op, class D, class... T>
struct first_result_of {
    using type = typename element_of<decltype(nth<0>(typename results_of<Op, D, T...>::type{}))>::type;
};

/// The members of an op_kernel that depend on what the operator defines, and not on its element types.
template <class Op, bool variadic>
struct UntypedMembers {
    static constexpr auto normal() -> decltype(op_kernel::normal) {
        if constexpr (has_normal<Op>) return &untyped_functions<Op, variadic>::normal;
        return nullptr;
    }

    // The functions of most operators depend on nothing: they share few.
    static constexpr auto row_inputs() -> decltype(op_kernel::row_inputs) {
        if constexpr (requires { static_cast<unsigned>(Op::row_inputs); }) {
            return &same_row_inputs<static_cast<unsigned>(Op::row_inputs)>;
        } else {
            return &untyped_functions<Op, variadic>::row_inputs;
        }
    }
    static constexpr auto row_output() -> decltype(op_kernel::row_output) {
        if constexpr (requires(attributes_of<Op> const& a) { Op::row_output(a); }) {
            return &untyped_functions<Op, variadic>::row_output;
        } else {
            return &same_row_output<row_output_of<Op>(no_attributes{})>;
        }
    }
    static constexpr auto row_traits() -> decltype(op_kernel::row_traits) {
        using A = attributes_of<Op>;
        if constexpr (
            requires(A const& a) { Op::sums_rows(a); } || requires(A const& a) { Op::row_wise(a); } ||
            requires(A const& a) { Op::linearity(a); } || requires(A const& a) { a.reduction; }) {
            return &untyped_functions<Op, variadic>::row_traits;
        } else {
            constexpr no_attributes none;
            return &same_row_traits<sums_rows_of<Op>(none), row_wise_of<Op>(none), linearity_of<Op>(none)>;
        }
    }

    static constexpr std::span<std::int8_t const> next() {
        if constexpr (requires { Op::next; }) return Op::next;
        return {};
    }

    static constexpr std::span<SlotLookup const> lookups() {
        if constexpr (requires { Op::lookups; }) {
            static_assert(!variadic, "rowan: an operator with lookups has one variable for each slot");
            for (SlotLookup const& of : Op::lookups)
                if (of.table >= Op::inputs::size || of.ids >= Op::inputs::size) throw "lookups names no slot";
            return Op::lookups;
        }
        return {};
    }

    static constexpr bool checks_first() {
        if constexpr (requires { Op::checks_first; }) return Op::checks_first;
        return false;
    }
};

/// The members of an op_kernel that depend on the element types, too.
template <class Op, class D, class... T>
struct KernelMaker {
    static constexpr bool variadic = is_variadic<Op, D, T...>;
    using untyped = UntypedMembers<Op, variadic>;
    static constexpr std::array<std::int32_t, sizeof...(T)> dtypes{dtype<T>::wire...};
    static constexpr bool rules_apart = std::is_same_v<D, Cpu> && has_compiled_kernel<Op, T...>;
    static_assert(!has_declaration<Op> || Op::inputs::size != 1 || takes_list<Op> == variadic,
                  "rowan: a declaration says whether the operator takes a list, by takes_list");

    static constexpr auto run() {
        if constexpr (takes_batches<Op, D, T...>) {
            return &run_batches<Op, D, T...>;
        } else if constexpr (variadic) {
            return &run_variadic<Op, D, std::tuple_element_t<0, std::tuple<T...>>>;
        } else {
            static_assert(sizeof...(T) == Op::inputs::size,
                          "rowan::kernel_of: give one element type for each input of the operator");
            if constexpr (untyped::checks_first()) return &run_or_check<Op, D, T...>;
            return &run_fixed<Op, D, T...>;
        }
    }

    static constexpr op_kernel const* in_step() {
        if constexpr (requires { typename Op::in_step; }) {
            static_assert(std::is_same_v<attributes_of<Op>, attributes_of<typename Op::in_step>>,
                          "rowan: the operator in the built step gets the attributes of this one");
            return &kernel_of<typename Op::in_step, D, T...>::value;
        } else {
            return nullptr;
        }
    }

    /// The kernel, but for what leads to other kernels: its rules, and that in steps.
    static constexpr op_kernel alone() {
        return {.name = Op::name,
                .inputs = Op::inputs::names,
                .outputs = Op::outputs::names,
                .op = &type_tag<declaration_of<Op>>,
                .dtypes = dtypes,
                .family = family_of<Op>,
                .level_inputs = level_inputs_of<Op>,
                .sparse_inputs = variadic ? 0U : sparse_inputs_of<Op, D, T...>,
                .row_inputs = untyped::row_inputs(),
                .row_output = untyped::row_output(),
                .row_traits = untyped::row_traits(),
                .infer = &untyped_functions<Op, variadic>::infer,
                .run = run(),
                .normal = untyped::normal(),
                .has_row_rules = detail::has_row_rules<Op>,
                .checks_first = untyped::checks_first(),
                .next = untyped::next(),
                .lookups = untyped::lookups()};
    }

    static constexpr op_kernel with_rules() {
        op_kernel made = alone();
        made.rules = own_rules<Op, rules_apart, D, T...>();
        made.compiled_rules = has_compiled_rules<Op, rules_apart>;
        made.in_step = in_step();
        return made;
    }

    static constexpr op_kernel only_forward();
};

/// The kernel without its rules, for nets that nobody trains: so that programs do not have the gradients of all operators
/// that a file may contain.
template <class Op, class D, class... T>
inline constexpr op_kernel forward_kernel = KernelMaker<Op, D, T...>::only_forward();

template <class Op, class D, class... T>
constexpr op_kernel KernelMaker<Op, D, T...>::only_forward() {
    op_kernel made = alone();
    made.only_forward = has_rules<Op>;
    if constexpr (requires { typename Op::in_step; }) made.in_step = &forward_kernel<typename Op::in_step, D, T...>;
    return made;
}

}  // namespace detail

template <class Op, class D, class... T>
constinit op_kernel const kernel_of<Op, D, T...>::value = detail::KernelMaker<Op, D, T...>::with_rules();

}  // namespace rowan::inline v0
