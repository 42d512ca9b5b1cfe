// rowan/graph/rnn_inl.hpp: definitions of rowan/graph/rnn.hpp.
#pragma once

#include <rowan/graph/rnn.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/run_meter.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/rnn_run.hpp>
#include <rowan/sequence/step_map.hpp>

#include <algorithm>
#include <iterator>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION std::size_t RnnBlock::boots() const {
    return static_cast<std::size_t>(std::ranges::count(has_boot, true));
}

struct StepScopes {
    Lod lod;                                // the levels of x
    Lod out_lod;                            // the levels of the outputs
    detail::Buffer<detail::RnnPart> parts;  // the parts of the batch, which may run in parallel
};

}  // namespace rowan::inline v0

namespace rowan::inline v0::detail {

template <class = void>
class Recurrent {
public:
    Recurrent(AnyExec exec, RnnBlock const& block, std::span<Value* const> in, StepScopes& scopes)
        : exec_(exec), block_(block), net_(block.net), in_(in), s_(scopes) {}

    /// `out`: the states after the last steps, and the outputs of all steps.
    void forward(std::span<Value* const> out) {
        Value const& x = *in_[0];
        Lod const lod = x.lod();
        std::size_t const levels = net_.x->spec().lod_level + block_.level + 1;
        if (lod.levels() != levels) throw ShapeError("x.lod().levels()", lod.levels(), levels);
        lod.check_rows(x.rows());
        StepMap<> const map(Cpu{.threads = 1}, lod, block_.level);
        for (StepNet::Static const& s : net_.statics) {
            Value const& all = *outer()[s.from];
            if (all.count() != map.sequences())
                throw ShapeError("static_input: the number of sequences of x", all.count(),
                                 {map.sequences(), ", the number of sequences that have steps"});
        }
        count_iterations(map.steps());
        s_.lod = lod;
        s_.parts.resize(net_.rows_apart && !block_.runs_whole ? rnn_parts(map.sequences()) : 1);
        for (std::size_t k = 0; k < s_.parts.size(); ++k) s_.parts[k].assign(map, k, s_.parts.size(), block_.reverse);
        if (map.steps() == 0 && net_.has_unknown_width()) s_.parts.back().starts.push_back(0);  // a step of no rows
        auto states = first_states();
        Buffer<Value> results(s_.parts.size());
        Value const elements = without_upper_levels(x);
        auto const forward_part = [&](std::size_t k, AnyExec exec) {
            results[k] = run(exec, k).forward(elements, states[k]);
        };
        block_.for_parts(exec_, s_.parts.size(), work(), std::cref(forward_part));
        Value all = scatter(results, &RnnPart::elements);
        s_.out_lod = with_upper_levels(all.lod());
        *out[net_.memories.size()] = all.with_lod(s_.out_lod);
        for (std::size_t m = 0; m < net_.memories.size(); ++m) *out[m] = last(states, m).with_lod(outer_levels());
    }

    /// `grads` receives the gradients of x, the boot states if any, and each outer variable.
    void backward(Value const& out_grad, std::span<Value* const> last_grads, std::span<Value* const> grads) {
        Buffer<Buffer<Value>> states(s_.parts.size());
        Value const elements = without_upper_levels(out_grad.with_lod(s_.out_lod));
        auto const backward_part = [&](std::size_t k, AnyExec exec) {
            for (Value const* last : last_grads) {
                states[k].push_back(last->with_lod({}).gather(exec, s_.parts[k].sequences));
            }
            run(exec, k).backward(elements, states[k]);
        };
        block_.for_parts(exec_, s_.parts.size(), work(), std::cref(backward_part));
        x_grad(*grads[0]);
        std::size_t at = 1;
        for (std::size_t m = 0; m < net_.memories.size(); ++m) {
            if (block_.has_boot[m]) *grads[at++] = last(states, m);
        }
        for (std::size_t k = 0; k < net_.outer.size(); ++k) outer_grad(k, *grads[at + k]);
    }

private:
    /// An estimate of the multiplications of all steps: one for each row and each element of a weight, and 8 for each
    /// element of x.
    std::size_t work() const {
        auto const elements = [](Variable const& v, std::size_t first) {
            return static_cast<std::size_t>(std::max<std::int64_t>(v.spec().dims.product_from(first), 0));
        };
        std::size_t of_row = 8 * elements(*net_.x, 1);
        for (Variable const* v : net_.outer) of_row += elements(*v, 0);
        return static_cast<std::size_t>(s_.lod.rows()) * of_row;
    }

