// rowan/compiled/operators_sampled.cpp: the compiled library's losses of sampled classes.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_OPERATORS
#endif
#include <rowan/compiled/functions.hpp>
#include <rowan/compiled/operators.hpp>
#include <rowan/op/loss/nce.hpp>
#include <rowan/op/loss/negative_sampling.hpp>
#include <rowan/op/loss/sample_classes.hpp>
#include <rowan/op/loss/sampled_softmax.hpp>

namespace rowan::inline v0::detail {

using sampled_ops = registry<nce_op, negative_sampling_op, sample_classes_op, sampled_softmax_op>;

[[gnu::used]] static Kernels sampled_operators_of_float() { return compile_operators<float>(sampled_ops{}); }
[[gnu::used]] static Kernels sampled_operators_of_double() { return compile_operators<double>(sampled_ops{}); }

[[gnu::used]] static void losses_of_float(Cpu exec, LoDTensor<float> const& rows, Tensor<float> const& x, HuffmanTree const& tree,
                                           Ids<> const& label, Tensor<std::int32_t> const& ids) {
    call_losses(exec, rows, x, tree, label, ids);
}
[[gnu::used]] static void losses_of_double(Cpu exec, LoDTensor<double> const& rows, Tensor<double> const& x, HuffmanTree const& tree,
                                            Ids<> const& label, Tensor<std::int32_t> const& ids) {
    call_losses(exec, rows, x, tree, label, ids);
}

void add_rules_of_sampled_losses(CompiledRules& rules) {
    compile_gradients<float>(rules, sampled_ops{});
    compile_gradients<double>(rules, sampled_ops{});
}

}  // namespace rowan::inline v0::detail
