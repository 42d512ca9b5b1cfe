// rowan/graph/while_loop_inl.hpp: definitions of rowan/graph/while_loop.hpp.
#pragma once

#include <rowan/graph/while_loop.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/run_meter.hpp>
#include <rowan/core/error.hpp>
#include <rowan/detail/rethrow_in.hpp>
#include <rowan/graph/net.hpp>

#include <string>

namespace rowan::inline v0 {

struct LoopScopes {
    detail::Buffer<detail::Buffer<Value>> iterations;  // the values of each iteration
    std::size_t count = 0;                             // the number of iterations that ran
};

}  // namespace rowan::inline v0

namespace rowan::inline v0::detail {

template <class = void>
class LoopRun {
public:
    LoopRun(AnyExec exec, WhileBlock const& block, std::span<Value* const> in, LoopScopes& scopes)
        : exec_(exec), block_(block), net_(block.net), in_(in), s_(scopes) {}

    void forward(std::span<Value* const> out) {
        Buffer<Value> states;
        for (std::size_t k = 0; k < net_.states.size(); ++k) states.push_back(in_[k]->share());
        for (s_.count = 0;; ++s_.count) {
            Buffer<Value>& values = iteration(s_.count);
            for (std::size_t k = 0; k < states.size(); ++k)
                values[number(*net_.states[k].before)] = std::move(states[k]);
            for (LoopNet::Op const& op : net_.conditions) run(op, s_.count, values);
            if (!block_.holds(exec_, at(net_.place(*net_.condition), values))) {
                for (std::size_t k = 0; k < states.size(); ++k)
                    *out[k] = std::move(values[number(*net_.states[k].before)]);
                break;
            }
            if (block_.max_iterations != 0 && static_cast<std::int64_t>(s_.count) == block_.max_iterations)
                throw ValueError("the number of iterations", s_.count + 1, {"at most ", block_.max_iterations});
            count_iterations(1);
            for (LoopNet::Op const& op : net_.body) run(op, s_.count, values);
            for (std::size_t k = 0; k < states.size(); ++k) {
                LoopNet::State const& s = net_.states[k];
                Value& after = at(net_.place(*s.after), values);
                states[k] =
                    s.moves ? std::move(after) : after.share();  // moved, it belongs to the next iteration alone
            }
        }
        s_.iterations.resize(net_.has_backward ? s_.count : 0);
    }

    /// `last_grads`: the gradients of the final states. `grads` receives those of the initial states and of each outer
    /// variable. An empty value stands for zeros.
    void backward(std::span<Value* const> last_grads, std::span<Value* const> grads) {
        std::size_t const n = net_.states.size();
        Buffer<Value> carried;
        for (std::size_t k = 0; k < n; ++k) carried.push_back(last_grads[k]->share());
        Buffer<Value> values(net_.backward_places());
        Buffer<Reached> reached(net_.outer.size());
        for (std::size_t t = s_.count; t-- > 0;) {
            Buffer<Value>& saved = s_.iterations[t];
            for (Value& v : values) v.clear();
            for (std::size_t k = 0; k < n; ++k) {
                if (net_.states[k].after_grad != nullptr)
                    values[net_.place(*net_.states[k].after_grad).number] = std::move(carried[k]);
            }
            for (LoopNet::Op const& op : net_.back) run(op, t, saved, values);
            for (std::size_t k = 0; k < n; ++k) {
                LoopNet::State const& s = net_.states[k];
                if (s.before_grad != nullptr) {
                    carried[k] = at(net_.place(*s.before_grad), saved, values).share();
                } else if (s.after_grad != nullptr && s.is_dense()) {
                    carried[k] = block_.kernels.zero_like(exec_, saved[number(*s.before)]);
                } else {
                    carried[k].clear();
                }
            }
            for (std::size_t k = 0; k < reached.size(); ++k) collect(k, reached[k], saved, values);
        }
        for (std::size_t k = 0; k < n; ++k) {
            LoopNet::State const& s = net_.states[k];
            if (carried[k].empty() && s.is_dense() && has_gradient(*s.before))
                carried[k] = block_.kernels.zero_like(exec_, *in_[k]);
            *grads[k] = std::move(carried[k]);
        }
        for (std::size_t k = 0; k < reached.size(); ++k) outer_grad(k, reached[k], *grads[n + k]);
    }

private:
    Buffer<Value>& iteration(std::size_t t) {
        std::size_t const i = net_.has_backward ? t : 0;  // without a backward pass all iterations share one
        if (i >= s_.iterations.size()) s_.iterations.resize(i + 1);
        Buffer<Value>& values = s_.iterations[i];
        values.resize(net_.forward_places());
        for (Value& v : values) v.clear();
        return values;
    }
    std::size_t number(Variable const& v) const { return net_.place(v).number; }

    Value& at(LoopNet::Place const& p, Buffer<Value>& values) const {
        return p.kind == LoopNet::Place::outside ? outer(p.number) : values[p.number];
    }
    Value& at(LoopNet::Place const& p, Buffer<Value>& saved, Buffer<Value>& values) const {
        return p.kind == LoopNet::Place::backward ? values[p.number] : at(p, saved);
    }
    Value& outer(std::size_t k) const { return *in_[net_.states.size() + k]; }

