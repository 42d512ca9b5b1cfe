// rowan/graph/detail/rnn_run_inl.hpp: definitions of rowan/graph/detail/rnn_run.hpp, and RnnRun, which runs a step net.
#pragma once

#include <rowan/graph/detail/rnn_run.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/rethrow_in.hpp>
#include <rowan/graph/net.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// A step net run over the steps of some sequences.
template <class = void>
class RnnRun {
public:
    /// `outer`: the values of the outer variables that the step reads.
    RnnRun(AnyExec exec, StepNet const& net, LoopKernels const& kernels, std::span<Value* const> outer, RnnPart& part)
        : exec_(exec), net_(net), kernels_(kernels), outer_(outer), part_(part) {}

    /// Returns the outputs of all steps. `states` are the states before the first step, in the order of the part; they
    /// are replaced by those after the last step of each sequence.
    Value forward(Value const& x, std::span<Value> states) {
        part_.make_room(net_.places(), 0);
        part_.statics.clear();
        for (StepNet::Static const& s : net_.statics)
            part_.statics.push_back(outer_[s.from]->gather(exec_, part_.sequences));
        if (part_.count() == 0) return kernels_.zeros(exec_, 0, net_.out->spec());
        packed(*net_.x) = x.gather(exec_, part_.elements);
        for (StepOp const& op : net_.forward.before) run_whole(op);
        for (std::size_t t = 0; t < part_.count(); ++t) {
            for (std::size_t m = 0; m < states.size(); ++m) {
                Value const& after = t == 0 ? states[m] : state_after(m, t - 1);
                part_.steps[t][number(*net_.memories[m].before)] = after.slice(0, part_.size(t));
            }
            for (std::size_t k = 0; k < net_.statics.size(); ++k)
                part_.steps[t][number(*net_.statics[k].value)] = part_.statics[k].slice(0, part_.size(t));
            for (StepOp const& op : net_.forward.each) run_step(op, t);
            for (std::size_t m = 0; m < states.size(); ++m) check_state(m, t, states[m]);
        }
        for (StepOp const& op : net_.forward.after) {
            for (Place const& place : op.in) check_parts(place);
            run_whole(op);
        }
        check_parts(net_.place(*net_.out), net_.out);
        for (std::size_t m = 0; m < states.size(); ++m) states[m] = ends(m, states[m]);
        return whole(net_.place(*net_.out)).share();
    }

    /// Runs the backward pass from the gradient of the outputs of all steps. `states` are the gradients of the last
    /// states; they are replaced by those of the first states.
    void backward(Value const& out_grad, std::span<Value> states) {
        part_.make_room(net_.places(), net_.forward_places);
        part_.static_grads.clear();
        part_.static_grads.resize(net_.statics.size());
        if (part_.count() == 0) return;
        packed(*net_.out_grad) = out_grad.gather(exec_, part_.elements);
        for (StepOp const& op : net_.backward.before) run_whole(op);
        Buffer<Value> carried(states.size());  // the gradients of the states before step t + 1
        for (std::size_t t = part_.count(); t-- > 0;) {
            for (std::size_t m = 0; m < states.size(); ++m) {
                Value ending = states[m].slice(part_.size(t + 1), part_.size(t));
                Value& after = part_.steps[t][number(*net_.memories[m].after_grad)];
                after = carried[m].empty() ? std::move(ending) : joined(carried[m], ending);
            }
            for (StepOp const& op : net_.backward.each) run_step(op, t);
            for (std::size_t k = 0; k < net_.statics.size(); ++k) add_static_grad(k, t);
            for (std::size_t m = 0; m < states.size(); ++m) {
                auto const& memory = net_.memories[m];
                carried[m] = memory.before_grad == nullptr
                                 ? kernels_.zero_like(exec_, step_value(net_.place(*memory.before), t))
                                 : step_value(net_.place(*memory.before_grad), t).share();
            }
        }
        for (StepOp const& op : net_.backward.after) run_whole(op);
        for (std::size_t m = 0; m < states.size(); ++m) {
            Value rest = states[m].slice(part_.size(0), part_.sequences.size());
            states[m] = joined(carried[m], rest);
        }
    }

    /// The gradient of x, empty if there is none; call it after backward.
    Value x_grad() { return net_.x_grad == nullptr ? Value() : whole(net_.place(*net_.x_grad)).share(); }

    /// The gradient of static input k, by sequences of the part; call it after backward.
    Value static_grad(std::size_t k) {
        Value const& all = part_.statics[k];
        Value& sum = part_.static_grads[k];
        if (!sum.empty() && is_widened(k)) sum = kernels_.narrowed(exec_, sum);
        std::size_t const known = sum.empty() ? 0 : sum.rows();
        Value rest = all.with_lod({}).slice(known, all.rows());
        if (rest.rows() != 0 || sum.empty()) {  // of sequences without steps
            Value zeros = kernels_.zero_like(exec_, rest);
            sum = sum.empty() ? std::move(zeros) : joined(sum, zeros);
        }
        return sum.with_lod(all.lod());
    }

