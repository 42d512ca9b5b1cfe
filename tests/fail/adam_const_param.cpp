// expect: no matching function for call to .*adam
#include <rowan/sparse/adam.hpp>

using table = rowan::Tensor<float> const;

void step(table& param, rowan::Tensor<float>& m, rowan::Tensor<float>& v, rowan::SelectedRows<float> const& grad) {
    rowan::adam(param, m, v, grad, {.step = 2});
}
