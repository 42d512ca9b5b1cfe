// rowan/train/detail/rows_variable.hpp: rows_variable, the variable whose rows weigh a part of a step.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/op/var_spec.hpp>

#include <cstddef>
#include <unordered_set>
#include <vector>

namespace rowan::inline v0::detail {

/// The first tensor whose first dim is UNK, walking back from the cost through what writes it, nearest first and inputs
/// in order; or nullptr.
/// cost     one pass over the net
inline Variable* rows_variable(Variable& cost) {
    std::vector<Variable*> found{&cost};
    std::unordered_set<Variable const*> seen{&cost};
    for (std::size_t i = 0; i < found.size(); ++i) {
        Variable& v = *found[i];
        if (v.role() == Role::parameter || v.role() == Role::state) continue;
        auto const& spec = v.spec();
        if (spec.type == VarType::LOD_TENSOR && !spec.dims.empty() && spec.dims[0] == UNK) return &v;
        for (Operator const* const op : v.writers()) {
            for (Variable* const in : op->inputs) {
                if (seen.insert(in).second) found.push_back(in);
            }
        }
    }
    return nullptr;
}

}  // namespace rowan::inline v0::detail
