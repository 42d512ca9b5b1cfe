// A custom element type: 16-bit fixed point with eight bits after the point. It only needs a specialization of
// rowan::dtype. Sums are computed in float and rounded once, when a row is stored.
//
//     units   384  -384          table   1.5   -1.5     rows [1 1]     value [1 2]     summed   1: [3 4]
//              64 25600                  0.25 100                            [2 2]
#include <rowan/sparse.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

struct fixed16 {
    std::int16_t units;  // of 1/256
};

template <>
struct rowan::dtype<fixed16> {
    using sum = float;
    static constexpr std::string_view name = "fixed16";
    static constexpr std::int32_t wire = 1000;
    static constexpr sum widen(fixed16 x) { return static_cast<float>(x.units) / 256.0f; }
    static fixed16 narrow(sum x) {
        return {static_cast<std::int16_t>(std::clamp(std::nearbyint(x * 256.0f), -32768.0f, 32767.0f))};
    }
};

int main() {
    rowan::Tensor<fixed16> table{{1.5, -1.5}, {0.25, 100}};  // half the memory of float
    auto moment = rowan::Tensor<float>::zeros({2, 2});         // the optimizer's state stays exact
    rowan::SelectedRows<float> grad(2, {1, 1}, {{1, 2}, {2, 2}});

    rowan::adagrad(table, moment, grad, {.learning_rate = 0.5});
    for (std::size_t i = 0; i < 2; ++i) {
        std::cout << rowan::dtype<fixed16>::widen(table(i, 0)) << ' ' << rowan::dtype<fixed16>::widen(table(i, 1)) << '\n';
    }
}
