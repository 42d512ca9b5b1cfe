// rowan/graph/rnn.hpp: the recurrent operator, a step net run over the steps of sequences, and its gradient.
#pragma once

#include <rowan/detail/step_net.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/graph/op_code.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/sequence/step_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// What a recurrent operator is made of: the attributes of `rnn`.
struct RnnBlock {
    std::unique_ptr<Scope> scope;  ///< of the step
    detail::StepNet net;
    std::size_t level = 0;            ///< the level whose sequences are walked through: the last one of the input
    bool has_boot = false;            ///< the second input is the state before the first step, a row for each sequence
    std::vector<std::int64_t> state;  ///< the trailing dims of the state

    Value (*zeros)(std::size_t rows, std::vector<std::int64_t> const& dims);  ///< of the state's type
    op_code const* sum;                                                       ///< for gradients
    op_code const* fill_like;
    void (*build_backward)(RnnBlock&);
};

/// The values of all steps of a run, which the gradient needs: the scopes of the steps.
struct StepScopes {
    StepMap<> map;
    std::vector<std::vector<Value>> steps;  ///< step, number of the variable
    std::vector<Value> packed;              ///< number of the variable: the rows of all steps, one step after the other
};

namespace detail {

/// A run of a recurrent operator, forward or backward.
class RnnRun {
public:
    RnnRun(void const* device, RnnBlock const& block, std::span<Value* const> in, StepScopes& scopes)
        : device_(device), block_(block), net_(block.net), in_(in), s_(scopes) {}

    void forward(Value& out, Value& last) {
        Value const& x = *in_[0];
        Lod const lod = x.lod();
        lod.check_rows(x.rows());
        if (lod.levels() != block_.level + 1)
            throw ShapeError("x.lod().levels()", std::to_string(lod.levels()), std::to_string(block_.level + 1));
        s_.map = StepMap<>(lod, block_.level);
        std::size_t const steps = s_.map.steps();
        if (steps == 0) {  // only empty sequences
            s_.steps.clear();
            auto const& dims = net_.out->spec().dims;
            out = block_.zeros(0, {dims.begin() + 1, dims.end()}).with_lod(lod);
            last = with_outer_levels(in_order(boot()), lod);
            return;
        }
        s_.packed.clear();
        s_.packed.resize(net_.number.size());
        s_.steps.clear();
        s_.steps.resize(steps);
        for (auto& step : s_.steps) step.resize(net_.number.size());
        packed(*net_.x) = x.gather(s_.map.elements());
        for (Operator* const op : net_.once) run_once(*op);
        Value state = boot();
        for (std::size_t t = 0; t < steps; ++t) {
            s_.steps[t][number(*net_.before)] = state.slice(0, size(t));
            for (Operator* const op : net_.each) run_step(*op, t);
            state = step_value(*net_.after, t).share();
        }
        out = whole(*net_.out).scatter(s_.map.elements()).with_lod(lod);
        last = with_outer_levels(
            in_order(ends([&](std::size_t t) -> Value const& { return step_value(*net_.after, t); }, boot())), lod);
    }

    /// `grads`: for x, the boot state where there is one, and each outer variable.
    void backward(Value const& out_grad, Value const& last_grad, std::span<Value* const> grads) {
        std::size_t const steps = s_.steps.size();
        if (steps == 0)
            throw ShapeError("the longest sequence", "0 steps",
                             "at least 1: only empty ones have nothing to learn from");
        s_.packed.resize(net_.number.size());
        for (auto& step : s_.steps) step.resize(net_.number.size());
        packed(*net_.out_grad) = out_grad.gather(s_.map.elements());
        Value const ends = last_grad.gather(order());
        Value carried;  // the gradient of the state before step t + 1
        for (std::size_t t = steps; t-- > 0;) {
            Value ending = ends.slice(size(t + 1), size(t));
            Value& after_grad = s_.steps[t][number(*net_.after_grad)];
            after_grad = carried.empty() ? ending.share() : joined(carried, ending);
            for (Operator* const op : net_.back_each) run_step(*op, t);
            if (net_.before_grad == nullptr) {
                carried = zero_like(step_value(*net_.before, t));
            } else {
                carried = step_value(*net_.before_grad, t).share();
            }
        }
        for (Operator* const op : net_.back_once) run_once(*op);
        if (net_.x_grad != nullptr) {
            *grads[0] = whole(*net_.x_grad).scatter(s_.map.elements()).with_lod(s_.map.lod());
        } else if (net_.x->spec().dtype == net_.after->spec().dtype) {
            *grads[0] = zero_like(*in_[0]);
        }
        std::size_t at = 1;
        if (block_.has_boot) {
            Value rest = ends.slice(size(0), s_.map.sequences());
            *grads[at++] = in_order(joined(carried, rest));
        }
        for (std::size_t k = 0; k < net_.outer.size(); ++k) outer_grad(k, *grads[at + k]);
    }

private:
    std::size_t number(Variable const& v) const { return net_.number.at(&v); }
    Value& packed(Variable const& v) { return s_.packed[number(v)]; }
    std::size_t size(std::size_t t) const { return s_.map.step_size(t); }