    /// Appends the summands of the gradient of outer variable k to `parts`; call it after backward.
    void outer_grad(std::size_t k, Buffer<Value*>& parts) {
        for (Variable const* v : net_.outer_grads[k]) {
            Place const place = net_.place(*v);
            if (place.kind == Place::of_a_step) {
                for (auto& step : part_.steps) parts.push_back(&step[place.number]);
            } else {
                parts.push_back(&whole(place));
            }
        }
    }

private:
    std::size_t number(Variable const& v) const { return net_.place(v).number; }
    Value& packed(Variable const& v) { return part_.packed[number(v)]; }
    Value joined(Value& first, Value& second) const { return Value::concat(exec_, std::array{&first, &second}); }

    // Adds the gradient of static input k in step t to those of later steps, which have the first of its sequences.
    void add_static_grad(std::size_t k, std::size_t t) {
        StepNet::Static const& s = net_.statics[k];
        if (s.grad == nullptr) return;
        Value grad = step_value(net_.place(*s.grad), t).with_lod({});
        if (is_widened(k)) grad = kernels_.widened(exec_, grad);
        Value& sum = part_.static_grads[k];
        if (!sum.empty()) {
            std::size_t const later = sum.rows();
            Value first = grad.slice(0, later), ending = grad.slice(later, grad.rows());
            sum = kernels_.sum_of_widened(exec_, sum, first);
            if (ending.rows() != 0) sum = joined(sum, ending);
        } else {
            sum = std::move(grad);
        }
    }

    bool is_widened(std::size_t k) const { return net_.statics[k].value->spec().dtype == net_.out->spec().dtype; }

    Value& state_after(std::size_t m, std::size_t t) { return step_value(net_.place(*net_.memories[m].after), t); }

    /// Throws unless each step gave a part for each of its sequences, and of `declared` the width that its spec tells.
    void check_parts(Place const& place, Variable const* declared = nullptr) {
        if (place.kind != Place::rows || !part_.packed[place.number].empty()) return;
        for (std::size_t t = 0; t < part_.count(); ++t) {
            Value const& value = part_.steps[t][place.number];
            check_count("a result", value, t);
            if (declared != nullptr && StepNet::has_known_width(*declared))
                check_row("the output ", *declared, value, declared->spec().dims, ", as declared", t);
        }
    }
    void check_count(char const* what, Value const& value, std::size_t t, std::string const& name = {}) {
        if (value.empty() || value.count() == part_.size(t)) return;
        throw ShapeError(step_text(t, {}).append(": the number of rows or sequences of ").append(what).append(name),
                         value.count(), {part_.size(t), ", one for each sequence"});
    }
    void check_row(char const* what, Variable const& v, Value const& value, Dims row, char const* why, std::size_t t) {
        Dims const dims = value.empty() ? row : value.spec().dims;
        if (!dims.empty()) row[0] = dims[0];
        if (dims == row) return;
        throw ShapeError(step_text(t, {}).append(": the shape of a row of ").append(what).append(v.name()),
                         shape_text(std::span(dims).subspan(std::min<std::size_t>(dims.size(), 1))),
                         {shape_text(std::span(row).subspan(1)), why});
    }

    /// Throws unless a state has a row for each sequence after step t and the width from before, as its spec may tell.
    void check_state(std::size_t m, std::size_t t, Value& boot) {
        Variable const& before = *net_.memories[m].before;
        check_count("the state ", state_after(m, t), t, before.name());
        check_row("the state ", before, state_after(m, t), boot.spec().dims, ", that before the step", t);
    }

    /// The state of every sequence after its last step. The sequences that end at step t are its last rows.
    Value ends(std::size_t m, Value const& boot) {
        Buffer<Value> pieces;
        for (std::size_t t = part_.count(); t-- > 0;)
            pieces.push_back(state_after(m, t).slice(part_.size(t + 1), part_.size(t)));
        pieces.push_back(boot.slice(part_.size(0), part_.sequences.size()));
        Buffer<Value*> all;
        for (Value& piece : pieces) all.push_back(&piece);
        return Value::concat(exec_, all);
    }

    // The value for all steps, concatenated from those of the steps if necessary.
    Value& whole(Place const& place) {
        if (place.kind == Place::outside) return *outer_[place.number];
        Value& all = part_.packed[place.number];
        if (!all.empty() || place.kind == Place::whole) return all;
        Buffer<Value*> steps;
        for (auto& step : part_.steps) steps.push_back(&step[place.number]);
        all = Value::concat(exec_, steps);
        return all;
    }

    Value& step_value(Place const& place, std::size_t t) {
        if (place.kind == Place::outside) return *outer_[place.number];
        Value& all = part_.packed[place.number];
        if (place.kind == Place::whole) return all;
        Value& value = part_.steps[t][place.number];
        if (value.empty() && place.kind == Place::rows && !all.empty()) {
            value = all.slice(static_cast<std::size_t>(part_.starts[t]), static_cast<std::size_t>(part_.starts[t + 1]));
        }
        return value;
    }