    template <class... Values>
    void run(LoopNet::Op const& op, std::size_t t, Buffer<Value>& first, Values&... more) {
        inputs_.clear();
        outputs_.clear();
        for (LoopNet::Place const& p : op.in) inputs_.push_back(&at(p, first, more...));
        for (LoopNet::Place const& p : op.out) outputs_.push_back(&at(p, first, more...));
        if (op.in_place) {
            *outputs_[0] = std::move(*inputs_[0]);
            inputs_[0] = outputs_[0];
        }
        Operator const& o = *op.op;
        try {
            run_named(o, [&] { run_on(exec_, o, inputs_, outputs_); });
        } catch (...) {
            rethrow_in("iteration " + std::to_string(t));
        }
        for (std::size_t const dead : op.dies) first[dead].clear();
    }

    // The gradients of an outer variable: the sum of dense ones, widened, or of arrays, and the row-sparse ones, which are
    // only collected and joined at the end.
    struct Reached {
        Value sum;
        Buffer<Value> rows;
    };

    // Adds the gradients of outer variable k in one iteration.
    void collect(std::size_t k, Reached& reached, Buffer<Value>& saved, Buffer<Value>& values) const {
        for (Variable const* v : net_.outer_grads[k]) {
            Value& part = at(net_.place(*v), saved, values);
            if (part.empty()) continue;
            if (v->spec().type == VarType::SELECTED_ROWS) {
                reached.rows.push_back(part.share());
            } else if (v->spec().type == VarType::TENSOR_ARRAY) {
                reached.sum = reached.sum.empty() ? part.share() : reached.sum.add_slots(part);
            } else {
                Value wide = has_gradient(*v) ? block_.kernels.widened(exec_, part) : part.share();
                reached.sum =
                    reached.sum.empty() ? std::move(wide) : block_.kernels.sum_of_widened(exec_, reached.sum, wide);
            }
        }
    }

    void outer_grad(std::size_t k, Reached& reached, Value& grad) const {
        Variable const& v = *net_.outer[k];
        Buffer<Value*> all;
        if (!reached.sum.empty()) {
            if (v.spec().type != VarType::TENSOR_ARRAY && has_gradient(v))
                reached.sum = block_.kernels.narrowed(exec_, reached.sum);
            all.push_back(&reached.sum);
        }
        for (Value& part : reached.rows) all.push_back(&part);
        if (!all.empty()) {
            grad = block_.kernels.total(exec_, all);
        } else if (net_.is_sparse(k)) {
            grad = block_.kernels.no_rows(exec_, outer(k));
        } else if (v.spec().type == VarType::LOD_TENSOR && has_gradient(v)) {
            grad = block_.kernels.zero_like(exec_, outer(k));
        } else {
            grad.clear();
        }
    }
    bool has_gradient(Variable const& v) const { return v.spec().dtype == block_.gradient_dtype; }

    AnyExec exec_;
    WhileBlock const& block_;
    LoopNet const& net_;
    std::span<Value* const> in_;
    LoopScopes& s_;
    Buffer<Value*> inputs_, outputs_;
};

ROWAN_CALLED_FUNCTION void while_op::run(KernelCall const& c) {
    Value& scopes = *c.out.back();
    if (!scopes.is<LoopScopes>()) scopes.set(LoopScopes());
    LoopRun<>(c.exec, c.attributes.get<WhileBlock>(), c.in, scopes.get<LoopScopes>()).forward(c.out);
}

ROWAN_CALLED_FUNCTION void while_grad_op::run(KernelCall const& c) {
    std::size_t const n = c.out.size();
    LoopRun<>(c.exec, c.attributes.get<WhileBlock>(), c.in.first(n), c.in[n]->get<LoopScopes>())
        .backward(c.in.subspan(n + 1), c.out);
}

ROWAN_CALLED_FUNCTION std::vector<VarSpec> while_op::infer(Specs, AttributesRef attributes) {
    auto const& block = attributes.get<WhileBlock>();
    std::vector<VarSpec> results;
    for (auto const& s : block.net.states) {
        VarSpec last = s.before->spec();
        for (std::size_t i = 0; i < last.dims.size(); ++i) {
            if (s.after->spec().dims[i] == UNK) last.dims[i] = UNK;
        }
        results.push_back(last);
    }
    results.push_back({.type = VarType::STEP_SCOPES, .dtype = block.gradient_dtype, .dims = {}});
    return results;
}

ROWAN_CALLED_FUNCTION std::vector<VarSpec> while_grad_op::infer(Specs in, AttributesRef attributes) {
    auto const& block = attributes.get<WhileBlock>();
    for (VarSpec const& grad : in.last(block.net.states.size())) {
        if (grad.dtype != block.gradient_dtype && !is_integral(grad.dtype))
            throw TypeError("while_loop: the gradient of a state", dtype_text(grad.dtype),
                            {dtype_text(block.gradient_dtype), ", as for the first state that is not an integer"});
    }
    std::size_t const states = block.net.states.size(), n = states + block.net.outer.size();
    std::vector<VarSpec> grads(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t k = states; k < n; ++k) {
        if (block.net.is_sparse(k - states)) grads[k].type = VarType::SELECTED_ROWS;
    }
    return grads;
}

}  // namespace rowan::inline v0::detail

#endif
