// rowan/graph/detail/rnn_run.hpp: RnnPart, some sequences of a batch that a step net runs over.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/graph/detail/loop_kernels.hpp>
#include <rowan/graph/detail/step_net.hpp>
#include <rowan/sequence/step_map.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Some sequences of a batch, longest first, and the values of their steps.
struct RnnPart {
    Buffer<std::int64_t> sequences;  // indices in the batch
    Buffer<std::int64_t> starts;     // step t is elements [starts[t], starts[t + 1])
    Buffer<std::int64_t> elements;   // indices in the batch
    Buffer<Buffer<Value>> steps;     // [step][number of the variable]
    Buffer<Value> packed;            // [number of the variable]: the values of all steps, in step order
    Buffer<Value> statics;           // the static inputs of the sequences, and the sums of their gradients
    Buffer<Value> static_grads;

    /// Takes every `parts`-th sequence of a map, starting with `part`. If `reverse`, step 0 is the last element of each
    /// sequence.
    ROWAN_IF_CALLED void assign(StepMap<> const& map, std::size_t part, std::size_t parts, bool reverse);

    /// Resizes to the values of `variables` variables; those from number `from` on become empty.
    ROWAN_IF_CALLED void make_room(std::size_t variables, std::size_t from);

    ROWAN_IF_CALLED static void make_room(Buffer<Value>& values, std::size_t variables, std::size_t from);

    std::size_t count() const { return starts.size() - 1; }
    std::size_t size(std::size_t t) const {
        return t < count() ? static_cast<std::size_t>(starts[t + 1] - starts[t]) : 0;
    }
};

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/rnn_run_inl.hpp>
