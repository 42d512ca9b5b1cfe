// rowan/graph/rnn.hpp: the recurrent operator, a step net run over the steps of sequences, and its gradient.
#pragma once

#include <rowan/detail/rnn_run.hpp>
#include <rowan/detail/step_net.hpp>
#include <rowan/graph/op_code.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/sequence/step_map.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
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
    detail::StepNet net;           ///< what runs for all steps, and what step by step
    std::size_t level = 0;         ///< the level of x whose sequences are walked through
    bool reverse = false;          ///< from their ends to their beginnings
    bool runs_whole = false;       ///< and not in parts, see detail::runs_whole
    std::vector<bool>
        has_boot;  ///< of each memory: an input brings the state before the first step, a row for each sequence
    detail::LoopKernels kernels;  ///< how values of the element types and the device are made
    /// Adds the operators of the gradient, when a gradient is asked for.
    void (*build_backward)(RnnBlock&);
    /// Calls f(k, device) for k in [0, parts), several at a time where the device has threads.
    void (*for_parts)(void const* device, std::size_t parts, std::function<void(std::size_t, void const*)> const& f);

    /// How many memories have one.
    /// errors   none
    /// cost     O(states)
    std::size_t boots() const { return static_cast<std::size_t>(std::ranges::count(has_boot, true)); }
};

/// The values of all steps of a run, which the gradient needs: the scopes of the steps.
struct StepScopes {
    Lod lod;                                ///< of x
    Lod out_lod;                            ///< of the results
    detail::Buffer<detail::RnnPart> parts;  ///< of the sequences, which ran side by side
};

namespace detail {

/// Sequences are dealt out to parts of at least this many, which threads run at the same time. It does not depend on their number: so the
/// same sums are formed by any number of threads.
inline constexpr std::size_t rnn_part_size = 32;

class Recurrent {
public:
    Recurrent(void const* device, RnnBlock const& block, std::span<Value* const> in, StepScopes& scopes)
        : device_(device), block_(block), net_(block.net), in_(in), s_(scopes) {}

    /// out: the states after the last steps, the results of all steps
    void forward(std::span<Value* const> out) {
        Value const& x = *in_[0];
        Lod const lod = x.lod();
        std::size_t const levels = net_.x->spec().lod_level + block_.level + 1;
        if (lod.levels() != levels)
            throw ShapeError("x.lod().levels()", std::to_string(lod.levels()), std::to_string(levels));
        lod.check_rows(x.rows());
        StepMap<> const map(Cpu{.threads = 1}, lod, block_.level);
        s_.lod = lod;
        s_.parts.resize(net_.rows_apart && !block_.runs_whole
                            ? std::clamp<std::size_t>(map.sequences() / rnn_part_size, 1, 256)
                            : 1);
        for (std::size_t k = 0; k < s_.parts.size(); ++k) s_.parts[k].assign(map, k, s_.parts.size(), block_.reverse);
        auto states = first_states();
        Buffer<Value> results(s_.parts.size());
        Value const elements = without_upper_levels(x);
        auto const forward_part = [&](std::size_t k, void const* device) {
            results[k] = run(device, k).forward(elements, states[k]);
        };
        block_.for_parts(device_, s_.parts.size(), std::cref(forward_part));
        Value all = scatter(results, &RnnPart::elements);
        s_.out_lod = with_upper_levels(all.lod());
        *out[net_.memories.size()] = all.with_lod(s_.out_lod);
        for (std::size_t m = 0; m < net_.memories.size(); ++m) *out[m] = last(states, m).with_lod(outer_levels());
    }

