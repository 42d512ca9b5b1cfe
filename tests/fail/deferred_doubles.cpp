// expect: rowan::Deferred: a gradient of doubles needs a parameter or a state of doubles
#include <rowan/sparse/deferred.hpp>

int main() {
    auto param = rowan::Tensor<float>::zeros({3, 1});
    rowan::Deferred<rowan::SgdOptions> deferred(3);
    deferred.step(rowan::SelectedRows<double>(3, {1}, {{1}}), {}, param);
}
