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

ROWAN_CALLED_FUNCTION Value LoopKernels::total(AnyExec exec, std::span<Value* const> summands) const {
    if (summands.size() == 1) return std::move(*summands[0]);
    Value sum_of_all;
    std::array<Value*, 1> const out{&sum_of_all};
    sum->run({.exec = exec, .in = summands, .out = out});
    return sum_of_all;
}

ROWAN_CALLED_FUNCTION Value LoopKernels::widened(AnyExec exec, Value& x) const { return converted(widen, exec, x); }

ROWAN_CALLED_FUNCTION Value LoopKernels::narrowed(AnyExec exec, Value& x) const { return converted(narrow, exec, x); }

ROWAN_CALLED_FUNCTION Value LoopKernels::converted(op_kernel const* cast, AnyExec exec, Value& x) {
    if (cast == nullptr) return x.share();
    Value result;
    std::array<Value*, 1> const in{&x}, out{&result};
    cast->run({.exec = exec, .in = in, .out = out});
    return result;
}

ROWAN_CALLED_FUNCTION Value LoopKernels::sum_of_widened(AnyExec exec, Value& x, Value& y) const {
    Value result;
    std::array<Value*, 2> const in{&x, &y};
    std::array<Value*, 1> const out{&result};
    sum_of_wide->run({.exec = exec, .in = in, .out = out});
    return result;
}

}  // namespace rowan::inline v0::detail

#endif
