// tests/odr_b.cpp: the other file.
#include <rowan/rowan.hpp>
#ifdef WITH_NANOPB
#include <rowan/io.hpp>
#endif

rowan::Tensor<float> other_file() {
    rowan::Tensor<float> param{{1, 1}, {1, 1}, {1, 1}};
    rowan::sgd(param, rowan::SelectedRows<float>(3, {2, 0, 2}, {{1, 2}, {3, 4}, {1, 2}}), 0.5f);
    return rowan::gather(param, {0, 1, 2});
}
