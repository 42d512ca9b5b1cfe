// rowan/layer/cond_inl.hpp: definitions of rowan/layer/cond.hpp.
#pragma once

#include <rowan/layer/cond.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/cond.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/op/infer.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE OpenCond open_cond(Scope& outside, Variable& condition) {
    if (condition.spec().type != VarType::LOD_TENSOR || condition.spec().dtype != dtype<bool>::wire)
        throw TypeError("layer::cond: the condition", kind_text(condition.spec()), "LoDTensor<bool>");
    auto block = std::make_shared<CondBlock>();
    std::array<Scope*, 2> scopes{};
    for (std::size_t b = 0; b < 2; ++b) {
        auto& branch = block->branches[b];
        branch.scope = std::make_unique<Scope>(outside);
        branch.net.scope = scopes[b] = branch.scope.get();
    }
    return {outside, std::move(block), scopes};
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void end_branch(OpenCond& open, std::size_t b, std::span<Variable* const> results) {
    auto& branch = open.block->branches[b];
    for (Variable* const v : results) branch.net.states.push_back({&branch.scope->new_var("", v->spec()), v});
}

/// The names that the outer variables have in the branches: "then.fc_0.w_0".
ROWAN_IF_CALLED std::vector<std::string> names_in(CondBlock const& block);
ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<std::string> names_in(CondBlock const& block) {
    std::vector<std::string> names;
    for (std::size_t b = 0; b < block.branches.size(); ++b) {
        for (std::string const& name : block.branches[b].net.outer_names)
            names.push_back(name.empty() ? name : (b == 0 ? "then." : "otherwise.") + name);
    }
    return names;
}

/// Throws unless both branches have results of the same kinds; finds what they read. Returns the operator's inputs.
ROWAN_IF_CALLED std::vector<Variable*> finish_branches(CondBlock& block, Variable& condition);
ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<Variable*> finish_branches(CondBlock& block, Variable& condition) {
    auto const &states = block.branches[0].net.states, &others = block.branches[1].net.states;
    if (others.size() != states.size())
        throw ShapeError("layer::cond: the number of results if false", others.size(), states.size());
    for (std::size_t k = 0; k < states.size(); ++k) {
        std::string const field =
            std::string("layer::cond: if the condition is false, result ").append(std::to_string(k));
        VarSpec const &a = states[k].after->spec(), &b = others[k].after->spec();
        if (b.type != a.type) throw TypeError(field, kind_text(b), kind_text(a));
        spec::same_dtype(field.c_str(), b, a);
        if (b.dims.size() != a.dims.size()) throw ShapeError({field, " rank"}, b.dims.size(), a.dims.size());
        if (b.lod_level != a.lod_level) throw ShapeError({field, ".lod().levels()"}, b.lod_level, a.lod_level);
    }
    std::vector<Variable*> inputs{&condition};
    for (auto& branch : block.branches) {
        branch.net.condition = &condition;
        branch.net.build();
        inputs.insert(inputs.end(), branch.net.outer.begin(), branch.net.outer.end());
    }
    return inputs;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Operator& close_cond(OpenCond& open, Variable& condition, LoopType const& type,
                                                      bool (*holds)(AnyExec, Value const&)) {
    auto& block = *open.block;
    auto inputs = finish_branches(block, condition);
    block.gradient_dtype = type.gradients().dtype;
    block.kernels = type.kernels;
    block.holds = holds;
    Operator& op = open.outside.new_op(cond_kernel, std::move(inputs), open.block);
    op.inner_names = names_in(block);
    op.build_backward = [&block, gradients = type.gradients] {
        for (auto& branch : block.branches) branch.net.build_backward(gradients());
    };
    return op;
}

}  // namespace rowan::inline v0::detail

#endif