    /// `grads`: for x, the boot states where there are some, and each outer variable.
    void backward(Value const& out_grad, std::span<Value* const> last_grads, std::span<Value* const> grads) {
        Buffer<Buffer<Value>> states(s_.parts.size());
        Value const elements = without_upper_levels(out_grad.with_lod(s_.out_lod));
        auto const backward_part = [&](std::size_t k, void const* device) {
            for (Value const* last : last_grads) {
                states[k].push_back(last->with_lod({}).gather(device, s_.parts[k].sequences));
            }
            run(device, k).backward(elements, states[k]);
        };
        block_.for_parts(device_, s_.parts.size(), std::cref(backward_part));
        x_grad(*grads[0]);
        std::size_t at = 1;
        for (std::size_t m = 0; m < net_.memories.size(); ++m) {
            if (block_.has_boot[m]) *grads[at++] = last(states, m);
        }
        for (std::size_t k = 0; k < net_.outer.size(); ++k) outer_grad(k, *grads[at + k]);
    }

private:
    std::span<Value* const> outer() const { return in_.subspan(1 + block_.boots()); }
    RnnRun run(void const* device, std::size_t k) { return {device, net_, block_.kernels, outer(), s_.parts[k]}; }

    // x has elements in its sequences of the level that is walked through: rows, or sequences of the level below.
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

