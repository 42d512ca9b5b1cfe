// rowan/io/operator_maker.hpp: make_operator, which selects an operator's kernel by the element types of its inputs.
#pragma once

#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/io/op_attributes.hpp>
#include <rowan/op/builtin_ops.hpp>
#include <rowan/op/detail/input_types.hpp>
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/elementwise/full.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

template <class Op, class D, class... T>
inline constexpr bool has_kernel = level_mask<Op, D, LoDTensor<T, D>...>() != no_mask;

/// A kernel, and the element types of its slots. If it is variadic, the first holds any number of values, and the last
/// ones one each.
struct KernelChoice {
    std::span<std::int32_t const> wires;
    bool variadic;
    op_kernel const* kernel;

    /// Whether it takes inputs of these element types.
    template <class WireOf>
    bool takes(std::size_t inputs, WireOf const& wire_of) const {
        if (variadic ? inputs < wires.size() : inputs != wires.size()) return false;
        std::size_t const surplus = inputs - wires.size();
        for (std::size_t i = 0; i < inputs; ++i) {
            if (wire_of(i) != wires[i < surplus ? 0 : i - surplus]) return false;
        }
        return true;
    }
};

/// What an operator is made with. There is one function for each type of attributes, and none for each operator.
struct OperatorChoices {
    std::span<KernelChoice const> kernels;  ///< the first that fits is taken
    Attributes (*attributes)(OpDesc const& op);
};

template <class A>
ROWAN_RARE Attributes owned_attributes(OpDesc const& op) {
    return owned(read_attributes<A>(op));
}

template <class... E>
inline constexpr std::array<std::int32_t, sizeof...(E)> wires_of{dtype<E>::wire...};

/// Adds an operator to the default scope with the first kernel that fits, or returns nullptr.
/// errors   GraphError if its attributes do not fit
Operator* make_with(OperatorChoices const& choices, OpDesc const& op, std::vector<Variable*> const& inputs);

/// errors   TypeError
[[noreturn]] void no_kernel_for(OpDesc const& op, std::vector<Variable*> const& inputs);

/// The kernels of operators, with or without their rules of gradients, for the element types T... with ids of int64 or
/// int32, and for int64, int32 and bool where an operator takes integers or truth values. The operators of a program are
/// not among its template arguments, which are in the names of all that is compiled.
template <bool gradients, class Device, class... T>
class OperatorKernels {
    template <class Op, class... E>
    static constexpr op_kernel const* kernel() {
        if constexpr (!gradients && (has_rules<Op> || requires { typename Op::in_step; })) {
            return &forward_kernel<Op, Device, E...>;
        } else {
            return &kernel_of<Op, Device, E...>::value;
        }
    }

    // Kernels, in the order in which they are tried.
    struct List {
        std::array<KernelChoice, 4 * (sizeof...(T) + 4) * (sizeof...(T) + 4)> choices{};
        std::size_t size = 0;
    };

    template <class Op>
    struct TryTypes {  // costs the compiler less than a lambda for each E
        List& made;

        template <class... In>
        constexpr void operator()(type_list<In...>) const {
            try_types<Op, In...>(made);
        }
    };

    // Lists the kernels for elements of E.
    template <class Op, class E>
    static constexpr void try_element(List& made) {
        if constexpr (is_variadic<Op, Device, E>) {
            made.choices[made.size++] = {wires_of<E>, true, kernel<Op, E>()};
        } else {
            TryTypes<Op> const try_one{made};
            each_input_types<Op, E>(try_one);
            if constexpr (has_statistics<Op> && !std::is_same_v<E, kept_t<E>>)
                try_one(input_types<Op, E, E, kept_t<E>>{});
            if constexpr (level_inputs_of<Op> != 0)
                (..., (std::is_same_v<E, T> ? void() : try_one(input_types<Op, E, T>{})));
        }
    }

    template <class Op, class... E>
    static constexpr void try_types(List& made) {
        constexpr bool variadic = is_variadic<Op, Device, E...>;
        if constexpr (variadic || has_kernel<Op, Device, E...>)
            made.choices[made.size++] = {wires_of<E...>, variadic, kernel<Op, E...>()};
    }