    std::vector<std::int64_t> order() const {
        std::vector<std::int64_t> order(s_.map.sequences());
        for (std::size_t j = 0; j < order.size(); ++j) order[j] = s_.map.sequence(j);
        return order;
    }
    Value with_outer_levels(Value&& last, Lod const& lod) const {
        return block_.level == 0 ? std::move(last) : last.with_lod(lod.slice_levels(0, block_.level));
    }
    Value in_order(Value const& sorted) const { return sorted.scatter(order()); }

    static Value joined(Value& first, Value& second) { return Value::concat(std::array{&first, &second}); }

    Value zero_like(Value const& x) const {
        Value copy = x.share(), zeros;
        std::array<Value*, 1> const in{&copy}, out{&zeros};
        FillOptions const options{0};
        block_.fill_like->run(device_, in, out, &options, -1);
        return zeros;
    }

    /// The state before the first step, in the map's order.
    Value boot() const {
        std::size_t const sequences = s_.map.sequences();
        if (!block_.has_boot) return block_.zeros(sequences, block_.state);
        if (in_[1]->rows() != sequences)
            throw ShapeError("boot.shape(0)", std::to_string(in_[1]->rows()),
                             std::to_string(sequences) + ", the number of sequences");
        return in_[1]->gather(order());
    }

    /// What belongs to the last step of every sequence, in the map's order: step t has those that end there last.
    template <class At>
    Value ends(At const& at, Value const& empty) const {
        std::vector<Value> pieces;
        for (std::size_t t = s_.steps.size(); t-- > 0;) pieces.push_back(at(t).slice(size(t + 1), size(t)));
        pieces.push_back(empty.slice(size(0), s_.map.sequences()));
        std::vector<Value*> parts;
        for (Value& piece : pieces) parts.push_back(&piece);
        return Value::concat(parts);
    }

    Value* outside(Variable const& v) {
        if (&v.scope() == net_.scope) return nullptr;
        std::size_t const first = block_.has_boot ? 2 : 1;
        auto const found = std::ranges::find(net_.outer, &v);
        return in_[first + static_cast<std::size_t>(found - net_.outer.begin())];
    }

    /// All rows of a variable, those of one step after those of the step before.
    Value& whole(Variable const& v) {
        if (Value* const value = outside(v)) return *value;
        Value& all = packed(v);
        if (!all.empty()) return all;
        std::vector<Value*> parts;
        for (auto& step : s_.steps) parts.push_back(&step[number(v)]);
        return net_.rows.contains(&v) ? all = Value::concat(parts) : sum(parts, all);
    }

    Value& sum(std::vector<Value*> const& parts, Value& all) const {
        std::array<Value*, 1> const out{&all};
        no_attributes const none;
        block_.sum->run(device_, parts, out, &none, -1);
        return all;
    }

    Value& step_value(Variable const& v, std::size_t t) {
        if (Value* const value = outside(v)) return *value;
        if (!net_.rows.contains(&v) && !net_.per_step.contains(&v)) return packed(v);
        Value& value = s_.steps[t][number(v)];
        if (value.empty() && !packed(v).empty()) {
            auto const starts = s_.map.starts();
            value = packed(v).slice(static_cast<std::size_t>(starts[t]), static_cast<std::size_t>(starts[t + 1]));
        }
        return value;
    }

    template <class In, class Out>
    void run(Operator const& op, In const& in, Out const& out) {
        inputs_.clear();
        outputs_.clear();
        for (Variable const* v : op.inputs) inputs_.push_back(&in(*v));
        for (Variable const* v : op.outputs) outputs_.push_back(&out(*v));
        run_named(op, [&] { op.code->run(device_, inputs_, outputs_, op.attributes.get(), op.levels_from); });
    }
    void run_once(Operator const& op) {
        run(
            op, [&](Variable const& v) -> Value& { return whole(v); },
            [&](Variable const& v) -> Value& { return packed(v); });
    }
    void run_step(Operator const& op, std::size_t t) {
        run(
            op, [&](Variable const& v) -> Value& { return step_value(v, t); },
            [&](Variable const& v) -> Value& { return s_.steps[t][number(v)]; });
    }

