// rowan/detail/rnn_run.hpp: RnnRun, a step net run over the steps of some sequences, forward or backward.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/loop_kernels.hpp>
#include <rowan/detail/step_net.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/sequence/step_map.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// Some sequences of a batch, longest first, and the values of their steps.
struct RnnPart {
    Buffer<std::int64_t> sequences;  // their numbers in the batch
    Buffer<std::int64_t> starts;     // step t is elements [starts[t], starts[t + 1])
    Buffer<std::int64_t> elements;   // their numbers in the batch
    Buffer<Buffer<Value>> steps;     // step, number of the variable
    Buffer<Value> packed;            // number of the variable: of all steps, those of one step after the other

    /// Takes every `parts`-th sequence of a map, from number `part` on; where `reverse`, its steps go from its end to its beginning.
    void assign(StepMap<> const& map, std::size_t part, std::size_t parts, bool reverse);

    /// Room for the values of so many variables, those from number `from` on without a value.
    void make_room(std::size_t variables, std::size_t from);

    static void make_room(Buffer<Value>& values, std::size_t variables, std::size_t from) {
        values.resize(std::min(values.size(), from));
        values.resize(variables);
    }

    std::size_t count() const { return starts.size() - 1; }
    std::size_t size(std::size_t t) const {
        return t < count() ? static_cast<std::size_t>(starts[t + 1] - starts[t]) : 0;
    }
};

class RnnRun {
public:
    /// `outer`: what the step reads from outside.
    RnnRun(void const* device, StepNet const& net, LoopKernels const& kernels, std::span<Value* const> outer,
           RnnPart& part)
        : device_(device), net_(net), kernels_(kernels), outer_(outer), part_(part) {}

    /// The results of all steps. `states` are those before the first step, in the order of the part, and become those after each
    /// sequence's last.
    Value forward(Value const& x, std::span<Value> states);

    /// From the gradient of the results of all steps; `states` are the gradients of the last states and become those of the first ones.
    void backward(Value const& out_grad, std::span<Value> states);

    /// After backward: the gradient of x, empty if there is none.
    Value x_grad() { return net_.x_grad == nullptr ? Value() : whole(net_.place(*net_.x_grad)).share(); }

    /// After backward: adds what reaches an outer variable to `parts`.
    void outer_grad(std::size_t k, Buffer<Value*>& parts);

private:
    std::size_t number(Variable const& v) const { return net_.place(v).number; }
    Value& packed(Variable const& v) { return part_.packed[number(v)]; }
    Value joined(Value& first, Value& second) const { return Value::concat(device_, std::array{&first, &second}); }

    Value& state_after(std::size_t m, std::size_t t) { return step_value(net_.place(*net_.memories[m].after), t); }

    /// The state of every sequence after its last step: step t has those that end there last.
    Value ends(std::size_t m, Value const& boot);

    // Of all steps.
    Value& whole(Place const& place);

    Value& step_value(Place const& place, std::size_t t);

    // For rows [first, first + rows) of the part.
    template <class In, class Out>
    void run(StepOp const& op, std::size_t first, std::size_t rows, In const& in, Out const& out) {
        inputs_.clear();
        outputs_.clear();
        for (Place const& place : op.in) inputs_.push_back(&in(place));
        for (Place const& place : op.out) outputs_.push_back(&out(place));
        Operator const& o = *op.op;
        run_named(o, [&] {
            try {
                o.code->run(device_, inputs_, outputs_, o.attributes.get(), o.levels_from);
            } catch (IndexError const& e) {
                throw e.moved_to(e.field(), position_in_batch(op, e, first, rows));
            }
        });
    }
    void run_whole(StepOp const& op);
    void run_step(StepOp const& op, std::size_t t);

    // Rows stand in the order of steps: where in the batch is what an operator has complained of?
    std::size_t position_in_batch(StepOp const& op, IndexError const& e, std::size_t first, std::size_t rows) const;

    void const* device_;
    StepNet const& net_;
    LoopKernels const& kernels_;
    std::span<Value* const> outer_;
    RnnPart& part_;
    Buffer<Value*> inputs_, outputs_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/detail/rnn_run_inl.hpp>
