// expect: rowan::gradients: pass one value for each slot of the operator
#include <rowan/op/gradients.hpp>
#include <rowan/op/elementwise/tanh.hpp>

void use(rowan::Tensor<float> const& out, rowan::Tensor<float> const& out_grad) {
    static_cast<void>(rowan::gradients<rowan::tanh_op>(rowan::Cpu{}, std::tie(), std::tie(out), std::tie(out_grad)));
}