    // Of each part, for each memory.
    Buffer<Buffer<Value>> first_states() const {
        std::size_t sequences = 0;
        for (RnnPart const& part : s_.parts) sequences += part.sequences.size();
        Buffer<Buffer<Value>> states(s_.parts.size());
        std::size_t at = 1;
        for (std::size_t m = 0; m < net_.memories.size(); ++m) {
            if (block_.has_boot[m] && in_[at]->rows() != sequences)
                throw ShapeError("boot.shape(0)", std::to_string(in_[at]->rows()),
                                 std::to_string(sequences) + ", the number of sequences");
            for (std::size_t k = 0; k < s_.parts.size(); ++k) {
                auto const& mine = s_.parts[k].sequences;
                states[k].push_back(block_.has_boot[m]
                                        ? in_[at]->with_lod({}).gather(device_, mine)
                                        : block_.kernels.zeros(device_, mine.size(), net_.memories[m].before->spec()));
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
        return Value::scatter(device_, parts, targets);
    }
    Value last(std::span<Buffer<Value>> states, std::size_t m) const {
        Buffer<Value> of_parts;
        for (auto& part : states) of_parts.push_back(part[m].share());
        return scatter(of_parts, &RnnPart::sequences);
    }

    void x_grad(Value& grad) {
        if (net_.x_grad == nullptr) {
            if (has_gradient(*net_.x)) grad = block_.kernels.zero_like(device_, *in_[0]);
            return;
        }
        Buffer<Value> of_parts;
        for (std::size_t k = 0; k < s_.parts.size(); ++k) {
            of_parts.push_back(s_.parts[k].count() == 0 ? without_upper_levels(*in_[0]).slice(0, 0)
                                                        : run(device_, k).x_grad());
        }
        grad = scatter(of_parts, &RnnPart::elements).with_lod(s_.lod);
    }

    // The sum of all that reaches an outer variable, from all parts and steps.
    void outer_grad(std::size_t k, Value& grad) {
        Buffer<Value*> summands;
        for (std::size_t part = 0; part < s_.parts.size(); ++part) {
            if (s_.parts[part].count() > 0) run(device_, part).outer_grad(k, summands);
        }
        if (summands.empty()) {
            if (all_row_sparse(net_.outer_grads[k])) {
                grad = block_.kernels.no_rows(device_, *outer()[k]);
            } else if (has_gradient(*net_.outer[k])) {
                grad = block_.kernels.zero_like(device_, *outer()[k]);
            }
        } else {
            grad = block_.kernels.total(device_, summands);
        }
    }
    bool has_gradient(Variable const& v) const { return v.spec().dtype == net_.out->spec().dtype; }

    void const* device_;
    RnnBlock const& block_;
    StepNet const& net_;
    std::span<Value* const> in_;
    StepScopes& s_;
};

inline void run_rnn(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
                    std::ptrdiff_t) {
    auto const& block = *static_cast<RnnBlock const*>(attributes);
    Value& scopes = *out.back();
    if (!scopes.is<StepScopes>()) scopes.set(StepScopes());
    Recurrent(device, block, in, scopes.get<StepScopes>()).forward(out);
}

// in: the inputs of the forward operator, its scopes, and the gradients of the results of all steps and of the last states
inline void run_rnn_grad(void const* device, std::span<Value* const> in, std::span<Value* const> out,
                         void const* attributes, std::ptrdiff_t) {
    auto const& block = *static_cast<RnnBlock const*>(attributes);
    std::size_t const n = in.size() - 2 - block.net.memories.size();
    Recurrent(device, block, in.first(n), in[n]->get<StepScopes>()).backward(*in[n + 1], in.subspan(n + 2), out);
}

inline std::vector<VarSpec> infer_rnn(std::span<VarSpec const> in, void const* attributes) {
    auto const& block = *static_cast<RnnBlock const*>(attributes);
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
    results.push_back({VarType::STEP_SCOPES, out.dtype, {}, 0});
    return results;
}

inline std::vector<VarSpec> infer_rnn_grad(std::span<VarSpec const> in, void const* attributes) {
    auto& block = const_cast<RnnBlock&>(*static_cast<RnnBlock const*>(attributes));
    block.build_backward(block);  // the first time that it is asked for
    std::vector<VarSpec> grads(in.begin(), in.end() - static_cast<std::ptrdiff_t>(2 + block.net.memories.size()));
    std::size_t const first = 1 + block.boots();
    for (std::size_t k = 0; k < block.net.outer.size(); ++k) {
        if (all_row_sparse(block.net.outer_grads[k])) grads[first + k].type = VarType::SELECTED_ROWS;
    }
    return grads;
}

inline constexpr std::array<std::string_view, 1> rnn_inputs{"x"};
inline constexpr std::array<std::string_view, 3> rnn_outputs{"last", "out", "scopes"};
inline constexpr std::array<std::string_view, 4> rnn_grad_inputs{"x", "scopes", "out@GRAD", "last@GRAD"};
inline constexpr std::array<std::string_view, 1> rnn_grad_outputs{"x@GRAD"};

// Within the step of another one: the last states and results are rows, as are the gradients of x and the boot states.
inline bool rnn_has_rows(void const* attributes, std::size_t i) {
    return i <= static_cast<RnnBlock const*>(attributes)->net.memories.size();
}
inline bool rnn_row_wise(void const* attributes) { return static_cast<RnnBlock const*>(attributes)->net.rows_apart; }
inline bool rnn_grad_has_rows(void const* attributes, std::size_t i) {
    return i <= static_cast<RnnBlock const*>(attributes)->boots();
}

inline constexpr op_code rnn_grad_code{"rnn_grad",    rnn_grad_inputs, rnn_grad_outputs, 0, false, &rnn_grad_has_rows,
                                       &rnn_row_wise, &infer_rnn_grad, &run_rnn_grad,    {}};
inline constexpr std::array<grad_slot, 4> rnn_reads{grad_slot{grad_slot::input, 0}, grad_slot{grad_slot::output, 2},
                                                    grad_slot{grad_slot::grad_of_output, 1},
                                                    grad_slot{grad_slot::grad_of_output, 0}};
inline constexpr std::array<grad_slot, 1> rnn_writes{grad_slot{grad_slot::grad_of_input, 0}};
inline constexpr std::array<rule_code, 1> rnn_rules{rule_code{&rnn_grad_code, rnn_reads, rnn_writes}};

}  // namespace detail

/// The recurrent operator: inputs are x, the boot states where there are some, and what the step reads from outside; results are the states
/// of every sequence after its last step, the outputs of all steps with the levels of x, and the scopes of the steps.
inline constexpr op_code rnn_code{"rnn",
                                  detail::rnn_inputs,
                                  detail::rnn_outputs,
                                  0,
                                  false,
                                  &detail::rnn_has_rows,
                                  &detail::rnn_row_wise,
                                  &detail::infer_rnn,
                                  &detail::run_rnn,
                                  detail::rnn_rules};

}  // namespace rowan::inline v0