    std::span<Value* const> outer() const { return in_.subspan(1 + block_.boots()); }
    RnnRun<> run(AnyExec exec, std::size_t k) { return {exec, net_, block_.kernels, outer(), s_.parts[k]}; }

    // x with the levels below the iterated one only: its parts are the elements of the iterated sequences.
    Value without_upper_levels(Value const& x) const {
        return x.with_lod(x.lod().slice_levels(block_.level + 1, x.lod().levels()));
    }
    Lod outer_levels() const { return s_.lod.slice_levels(0, block_.level); }
    Lod with_upper_levels(Lod const& lod) const {
        if (lod.empty()) return s_.lod.slice_levels(0, block_.level + 1);
        std::vector<Ids<>> levels;
        for (std::size_t l = 0; l <= block_.level; ++l) levels.emplace_back(s_.lod[l]);
        for (std::size_t l = 0; l < lod.levels(); ++l) levels.emplace_back(lod[l]);
        return Lod(levels);
    }

    // The states before the first step, for each part and memory.
    Buffer<Buffer<Value>> first_states() const {
        std::size_t sequences = 0;
        for (RnnPart const& part : s_.parts) sequences += part.sequences.size();
        Buffer<Buffer<Value>> states(s_.parts.size());
        std::size_t at = 1;
        for (std::size_t m = 0; m < net_.memories.size(); ++m) {
            if (block_.has_boot[m] && in_[at]->rows() != sequences)
                throw ShapeError("boot.shape(0)", in_[at]->rows(), {sequences, ", the number of sequences"});
            for (std::size_t k = 0; k < s_.parts.size(); ++k) {
                auto const& mine = s_.parts[k].sequences;
                states[k].push_back(block_.has_boot[m]
                                        ? in_[at]->with_lod({}).gather(exec_, mine)
                                        : block_.kernels.zeros(exec_, mine.size(), net_.memories[m].before->spec()));
            }
            if (block_.has_boot[m]) ++at;
        }
        return states;
    }

    Value scatter(std::span<Value> values, Buffer<std::int64_t> RnnPart::*to) const {
        Buffer<Value*> parts;
        Buffer<std::span<std::int64_t const>> targets;
        for (std::size_t k = 0; k < values.size(); ++k) {
            bool const only = k + 1 == values.size() && parts.empty();
            if ((s_.parts[k].*to).empty() && !only) continue;
            parts.push_back(&values[k]);
            targets.emplace_back(s_.parts[k].*to);
        }
        return Value::scatter(exec_, parts, targets);
    }
    Value last(std::span<Buffer<Value>> states, std::size_t m) const {
        Buffer<Value> of_parts;
        for (auto& part : states) of_parts.push_back(part[m].share());
        return scatter(of_parts, &RnnPart::sequences);
    }

    void x_grad(Value& grad) {
        if (net_.x_grad == nullptr) {
            if (has_gradient(*net_.x)) grad = block_.kernels.zero_like(exec_, *in_[0]);
            return;
        }
        Buffer<Value> of_parts;
        for (std::size_t k = 0; k < s_.parts.size(); ++k) {
            of_parts.push_back(s_.parts[k].count() == 0 ? without_upper_levels(*in_[0]).slice(0, 0)
                                                        : run(exec_, k).x_grad());
        }
        grad = scatter(of_parts, &RnnPart::elements).with_lod(s_.lod);
    }

    // Sums the gradients of outer variable k over all parts and steps.
    void outer_grad(std::size_t k, Value& grad) {
        Buffer<Value*> summands;
        for (std::size_t part = 0; part < s_.parts.size(); ++part) {
            if (s_.parts[part].count() > 0) run(exec_, part).outer_grad(k, summands);
        }
        Buffer<Value> statics;
        statics.reserve(net_.statics.size());
        for (std::size_t i = 0; i < net_.statics.size(); ++i) {
            if (net_.statics[i].from == k && net_.statics[i].grad != nullptr) statics.push_back(static_grad(i));
        }
        for (Value& v : statics) summands.push_back(&v);
        if (summands.empty()) {
            if (all_row_sparse(net_.outer_grads[k])) {
                grad = block_.kernels.no_rows(exec_, *outer()[k]);
            } else if (has_gradient(*net_.outer[k])) {
                grad = block_.kernels.zero_like(exec_, *outer()[k]);
            }
        } else {
            grad = block_.kernels.total(exec_, summands);
        }
    }
    Value static_grad(std::size_t i) {
        Buffer<Value> of_parts;
        for (std::size_t k = 0; k < s_.parts.size(); ++k) of_parts.push_back(run(exec_, k).static_grad(i));
        return scatter(of_parts, &RnnPart::sequences);
    }
    bool has_gradient(Variable const& v) const { return v.spec().dtype == net_.out->spec().dtype; }