    // Runs an operator on the rows of step t, or of all steps. An error names the step and, if it is that of a row, the
    // sequence; the position of an IndexError is that in the batch unless elements have levels.
    template <class In, class Out>
    void run(StepOp const& op, std::optional<std::size_t> t, In const& in, Out const& out) {
        inputs_.clear();
        outputs_.clear();
        for (Place const& place : op.in) inputs_.push_back(&in(place));
        for (Place const& place : op.out) outputs_.push_back(&out(place));
        std::size_t const first = t ? start(*t) : 0, rows = t ? part_.size(*t) : part_.elements.size();
        std::optional<std::size_t> bad;  // the row of an error
        try {
            run_named(*op.op, [&] {
                try {
                    run_on(exec_, *op.op, inputs_, outputs_);
                } catch (IndexError const& e) {
                    Value const* const x = named_input(op, e, rows);
                    if (x == nullptr) throw;
                    std::size_t const width = row_size(*x), row = e.position() / width;
                    if (!x->lod().empty()) {
                        auto const ends = x->lod().absolute()[0];  // of the elements, in rows
                        auto const after = std::ranges::upper_bound(ends, static_cast<std::int64_t>(row));
                        bad = first + static_cast<std::size_t>(after - ends.begin()) - 1;
                        throw;
                    }
                    bad = first + row;
                    throw e.moved_to(e.field(),
                                     static_cast<std::size_t>(part_.elements[*bad]) * width + e.position() % width);
                }
            });
        } catch (...) {
            if (!t && !bad) throw;
            rethrow_in(step_text(t, bad));
        }
    }
    void run_whole(StepOp const& op) {
        run(
            op, {}, [&](Place const& place) -> Value& { return whole(place); },
            [&](Place const& place) -> Value& { return part_.packed[place.number]; });
    }
    void run_step(StepOp const& op, std::size_t t) {
        run(
            op, t, [&](Place const& place) -> Value& { return step_value(place, t); },
            [&](Place const& place) -> Value& { return part_.steps[t][place.number]; });
    }
    std::size_t start(std::size_t t) const { return static_cast<std::size_t>(part_.starts[t]); }

    // "step 3", or "step 3 of sequence 5" if the row is known.
    std::string step_text(std::optional<std::size_t> t, std::optional<std::size_t> row) const {
        if (!t) {
            auto const after = std::ranges::upper_bound(part_.starts, static_cast<std::int64_t>(*row));
            t = static_cast<std::size_t>(after - part_.starts.begin()) - 1;
        }
        std::string text = std::string("step ").append(std::to_string(*t));
        if (row) text.append(" of sequence ").append(std::to_string(part_.sequences[*row - start(*t)]));
        return text;
    }

    // The input that an error names, or nullptr unless the error is that of one of its `count` parts.
    Value const* named_input(StepOp const& op, IndexError const& e, std::size_t count) const {
        auto const slots = op.op->kernel->inputs;
        auto const slot = static_cast<std::size_t>(std::ranges::find(slots, e.field()) - slots.begin());
        if (slots.size() != op.in.size() || slot == slots.size() || op.in[slot].kind != Place::rows) return nullptr;
        Value const& x = *inputs_[slot];
        return x.count() == count && e.position() < x.rows() * row_size(x) ? &x : nullptr;
    }
    static std::size_t row_size(Value const& x) {
        std::size_t size = 1;
        for (std::int64_t const dim : x.share().elements().dims) size *= static_cast<std::size_t>(dim);
        return size / std::max<std::size_t>(x.rows(), 1);
    }

    AnyExec exec_;
    StepNet const& net_;
    LoopKernels const& kernels_;
    std::span<Value* const> outer_;
    RnnPart& part_;
    Buffer<Value*> inputs_, outputs_;
};

ROWAN_CALLED_FUNCTION void RnnPart::assign(StepMap<> const& map, std::size_t part, std::size_t parts, bool reverse) {
    sequences.clear();
    elements.clear();
    starts.assign(1, 0);
    for (std::size_t j = part; j < map.sequences(); j += parts) sequences.push_back(map.sequence(j));
    for (std::size_t t = 0; t < map.steps(); ++t) {
        auto const step = map.step(t), first = map.step(0);
        for (std::size_t j = part; j < step.size(); j += parts) {
            auto const back = map.length(j) - 1 - static_cast<std::int64_t>(t);
            elements.push_back(reverse ? first[j] + back : step[j]);
        }
        if (elements.size() == static_cast<std::size_t>(starts.back())) break;
        starts.push_back(static_cast<std::int64_t>(elements.size()));
    }
}

ROWAN_CALLED_FUNCTION void RnnPart::make_room(std::size_t variables, std::size_t from) {
    steps.resize(count());
    make_room(packed, variables, from);
    for (auto& step : steps) make_room(step, variables, from);
}

ROWAN_CALLED_FUNCTION void RnnPart::make_room(Buffer<Value>& values, std::size_t variables, std::size_t from) {
    values.resize(std::min(values.size(), from));
    values.resize(variables);
}

}  // namespace rowan::inline v0::detail

#endif
