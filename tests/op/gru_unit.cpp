// tests/op/gru_unit.cpp
#include <rowan/op/recurrent/gru_unit.hpp>

#include "check_gradients.hpp"
#include "reference.hpp"
#include "refused.hpp"

#include <cmath>

namespace test_gru_unit {

using rowan::Cpu, rowan::Tensor, rowan::gru_unit_op, rowan::tensor_spec, rowan::UNK;

TEST_CASE("a GRU step equals its formulas, element by element", "[op]") {
    std::size_t const n = 3, size = 5;
    auto const x = test::values({n, 3 * size}, 1), h = test::values({n, size}, 2), w = test::values({size, 3 * size}, 3);
    auto const b = test::values({3 * size}, 4);
    Tensor<double> const next = std::get<0>(rowan::gru_unit(Cpu{}, x, h, w, b));
    auto const sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < size; ++k) {
            auto const g = [&](std::size_t gate) {
                double sum = b(gate * size + k);
                for (std::size_t j = 0; j < size; ++j) sum += h(i, j) * w(j, gate * size + k);
                return sum;
            };
            double const r = sigmoid(x(i, k) + g(0)), z = sigmoid(x(i, size + k) + g(1));
            double const c = std::tanh(x(i, 2 * size + k) + r * g(2));
            CHECK(next(i, k) == Approx((1 - z) * c + z * h(i, k)).epsilon(1e-13));
        }
    }
}

TEST_CASE("a GRU's step has the same bits for any number of threads", "[op]") {
    auto const x = inputs::wild<float>({3'000, 96}, 1), h = inputs::wild<float>({3'000, 32}, 2), w = inputs::wild<float>({32, 96}, 3);
    auto const b = inputs::wild<float>({96}, 4);
    auto const [one, saved] = rowan::gru_unit(Cpu{1}, x, h, w, b);
    auto const grads = rowan::gru_unit_op::backward(Cpu{1}, saved, h, w, one);
    for (int const threads : {2, 8}) {
        auto const again = rowan::gru_unit(Cpu{threads}, x, h, w, b);
        CHECK((reference::same(std::get<0>(again), one) && reference::same(std::get<1>(again), saved)));
        auto const back = rowan::gru_unit_op::backward(Cpu{threads}, saved, h, w, one);
        CHECK((reference::same(std::get<0>(back), std::get<0>(grads)) && reference::same(std::get<2>(back), std::get<2>(grads))));
    }
}

TEST_CASE("a GRU step throws for shapes that do not match", "[op]") {
    auto const text = [](Tensor<float>::shape_type const& x, Tensor<float>::shape_type const& w, Tensor<float>::shape_type const& b) {
        auto const h = Tensor<float>::zeros({2, 4});
        return test::refusal<rowan::ShapeError>(
            [&](Cpu exec) { rowan::gru_unit(exec, Tensor<float>::zeros(x), h, Tensor<float>::zeros(w), Tensor<float>::zeros(b)); });
    };
    CHECK(text({3, 12}, {4, 12}, {12}) == "x.shape(0) is 3, expected 2, the rows of h_prev");
    CHECK(text({2, 13}, {4, 12}, {12}) == "x.shape(1) is 13, expected 12, the gates times the width of h_prev");
    CHECK(text({2, 12}, {3, 12}, {12}) == "w.shape(0) is 3, expected 4, the width of h_prev");
    CHECK(text({2, 12}, {4, 12}, {3}) == "b.shape() is [3], expected [12]");
    CHECK(text({12}, {4, 12}, {12}) == "x rank is 1, expected 2");
    auto const saved = [](std::int64_t size) {
        return gru_unit_op::infer(tensor_spec<float>({UNK, UNK}), tensor_spec<float>({UNK, size}), tensor_spec<float>({UNK, UNK}), tensor_spec<float>({UNK}))[1].dims[1];
    };
    CHECK(saved((std::int64_t{1} << 61) - 1) == 4 * ((std::int64_t{1} << 61) - 1));
    CHECK_THROWS_WITH(saved(std::int64_t{1} << 61), "gru_unit: h_prev.shape(1) is 2305843009213693952, expected at most 2305843009213693951");
    CHECK_THROWS_WITH(saved(std::int64_t{1} << 62), "cell: h_prev.shape(1) is 4611686018427387904, expected at most 3074457345618258602");
}

static_assert(gru_unit_op::infer(tensor_spec<float>({UNK, 12}, 1), tensor_spec<float>({UNK, 4}), tensor_spec<float>({4, 12}),
                                 tensor_spec<float>({12}))[0] == tensor_spec<float>({UNK, 4}, 1));

}  // namespace test_gru_unit
