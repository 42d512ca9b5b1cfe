// rowan/io/operator_maker.hpp: make_operator, which selects an operator's kernel by the element types of its inputs.
#pragma once

#include <rowan/graph/detail/compiled_kernels.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/io/op_attributes.hpp>
#include <rowan/op/cast.hpp>
#include <rowan/op/forward_ops.hpp>
#include <rowan/op/full.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

template <class Op, class D, class... T>
inline constexpr bool has_kernel = level_mask<Op, D, LoDTensor<T, D>...>() != no_mask;

/// An operator of a file of an earlier version, as this version writes it: sum_rows is reduce_sum along axis 0.
inline OpDesc renamed(OpDesc op) {
    op.type = "reduce_sum";
    op.attrs.insert(op.attrs.end(), {{"axes", std::vector<std::int64_t>{0}}, {"keep_dims", false}});
    return op;
}

/// Makes operators of `Ops` for the element types T... with ids of int64 or int32, and for int64, int32 and bool where
/// an operator takes integers or truth values.
template <class Ops, class Device, class... T>
class OperatorMaker {
public:
    using Variables = std::vector<Variable*>;

    /// Adds the operator to the default scope.
    /// requires   none of `inputs` is null
    /// errors   GraphError if it is not in Ops or its attributes do not fit; TypeError if it has no kernel for these
    ///          inputs
    static Operator& make(OpDesc const& op, Variables const& inputs) {
        if (op.type == "sum_rows" && std::ranges::find(Ops::names, op.type) == Ops::names.end())
            return make(renamed(op), inputs);
        Operator* made = nullptr;
        (..., make_of<cast_op<T>, true>(op, inputs, made));
        (..., make_of<full_op<T>, true>(op, inputs, made));
        make_of<cast_op<std::int64_t>, true>(op, inputs, made);
        make_of<full_op<std::int64_t>, true>(op, inputs, made);
        if (made == nullptr) Ops::dispatch(op.type, [&](auto tag) { make_of<decltype(tag), false>(op, inputs, made); });
        if (made == nullptr) {
            std::string kinds(inputs.empty() ? "missing" : "");
            for (Variable const* v : inputs) kinds.append(kinds.empty() ? "" : ", ").append(kind_text(v->spec()));
            throw TypeError(std::string("the input of operator ").append(op.type), kinds,
                            "types among the template arguments, such as dtypes<float>");
        }
        return *made;
    }

private:
    template <class Op, bool named>
    static void make_of(OpDesc const& op, Variables const& inputs, Operator*& made) {
        if (made != nullptr || (named && op.type != Op::name)) return;
        auto const attributes = std::make_shared<attributes_of<Op> const>(read_attributes<attributes_of<Op>>(op));
        op_kernel const* kernel = nullptr;
        if constexpr (Op::inputs::size == 0) {
            if (inputs.empty()) kernel = &kernel_of<Op, Device>::value;
        } else {
            (..., try_element<Op, T>(inputs, kernel));
            if constexpr (takes_integers<Op> || named) {
                try_element<Op, std::int64_t>(inputs, kernel);
                try_element<Op, std::int32_t>(inputs, kernel);
            }
            if constexpr (takes_truth_values<Op> || named) try_element<Op, bool>(inputs, kernel);
        }
        if (kernel != nullptr) made = &default_scope().new_op(*kernel, inputs, attributes);
    }

    // Selects the kernel whose inputs have elements of E, except that index slots have elements of E, int64 or int32.
    template <class Op, class E>
    static void try_element(Variables const& inputs, op_kernel const*& kernel) {
        if constexpr (is_variadic<Op, Device, E>) {
            if (!inputs.empty() && all_of<E>(inputs)) kernel = &kernel_of<Op, Device, E>::value;
        } else {
            try_index<Op, E, E>(inputs, kernel);
            try_index<Op, E, std::int64_t>(inputs, kernel);
            try_index<Op, E, std::int32_t>(inputs, kernel);
            if constexpr (takes_levels_of_y<Op>) (..., try_index<Op, E, T>(inputs, kernel));
        }
    }

    template <class Op, class E, class I>
    static void try_index(Variables const& inputs, op_kernel const*& kernel) {
        [&]<class... Slot>(std::type_identity<slots<Slot...>>) {
            constexpr bool any_index = (is_index_slot<Slot> || ...);
            constexpr bool kept = (is_in<Slot, type_list<slot::mean, slot::variance>> || ...);
            if constexpr (std::is_same_v<E, I> ? has_one_type<Op> || takes_integers<Op>
                                               : any_index || takes_levels_of_y<Op>) {
                try_types<Op, element_in<Op, Slot, E, E, I>...>(inputs, kernel);
                if constexpr (kept && !std::is_same_v<E, kept_t<E>>)
                    try_types<Op, element_in<Op, Slot, E, kept_t<E>, I>...>(inputs, kernel);
            }
        }(std::type_identity<typename Op::inputs>{});
    }

    // The elements in a slot: bool for conditions, I for indices, Kept for statistics kept between steps, else E.
    template <class Op, class Slot, class E, class Kept, class I>
    using element_in = std::conditional_t<
        std::is_same_v<Slot, slot::index>, std::int64_t,
        std::conditional_t<
            std::is_same_v<Slot, slot::condition>, bool,
            std::conditional_t<is_index_slot<Slot> || (takes_levels_of_y<Op> && std::is_same_v<Slot, slot::y>), I,
                               std::conditional_t<is_in<Slot, type_list<slot::mean, slot::variance>>, Kept, E>>>>;

    template <class Op, class... E>
    static void try_types(Variables const& inputs, op_kernel const*& kernel) {
        if constexpr (has_kernel<Op, Device, E...>) {
            constexpr std::array<std::int32_t, sizeof...(E)> wires{dtype<E>::wire...};
            if (kernel != nullptr || inputs.size() != wires.size()) return;
            for (std::size_t i = 0; i < wires.size(); ++i) {
                if (!holds(*inputs[i], wires[i])) return;
            }
            kernel = &kernel_of<Op, Device, E...>::value;
        }
    }

    // Whether it is a tensor or a SelectedRows with elements of this type. Whether the operator takes a SelectedRows in
    // this slot is checked by its infer or, at the latest, when it runs.
    static bool holds(Variable const& v, std::int32_t wire) {
        VarSpec const& spec = v.spec();
        return spec.dtype == wire && (spec.type == VarType::LOD_TENSOR || spec.type == VarType::SELECTED_ROWS);
    }

    template <class E>
    static bool all_of(Variables const& inputs) {
        return std::ranges::all_of(inputs, [](Variable const* v) { return holds(*v, dtype<E>::wire); });
    }
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

/// Adds an operator with the type and attributes of `op` to `scope`. The slots of `op` are ignored: `inputs` are the
/// variables that the operator reads, and its results are named when the net is.
///     Operator& op = make_operator<forward_ops, Cpu, float>(scope, {.type = "fc"}, {&x, &w, &b});
/// The kernels of all operators of `Ops` for elements of T... and for integers become part of the calling program.
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
