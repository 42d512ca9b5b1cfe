// rowan/io/operator_maker_inl.hpp: definitions of rowan/io/operator_maker.hpp.
#pragma once

#include <rowan/io/operator_maker.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/kind_text.hpp>

#include <algorithm>
#include <string>

namespace rowan::inline v0::detail {

// Whether all are tensors or SelectedRows with elements of these types. Whether the operator takes a SelectedRows in
// a slot is checked by its infer or, at the latest, when it runs.
ROWAN_FUNCTION ROWAN_RARE bool fits(KernelChoice const& choice, std::vector<Variable*> const& inputs) {
    return std::ranges::all_of(inputs,
                               [](Variable const* v) {
                                   VarType const type = v->spec().type;
                                   return type == VarType::LOD_TENSOR || type == VarType::SELECTED_ROWS;
                               }) &&
           choice.takes(inputs.size(), [&](std::size_t i) { return inputs[i]->spec().dtype; });
}

ROWAN_FUNCTION ROWAN_RARE Operator* make_with(OperatorChoices const& choices, OpDesc const& op,
                                              std::vector<Variable*> const& inputs) {
    Attributes const attributes = choices.attributes(op);
    for (KernelChoice const& choice : choices.kernels) {
        if (fits(choice, inputs)) return &default_scope().new_op(*choice.kernel, inputs, attributes);
    }
    return nullptr;
}

ROWAN_FUNCTION ROWAN_RARE void no_kernel_for(OpDesc const& op, std::vector<Variable*> const& inputs) {
    std::string kinds(inputs.empty() ? "missing" : "");
    for (Variable const* v : inputs) kinds.append(kinds.empty() ? "" : ", ").append(kind_text(v->spec()));
    throw TypeError({"the input of operator ", op.type}, kinds,
                    "types among the template arguments, such as dtypes<float>");
}

}  // namespace rowan::inline v0::detail

#endif