    // The sum of all that reaches an outer variable, from all steps where it is made step by step.
    void outer_grad(std::size_t k, Value& grad) {
        std::vector<Value*> parts;
        for (Variable const* v : net_.outer_grads[k]) {
            if (net_.per_step.contains(v)) {
                for (auto& step : s_.steps) parts.push_back(&step[number(*v)]);
            } else {
                parts.push_back(&packed(*v));
            }
        }
        if (parts.empty()) {
            bool const has_gradient = net_.outer[k]->spec().dtype == net_.after->spec().dtype;
            if (has_gradient) grad = zero_like(*outside(*net_.outer[k]));
        } else if (parts.size() == 1) {
            grad = std::move(*parts[0]);
        } else {
            sum(parts, grad);
        }
    }

    void const* device_;
    RnnBlock const& block_;
    StepNet const& net_;
    std::span<Value* const> in_;
    StepScopes& s_;
    std::vector<Value*> inputs_, outputs_;
};

inline void run_rnn(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
                    std::ptrdiff_t) {
    auto const& block = *static_cast<RnnBlock const*>(attributes);
    if (!out[2]->is<StepScopes>()) out[2]->set(StepScopes());
    RnnRun(device, block, in, out[2]->get<StepScopes>()).forward(*out[0], *out[1]);
}

// in: the inputs of the forward operator, its scopes, and the gradients of its two results
inline void run_rnn_grad(void const* device, std::span<Value* const> in, std::span<Value* const> out,
                         void const* attributes, std::ptrdiff_t) {
    auto const& block = *static_cast<RnnBlock const*>(attributes);
    std::size_t const n = in.size() - 3;
    RnnRun(device, block, in.first(n), in[n]->get<StepScopes>()).backward(*in[n + 1], *in[n + 2], out);
}

inline std::vector<VarSpec> infer_rnn(std::span<VarSpec const> in, void const* attributes) {
    auto const& block = *static_cast<RnnBlock const*>(attributes);
    VarSpec out = block.net.out->spec(), last = block.net.after->spec();
    out.lod_level = in[0].lod_level;
    last.lod_level = in[0].lod_level - 1;
    out.dims[0] = in[0].dims[0];
    last.dims[0] = UNK;
    return {out, last, {VarType::STEP_SCOPES, out.dtype, {}, 0}};
}

inline std::vector<VarSpec> infer_rnn_grad(std::span<VarSpec const> in, void const* attributes) {
    auto& block = const_cast<RnnBlock&>(*static_cast<RnnBlock const*>(attributes));
    block.build_backward(block);  // the first time that it is asked for
    std::vector<VarSpec> grads(in.begin(), in.end() - 3);
    std::size_t const first = block.has_boot ? 2 : 1;
    for (std::size_t k = 0; k < block.net.outer.size(); ++k) {
        auto const& parts = block.net.outer_grads[k];
        bool const sparse = !parts.empty() && std::ranges::all_of(parts, [](Variable const* v) {
            return v->spec().type == VarType::SELECTED_ROWS;
        });
        if (sparse) grads[first + k].type = VarType::SELECTED_ROWS;
    }
    return grads;
}

inline constexpr std::array<std::string_view, 1> rnn_inputs{"x"};
inline constexpr std::array<std::string_view, 3> rnn_outputs{"out", "last", "scopes"};
inline constexpr std::array<std::string_view, 4> rnn_grad_inputs{"x", "scopes", "out@GRAD", "last@GRAD"};
inline constexpr std::array<std::string_view, 1> rnn_grad_outputs{"x@GRAD"};

inline constexpr op_code rnn_grad_code{"rnn_grad", rnn_grad_inputs, rnn_grad_outputs, 0,
                                       false,      &infer_rnn_grad, &run_rnn_grad,    {}};
inline constexpr std::array<grad_slot, 4> rnn_reads{grad_slot{grad_slot::input, 0}, grad_slot{grad_slot::output, 2},
                                                    grad_slot{grad_slot::grad_of_output, 0},
                                                    grad_slot{grad_slot::grad_of_output, 1}};
inline constexpr std::array<grad_slot, 1> rnn_writes{grad_slot{grad_slot::grad_of_input, 0}};
inline constexpr std::array<rule_code, 1> rnn_rules{rule_code{&rnn_grad_code, rnn_reads, rnn_writes}};

}  // namespace detail

/// The recurrent operator: inputs are x, the boot state where there is one, and what the step reads from outside; results are the outputs
/// of all steps with the levels of x, the state of every sequence after its last step, and the scopes of the steps.
inline constexpr op_code rnn_code{"rnn", detail::rnn_inputs, detail::rnn_outputs, 0,
                                  false, &detail::infer_rnn, &detail::run_rnn,    detail::rnn_rules};

}  // namespace rowan::inline v0
