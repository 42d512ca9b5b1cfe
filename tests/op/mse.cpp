// tests/op/mse.cpp: means of squared differences, and both gradients.
#include <rowan/op/loss/mse.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"

#include <vector>
#include <cmath>
#include <limits>

namespace test_mse {

using rowan::bfloat16, rowan::Cpu, rowan::mse, rowan::mse_op, rowan::ShapeError, rowan::Tensor,
    rowan::tensor_spec, rowan::UNK;

static_assert(mse_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK})) == tensor_spec<float>({1}));
static_assert(rowan::gradient_operator<mse_op>::infer(tensor_spec<float>({UNK, 3}), tensor_spec<float>({4, UNK}), tensor_spec<float>({UNK}))[1] == tensor_spec<float>({4, UNK}));

namespace {

// The promised order, one number at a time.
template <class T>
T plain_mse(Tensor<T> const& x, Tensor<T> const& y) {
    using S = typename rowan::dtype<T>::sum;
    std::vector<S> blocks;
    for (std::size_t begin = 0; begin < x.size(); begin += 4096) {
        std::vector<S> squares;
        for (std::size_t i = begin; i < x.size() && i < begin + 4096; ++i) {
            S const d = S(x.data()[i]) - S(y.data()[i]);
            squares.push_back(reference::product(d, d));
        }
        blocks.push_back(reference::row_sum(squares));
    }
    return T(reference::row_sum(blocks) / static_cast<S>(x.size()));
}

}  // namespace

TEST_CASE("mse is the mean of the squares", "[op][golden]") {
    Tensor<double> const x{{1, 2}, {3, 4}}, y{{1, 4}, {0, 3}};  // 0 + 4 + 9 + 1
    CHECK((mse(x, y) == Tensor<double>{3.5}));
    auto const [x_grad, y_grad] = rowan::mse_op::backward(rowan::Cpu{}, x, y, Tensor<double>{2});
    CHECK((x_grad == Tensor<double>{{0, -2}, {3, 1}}));
    CHECK((y_grad == Tensor<double>{{0, 2}, {-3, -1}}));
    CHECK((mse(Tensor<float>{}, Tensor<float>{}) == Tensor<float>{0}));
}

TEST_CASE("mse without reduction gives the squares, and their sum", "[op][golden]") {
    using rowan::Reduction;
    Tensor<double> const x{{1, 2}, {3, 4}}, y{{1, 4}, {0, 3}}, g{{5, 1}, {2, -1}};
    CHECK((mse(x, y, {Reduction::none}) == Tensor<double>{{0, 4}, {9, 1}}));
    CHECK((mse(x, y, {Reduction::sum}) == Tensor<double>{14}));
    auto const [x_each, y_each] = rowan::mse_op::backward(rowan::Cpu{}, x, y, g, {Reduction::none});
    CHECK((x_each == Tensor<double>{{0, -4}, {12, -2}}));
    CHECK((y_each == Tensor<double>{{0, 4}, {-12, 2}}));
    auto const [x_sum, y_sum] = rowan::mse_op::backward(rowan::Cpu{}, x, y, Tensor<double>{0.5}, {Reduction::sum});
    CHECK((x_sum == Tensor<double>{{0, -2}, {3, 1}}));
    CHECK((y_sum == Tensor<double>{{0, 2}, {-3, -1}}));
    CHECK(mse_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK}), {Reduction::none}) == tensor_spec<float>({4, 3}, 1));
    for (Reduction const reduction : {Reduction::none, Reduction::sum}) {
        auto const a = inputs::wild<float>({rowan::detail::serial_below + 77}, 1), b = inputs::wild<float>({rowan::detail::serial_below + 77}, 2);
        test::check_any_threads([&](Cpu exec) { return mse(exec, a, b, {reduction}); });
    }
}

TEMPLATE_TEST_CASE("mse has the bits of the plain loop, on any number of threads", "[op]", float, double, bfloat16) {
    for (std::size_t const n : std::vector<std::size_t>{1, 17, 4095, 4096, 4097, 100'000, 2 * rowan::detail::serial_below + 77}) {
        auto const x = inputs::wild<TestType>({n}, 1), y = inputs::wild<TestType>({n}, 2);
        CHECK(reference::same(mse(Cpu{8}, x, y), Tensor<TestType>{plain_mse(x, y)}));
        test::check_any_threads([&](Cpu exec) { return mse(exec, x, y); });
        test::check_any_threads([&](Cpu exec) { return rowan::mse_op::backward(exec, x, y, mse(x, y)); });
    }
}

TEST_CASE("the mean of squares fits also where their sum overflows", "[op]") {
    auto const x = Tensor<float>::full({3, 5000}, 1.5e19F), zeros = Tensor<float>::zeros({3, 5000});
    CHECK(std::abs(mse(x, zeros)(0) / 2.25e38F - 1) < 1e-6F);
    CHECK(mse(x, zeros, {rowan::Reduction::sum})(0) == std::numeric_limits<float>::infinity());
    CHECK(std::abs(mse(Tensor<float>{3e19F, 0, 0, 0}, Tensor<float>{0, 0, 0, 0})(0) / 2.25e38F - 1) < 1e-6F);
    CHECK(mse(Tensor<float>{3e20F, 0}, Tensor<float>{0, 0})(0) == std::numeric_limits<float>::infinity());
    test::check_any_threads([&](Cpu exec) { return mse(exec, x, zeros); });
}

}  // namespace test_mse