    AnyExec exec_;
    RnnBlock const& block_;
    StepNet const& net_;
    std::span<Value* const> in_;
    StepScopes& s_;
};

ROWAN_CALLED_FUNCTION void rnn_op::run(KernelCall const& c) {
    Value& scopes = *c.out.back();
    if (!scopes.is<StepScopes>()) scopes.set(StepScopes());
    Recurrent<>(c.exec, c.attributes.get<RnnBlock>(), c.in, scopes.get<StepScopes>()).forward(c.out);
}

ROWAN_CALLED_FUNCTION void rnn_op::each_read(Operator const& op, OutsideOf const& outside, ReadVisitor const& f) {
    auto const& block = AttributesRef(op.attributes).get<RnnBlock>();
    StepNet const& net = block.net;
    std::size_t const first = 1 + block.boots();  // of the outer variables
    for (std::size_t slot = 0; slot < first; ++slot) f(op, slot, outside);
    for (StepNet::Static const& s : net.statics) f(op, first + s.from, outside);
    OutsideOf const out_of_step = [&](Variable* v) -> Variable* {
        if (v == net.x) return outside(op.inputs[0]);
        std::size_t const at = net.outer_of(*v);
        return at < net.outer.size() ? outside(op.inputs[first + at]) : nullptr;
    };
    for (auto const* const phase : {&net.forward.before, &net.forward.each, &net.forward.after})
        for (StepOp const& step : *phase) detail::each_read(*step.op, out_of_step, f);
}

ROWAN_CALLED_FUNCTION bool rnn_grad_op::row_output(AttributesRef a, std::size_t i) {
    auto const& block = a.get<RnnBlock>();
    return i <= block.boots() || block.net.is_static(i - block.boots() - 1);
}

ROWAN_CALLED_FUNCTION bool rnn_op::row_output(AttributesRef a, std::size_t i) {
    return i <= a.get<RnnBlock>().net.memories.size();
}

ROWAN_CALLED_FUNCTION RowTraits rnn_op::row_traits(AttributesRef a) {
    return {false, a.get<RnnBlock>().net.rows_apart, Linearity::inside};
}

ROWAN_CALLED_FUNCTION void rnn_grad_op::run(KernelCall const& c) {
    auto const& block = c.attributes.get<RnnBlock>();
    std::size_t const n = c.in.size() - 2 - block.net.memories.size();
    Recurrent<>(c.exec, block, c.in.first(n), c.in[n]->get<StepScopes>())
        .backward(*c.in[n + 1], c.in.subspan(n + 2), c.out);
}

ROWAN_CALLED_FUNCTION std::vector<VarSpec> rnn_op::infer(Specs in, AttributesRef attributes) {
    auto const& block = attributes.get<RnnBlock>();
    std::vector<VarSpec> results;
    for (auto const& memory : block.net.memories) {
        VarSpec last = memory.after->spec();
        last.lod_level = block.level;
        last.dims[0] = UNK;
        results.push_back(last);
    }
    VarSpec out = block.net.out->spec();
    if (out.lod_level == 0) out.dims[0] = in[0].lod_level == block.level + 1 ? in[0].dims[0] : UNK;
    out.lod_level += block.level + 1;
    results.push_back(out);
    results.push_back({.type = VarType::STEP_SCOPES, .dtype = out.dtype, .dims = {}});
    return results;
}

ROWAN_CALLED_FUNCTION std::vector<VarSpec> rnn_grad_op::infer(Specs in, AttributesRef attributes) {
    auto const& block = attributes.get<RnnBlock>();
    std::vector<VarSpec> grads(in.begin(), in.end() - static_cast<std::ptrdiff_t>(2 + block.net.memories.size()));
    std::size_t const first = 1 + block.boots();
    for (std::size_t k = 0; k < block.net.outer.size(); ++k) {
        if (all_row_sparse(block.net.outer_grads[k])) grads[first + k].type = VarType::SELECTED_ROWS;
    }
    return grads;
}

}  // namespace rowan::inline v0::detail

#endif
