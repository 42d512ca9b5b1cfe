// rowan/graph/cond_inl.hpp: definitions of rowan/graph/cond.hpp.
#pragma once

#include <rowan/graph/cond.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/graph/net.hpp>

namespace rowan::inline v0 {

struct CondScopes {
    detail::Buffer<Value> values;  // of the variables of the branch
    std::size_t taken = 0;         // 0 if the condition was true, else 1
};

}  // namespace rowan::inline v0

namespace rowan::inline v0::detail {

template <class = void>
class CondRun {
public:
    CondRun(AnyExec exec, CondBlock const& block, std::span<Value* const> in, CondScopes& scopes)
        : exec_(exec), block_(block), in_(in), s_(scopes) {}

    void forward(std::span<Value* const> out) {
        s_.taken = block_.holds(exec_, *in_[0]) ? 0 : 1;
        s_.values.clear();
        s_.values.resize(net().forward_places());
        for (LoopNet::Op const& op : net().body) run(op, {});
        for (std::size_t k = 0; k < net().states.size(); ++k)
            *out[k] = at(net().place(*net().states[k].after), {}).share();
    }

    /// `grads` receives the gradients of the condition and of each outer variable, zeros for the branch not taken.
    void backward(std::span<Value* const> out_grads, std::span<Value* const> grads) {
        Buffer<Value> values(net().backward_places());
        for (std::size_t k = 0; k < out_grads.size(); ++k) {
            Variable const* const grad = net().states[k].after_grad;
            if (grad != nullptr) values[net().place(*grad).number] = out_grads[k]->share();
        }
        for (LoopNet::Op const& op : net().back) run(op, values);
        grads[0]->clear();
        std::size_t i = 1;
        for (std::size_t b = 0; b < block_.branches.size(); ++b) {
            LoopNet const& of = block_.branches[b].net;
            for (std::size_t k = 0; k < of.outer.size(); ++k, ++i) {
                Buffer<Value> parts;
                for (Variable const* v : of.outer_grads[k]) {
                    if (b == s_.taken && !at(of.place(*v), values).empty())
                        parts.push_back(at(of.place(*v), values).share());
                }
                if (parts.empty()) {
                    zeros(*of.outer[k], of.is_sparse(k), *in_[i], *grads[i]);
                } else if (of.outer[k]->spec().type == VarType::TENSOR_ARRAY) {
                    for (std::size_t p = 1; p < parts.size(); ++p) parts[0] = parts[0].add_slots(parts[p]);
                    *grads[i] = std::move(parts[0]);
                } else {
                    Buffer<Value*> all;
                    for (Value& part : parts) all.push_back(&part);
                    *grads[i] = block_.kernels.total(exec_, all);
                }
            }
        }
    }

private:
    LoopNet const& net() const { return block_.branches[s_.taken].net; }

    Value& at(LoopNet::Place const& p, std::span<Value> backward) const {
        if (p.kind == LoopNet::Place::backward) return backward[p.number];
        if (p.kind == LoopNet::Place::forward) return s_.values[p.number];
        return *in_[1 + p.number + (s_.taken == 0 ? 0 : block_.branches[0].net.outer.size())];
    }

    void run(LoopNet::Op const& op, std::span<Value> backward) {
        Buffer<Value*> inputs, outputs;
        for (LoopNet::Place const& p : op.in) inputs.push_back(&at(p, backward));
        for (LoopNet::Place const& p : op.out) outputs.push_back(&at(p, backward));
        if (op.in_place) {
            *outputs[0] = std::move(*inputs[0]);
            inputs[0] = outputs[0];
        }
        run_named(*op.op, [&] { run_on(exec_, *op.op, inputs, outputs); });
        for (std::size_t const dead : op.dies) s_.values[dead].clear();
    }

    // An empty value stands for zeros of what is not a tensor of the type of the gradients.
    void zeros(Variable const& v, bool sparse, Value& value, Value& grad) const {
        if (sparse) {
            grad = block_.kernels.no_rows(exec_, value);
        } else if (v.spec().type == VarType::LOD_TENSOR && v.spec().dtype == block_.gradient_dtype) {
            grad = block_.kernels.zero_like(exec_, value);
        } else {
            grad.clear();
        }
    }

    AnyExec exec_;
    CondBlock const& block_;
    std::span<Value* const> in_;
    CondScopes& s_;
};

ROWAN_CALLED_FUNCTION void cond_op::run(KernelCall const& c) {
    Value& scopes = *c.out.back();
    if (!scopes.is<CondScopes>()) scopes.set(CondScopes());
    CondRun<>(c.exec, c.attributes.get<CondBlock>(), c.in, scopes.get<CondScopes>()).forward(c.out);
}

ROWAN_CALLED_FUNCTION bool cond_op::row_output(AttributesRef a, std::size_t i) {
    return i < a.get<CondBlock>().branches[0].net.states.size();
}

ROWAN_CALLED_FUNCTION void cond_grad_op::run(KernelCall const& c) {
    std::size_t const n = c.out.size();
    CondRun<>(c.exec, c.attributes.get<CondBlock>(), c.in.first(n), c.in[n]->get<CondScopes>())
        .backward(c.in.subspan(n + 1), c.out);
}

// In the step of a recurrent layer, a gradient has rows if the variable may have them: if it belongs to the step.
ROWAN_CALLED_FUNCTION bool cond_grad_op::row_output(AttributesRef a, std::size_t i) {
    auto const& block = a.get<CondBlock>();
    if (i-- == 0) return false;
    std::size_t const first = block.branches[0].net.outer.size();
    Variable const& v = i < first ? *block.branches[0].net.outer[i] : *block.branches[1].net.outer[i - first];
    return &v.scope() == block.branches[0].scope->parent();
}

ROWAN_CALLED_FUNCTION std::vector<VarSpec> cond_op::infer(Specs, AttributesRef attributes) {
    auto const& block = attributes.get<CondBlock>();
    std::vector<VarSpec> results;
    auto const &states = block.branches[0].net.states, &others = block.branches[1].net.states;
    for (std::size_t k = 0; k < states.size(); ++k) {
        VarSpec out = states[k].after->spec();
        for (std::size_t i = 0; i < out.dims.size(); ++i) {
            if (others[k].after->spec().dims[i] != out.dims[i]) out.dims[i] = UNK;
        }
        results.push_back(out);
    }
    results.push_back({.type = VarType::STEP_SCOPES, .dtype = block.gradient_dtype, .dims = {}});
    return results;
}

ROWAN_CALLED_FUNCTION std::vector<VarSpec> cond_grad_op::infer(Specs in, AttributesRef attributes) {
    auto const& block = attributes.get<CondBlock>();
    std::vector<VarSpec> grads{in[0]};
    for (auto const& branch : block.branches) {
        for (std::size_t k = 0; k < branch.net.outer.size(); ++k) {
            grads.push_back(in[grads.size()]);
            if (branch.net.is_sparse(k)) grads.back().type = VarType::SELECTED_ROWS;
        }
    }
    return grads;
}

}  // namespace rowan::inline v0::detail

#endif
