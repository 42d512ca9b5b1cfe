// rowan/layer/cond_inl.hpp: definitions of rowan/layer/cond.hpp.
#pragma once

#include <rowan/layer/cond.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::shared_ptr<CondBlock> begin_cond(Scope& outside, Variable& condition) {
    if (condition.spec().type != VarType::LOD_TENSOR || condition.spec().dtype != dtype<bool>::wire)
        throw TypeError("layer::cond: the condition", kind_text(condition.spec()), "LoDTensor<bool>");
    auto block = std::make_shared<CondBlock>();
    for (auto& branch : block->branches) {
        branch.scope = std::make_unique<Scope>(outside);
        branch.net.scope = branch.scope.get();
    }
    return block;
}

ROWAN_FUNCTION void end_branch(CondBlock::Branch& branch, std::span<Variable* const> results) {
    for (Variable* const v : results) branch.net.states.push_back({&branch.scope->new_var("", v->spec()), v});
}

ROWAN_FUNCTION std::vector<std::string> names_in(CondBlock const& block) {
    std::vector<std::string> names;
    for (std::size_t b = 0; b < block.branches.size(); ++b) {
        for (std::string const& name : block.branches[b].net.outer_names)
            names.push_back(name.empty() ? name : (b == 0 ? "then." : "otherwise.") + name);
    }
    return names;
}

ROWAN_FUNCTION std::vector<Variable*> finish_branches(CondBlock& block, Variable& condition) {
    auto const &states = block.branches[0].net.states, &others = block.branches[1].net.states;
    if (others.size() != states.size())
        throw ShapeError("layer::cond: the number of results if false", std::to_string(others.size()),
                         std::to_string(states.size()));
    for (std::size_t k = 0; k < states.size(); ++k) {
        std::string const field =
            std::string("layer::cond: if the condition is false, result ").append(std::to_string(k));
        VarSpec const &a = states[k].after->spec(), &b = others[k].after->spec();
        if (b.type != a.type) throw TypeError(field, kind_text(b), kind_text(a));
        spec::same_dtype(field.c_str(), b, a);
        if (b.dims.size() != a.dims.size())
            throw ShapeError(field + " rank", std::to_string(b.dims.size()), std::to_string(a.dims.size()));
        if (b.lod_level != a.lod_level)
            throw ShapeError(field + ".lod().levels()", std::to_string(b.lod_level), std::to_string(a.lod_level));
    }
    std::vector<Variable*> inputs{&condition};
    for (auto& branch : block.branches) {
        branch.net.condition = &condition;
        branch.net.build();
        inputs.insert(inputs.end(), branch.net.outer.begin(), branch.net.outer.end());
    }
    return inputs;
}

}  // namespace rowan::inline v0::detail

#endif
