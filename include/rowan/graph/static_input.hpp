// rowan/graph/static_input.hpp: static_kernel, the operator that marks a static input of a step.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/infer.hpp>

#include <string_view>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

struct static_input_op : whole_op {
    static constexpr std::string_view name = "static_input";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static std::vector<VarSpec> infer(Specs in, AttributesRef) {
        spec::dense("static_input: x", in[0]);
        spec::has_rows("static_input: x", in[0]);
        VarSpec out = in[0];
        out.dims[0] = UNK;
        return {out};
    }
    static void run(KernelCall const&) {
        throw GraphError("a static input is read outside the step of a recurrent layer: create it in the step");
    }
};

}  // namespace detail

/// The operator of a static input. Input: an outer variable with one sequence or row for each sequence that the
/// recurrent layer iterates over. Result: those of the sequences that have the step. The recurrent layer computes it.
inline constexpr op_kernel const& static_kernel = detail::whole_kernel<detail::static_input_op>::value;

}  // namespace rowan::inline v0
