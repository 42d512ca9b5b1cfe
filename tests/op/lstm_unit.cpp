// tests/op/lstm_unit.cpp
#include <rowan/op/recurrent/lstm_unit.hpp>

#include "inputs.hpp"
#include "reference.hpp"
#include "refused.hpp"

#include <cmath>

namespace test_lstm_unit {

using rowan::Cpu, rowan::Tensor, rowan::lstm_unit_op, rowan::tensor_spec, rowan::UNK;

TEST_CASE("an LSTM step equals its formulas, element by element", "[op]") {
    std::size_t const n = 3, size = 5;
    auto const x = test::values({n, 4 * size}, 1), h = test::values({n, size}, 2), c = test::values({n, size}, 5);
    auto const w = test::values({size, 4 * size}, 3), b = test::values({4 * size}, 4);
    auto const out = rowan::lstm_unit(Cpu{}, x, h, c, w, b);
    auto const sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < size; ++k) {
            auto const g = [&](std::size_t gate) {
                double sum = x(i, gate * size + k) + b(gate * size + k);
                for (std::size_t j = 0; j < size; ++j) sum += h(i, j) * w(j, gate * size + k);
                return sum;
            };
            double const cell = sigmoid(g(1)) * c(i, k) + sigmoid(g(0)) * std::tanh(g(2));
            CHECK(std::get<1>(out)(i, k) == Approx(cell).epsilon(1e-13));
            CHECK(std::get<0>(out)(i, k) == Approx(sigmoid(g(3)) * std::tanh(cell)).epsilon(1e-13));
        }
    }
}

TEST_CASE("an LSTM step throws for shapes that do not match", "[op]") {
    auto const text = [](Tensor<float>::shape_type const& x, Tensor<float>::shape_type const& c) {
        auto const h = Tensor<float>::zeros({2, 4}), w = Tensor<float>::zeros({4, 16}), b = Tensor<float>::zeros({16});
        return test::refusal<rowan::ShapeError>(
            [&](Cpu exec) { rowan::lstm_unit(exec, Tensor<float>::zeros(x), h, Tensor<float>::zeros(c), w, b); });
    };
    CHECK(text({2, 16}, {2, 3}) == "c_prev.shape() is [2, 3], expected [2, 4]");
    auto const wide = tensor_spec<float>({UNK, (std::int64_t{1} << 61) - 1}), open = tensor_spec<float>({UNK, UNK});
    CHECK_THROWS_WITH(lstm_unit_op::infer(open, wide, open, open, tensor_spec<float>({UNK})), "lstm_unit: h_prev.shape(1) is 2305843009213693951, expected at most 1844674407370955161");
    CHECK_THROWS_WITH(rowan::lstm_unit_op::infer_backward(open, tensor_spec<float>({UNK, std::int64_t{1} << 61}), open, open),
                      "lstm_unit: c_prev.shape(1) is 2305843009213693952, expected at most 2305843009213693951");
}

static_assert(lstm_unit_op::infer(tensor_spec<float>({UNK, 16}), tensor_spec<float>({UNK, 4}), tensor_spec<float>({UNK, 4}),
                                  tensor_spec<float>({4, 16}), tensor_spec<float>({16}))[2] == tensor_spec<float>({UNK, 20}));

}  // namespace test_lstm_unit