    template <class Op>
    static constexpr List list() {
        List made;
        if constexpr (Op::inputs::size == 0) {
            made.choices[made.size++] = {{}, false, kernel<Op>()};
        } else {
            (..., try_element<Op, T>(made));
            if constexpr (takes_elements<Op, std::int64_t>) {
                try_element<Op, std::int64_t>(made);
                try_element<Op, std::int32_t>(made);
            }
            if constexpr (takes_elements<Op, bool>) try_element<Op, bool>(made);
            if constexpr (family_of<Op> == OpFamily::cast)
                try_element<Op, double>(made);  // such as accuracies and edit distances
        }
        return made;
    }

    template <class Op>
    static constexpr auto listed() {
        constexpr List made = list<Op>();
        std::array<KernelChoice, made.size> all{};
        if constexpr (made.size != 0) std::copy_n(made.choices.begin(), made.size, all.begin());
        return all;
    }
    template <class Op>
    static constexpr auto kernels = listed<Op>();

public:
    template <class Op>
    static constexpr OperatorChoices of{kernels<Op>, &owned_attributes<attributes_of<Op>>};
};

/// Makes operators of `Ops` with the kernels of OperatorKernels.
template <class Ops, class Device, class... T>
class OperatorMaker {
public:
    using Variables = std::vector<Variable*>;

    /// Adds the operator to the default scope.
    /// requires   none of `inputs` is null
    /// errors   GraphError if it is not in Ops or its attributes do not fit; TypeError if it has no kernel for these
    ///          inputs
    static Operator& make(OpDesc const& op, Variables const& inputs) {
        Operator* made = nullptr;
        bool known = false;
        for (auto const& [name, choices] : named) {
            if (made != nullptr || op.type != name) continue;
            known = true;
            made = make_with(*choices, op, inputs);
        }
        if (!known) {
            auto const found = std::ranges::find(Ops::names, op.type);
            if (found == Ops::names.end()) there_is_no_operator_of_that_name(op.type, Ops::names);
            made = make_with(*of_all(Ops{})[static_cast<std::size_t>(found - Ops::names.begin())], op, inputs);
        }
        if (made == nullptr) no_kernel_for(op, inputs);
        return *made;
    }

private:
    using Kernels = OperatorKernels<reads_gradients<Ops>, Device, T...>;

    template <class... Op>
    static auto const& of_all(registry<Op...>) {
        static constexpr std::array<OperatorChoices const*, sizeof...(Op)> all{&Kernels::template of<Op>...};
        return all;
    }

    // Operators that Ops may lack.
    struct Named {
        std::string_view name;
        OperatorChoices const* choices;
    };
    static constexpr std::array<Named, 2 * sizeof...(T) + 2> named{
        Named{cast_op<T>::name, &Kernels::template of<cast_op<T>>}...,
        Named{full_op<T>::name, &Kernels::template of<full_op<T>>}...,
        Named{cast_op<std::int64_t>::name, &Kernels::template of<cast_op<std::int64_t>>},
        Named{full_op<std::int64_t>::name, &Kernels::template of<full_op<std::int64_t>>}};
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

/// Adds an operator with the type and attributes of `op` to `scope`. The slots of `op` are ignored: `inputs` are the
/// variables that the operator reads, and its results are named when the net is.
///     Operator& op = make_operator<forward_ops, Cpu, float>(scope, {.type = "fc"}, {&x, &w, &b});
/// The kernels of all operators of `Ops` for elements of T... and for integers become part of the calling program: if it is
/// header-only, without their gradients, so that append_gradients throws, unless `Ops` is a with_gradients.
/// requires   none of `inputs` is null
/// errors   GraphError if it is not in Ops or its attributes do not fit; TypeError if it has no kernel for these
///          inputs; otherwise the errors of its infer for inputs that do not fit
/// cost     a comparison with each name of Ops; no operator runs
template <class Ops, class Device, class... T>
Operator& make_operator(Scope& scope, OpDesc const& op, std::vector<Variable*> const& inputs) {
    ScopeGuard const guard(scope);
    return detail::OperatorMaker<Ops, Device, T...>::make(op, inputs);
}

}  // namespace rowan::inline v0

#include <rowan/io/operator_maker_inl.hpp>
