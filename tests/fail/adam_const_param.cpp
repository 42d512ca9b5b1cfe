// expect: no matching function for call to .*adam
#include <rowan/sparse/adam.hpp>

#ifdef ROWAN_VALID_TWIN
using table = rowan::Tensor<float>;
#else
using table = rowan::Tensor<float> const;
#endif

void step(table& param, rowan::Tensor<float>& m, rowan::Tensor<float>& v, rowan::SelectedRows<float> const& grad) {
    rowan::adam(param, m, v, grad, {.step = 2});
}
