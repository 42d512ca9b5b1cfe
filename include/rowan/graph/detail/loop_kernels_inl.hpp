// rowan/graph/detail/loop_kernels_inl.hpp: definitions of rowan/graph/detail/loop_kernels.hpp.
#pragma once

#include <rowan/graph/detail/loop_kernels.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <array>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Value LoopKernels::zero_like(AnyExec exec, Value& x) const {
    Value result;
    std::array<Value*, 1> const in{&x}, out{&result};
    FullLikeOptions const options{0};
    full_like->run({.exec = exec, .in = in, .out = out, .attributes = AttributesRef(options)});
    return result;
}

ROWAN_FUNCTION Value LoopKernels::total(AnyExec exec, std::span<Value* const> summands) const {
    if (summands.size() == 1) return std::move(*summands[0]);
    Value sum_of_all;
    std::array<Value*, 1> const out{&sum_of_all};
    sum->run({.exec = exec, .in = summands, .out = out});
    return sum_of_all;
}

}  // namespace rowan::inline v0::detail

#endif
