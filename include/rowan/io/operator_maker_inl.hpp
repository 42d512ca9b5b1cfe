// rowan/io/operator_maker_inl.hpp: definitions of rowan/io/operator_maker.hpp.
#pragma once

#include <rowan/io/operator_maker.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>

#include <string>

namespace rowan::inline v0::detail {

// Whether it is a tensor or a SelectedRows with elements of this type. Whether the operator takes a SelectedRows in
// this slot is checked by its infer or, at the latest, when it runs.
ROWAN_FUNCTION bool holds_elements(Variable const& v, std::int32_t wire) {
    VarSpec const& spec = v.spec();
    return spec.dtype == wire && (spec.type == VarType::LOD_TENSOR || spec.type == VarType::SELECTED_ROWS);
}

ROWAN_FUNCTION bool fits(KernelChoice const& choice, std::vector<Variable*> const& inputs) {
    if (choice.variadic ? inputs.empty() : inputs.size() != choice.wires.size()) return false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!holds_elements(*inputs[i], choice.wires[choice.variadic ? 0 : i])) return false;
    }
    return true;
}

ROWAN_FUNCTION Operator* make_with(OperatorChoices const& choices, OpDesc const& op,
                                   std::vector<Variable*> const& inputs) {
    Attributes const attributes = choices.attributes(op);
    for (KernelChoice const& choice : choices.kernels) {
        if (fits(choice, inputs)) return &default_scope().new_op(*choice.kernel, inputs, attributes);
    }
    return nullptr;
}

ROWAN_FUNCTION void no_kernel_for(OpDesc const& op, std::vector<Variable*> const& inputs) {
    std::string kinds(inputs.empty() ? "missing" : "");
    for (Variable const* v : inputs) kinds.append(kinds.empty() ? "" : ", ").append(kind_text(v->spec()));
    throw TypeError(std::string("the input of operator ").append(op.type), kinds,
                    "types among the template arguments, such as dtypes<float>");
}

}  // namespace rowan::inline v0::detail

#endif
