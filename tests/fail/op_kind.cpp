// expect: no matching function for call to .*sgd_op::run\(|no matching function for call to 'run'
#include <rowan/op/sgd.hpp>

int main() {
#ifdef ROWAN_VALID_TWIN
    rowan::Tensor<float> param{{1}};
#else
    rowan::SelectedRows<float> param(1, {0}, {{1}});
#endif
    rowan::sgd_op::run(rowan::Cpu{}, param, rowan::SelectedRows<float>(1, {0}, {{1}}), 0.1);
}
