// tests/op/batched_matmul.cpp: products of batches of matrices are those of their matrices.
#include <rowan/op/matrix/matmul.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace test_batched_matmul {

using namespace rowan;
using Shape = Tensor<double>::shape_type;

constexpr VarSpec ragged = tensor_spec<float>({UNK, 3, 4}, 1);
static_assert(matmul_op::infer(ragged, tensor_spec<float>({UNK, 4, 5})) == tensor_spec<float>({UNK, 3, 5}, 1));
static_assert(matmul_op::infer(ragged, ragged, {.transpose_y = true}) == tensor_spec<float>({UNK, 3, 3}, 1));
static_assert(matmul_op::infer(ragged, tensor_spec<float>({4, 5})) == tensor_spec<float>({UNK, 3, 5}, 1));
static_assert(matmul_op::infer(tensor_spec<float>({2, 3}), ragged) == tensor_spec<float>({UNK, 2, 4}, 1));
static_assert(matmul_op::infer(ragged, tensor_spec<float>({2, 1, 4, 5})) == tensor_spec<float>({2, UNK, 3, 5}));
static_assert(matmul_op::infer(tensor_spec<float>({UNK, 4}, 1), tensor_spec<float>({5, UNK}, 1), {true, true}) == tensor_spec<float>({4, 5}));

Shape batch_of(Shape shape) {
    shape.resize(shape.size() - 2);
    return shape;
}

/// The matrix of an operand for matrix `at` of the result.
Tensor<float> matrix(Tensor<float> const& t, Shape const& result, std::size_t at) {
    Shape const batch = batch_of(t.shape());
    std::size_t const skip = result.size() - 2 - batch.size();
    std::size_t offset = 0, step = 1;
    for (std::size_t i = result.size() - 2; i-- > 0; at /= result[i]) {
        if (i < skip) continue;
        std::size_t const dim = batch[i - skip];
        if (dim != 1) offset += at % result[i] * step;
        step *= dim;
    }
    Shape const of_one{t.shape(t.dimension() - 2), t.shape().back()};
    auto one = Tensor<float>::from_shape(of_one);
    std::copy_n(t.data() + offset * one.size(), one.size(), one.data());
    return one;
}

void check(Shape const& a, Shape const& b) {
    CAPTURE(rowan::detail::shape_text(a), rowan::detail::shape_text(b));
    for (int flags = 0; flags < 4; ++flags) {
        bool const tx = flags % 2 == 1, ty = flags > 1;
        Shape xs = a, ys = b;
        if (tx) std::swap(xs[xs.size() - 1], xs[xs.size() - 2]);
        if (ty) std::swap(ys[ys.size() - 1], ys[ys.size() - 2]);
        auto const x = inputs::wild<float>(xs, 1), y = inputs::wild<float>(ys, 2);
        auto const got = matmul(x, y, tx, ty);
        std::size_t const size = got.shape(got.dimension() - 2) * got.shape().back();
        for (std::size_t at = 0; at * size < got.size(); ++at) {
            auto const want = matmul(matrix(x, got.shape(), at), matrix(y, got.shape(), at), tx, ty);
            auto one = Tensor<float>::from_shape(want.shape());
            std::copy_n(got.data() + at * size, size, one.data());
            REQUIRE(reference::same(one, want));
        }
    }
}

TEST_CASE("products of batches equal NumPy's matmul", "[op][golden]") {
    Tensor<float> const x{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, y{{{1, 0}, {0, 1}}, {{0, 1}, {2, 0}}};
    CHECK((matmul(x, y) == Tensor<float>{{{1, 2}, {3, 4}}, {{12, 5}, {16, 7}}}));
    CHECK((matmul(x, y, true) == Tensor<float>{{{1, 3}, {2, 4}}, {{14, 5}, {16, 6}}}));
    CHECK((matmul(x, y, false, true) == Tensor<float>{{{1, 2}, {3, 4}}, {{6, 10}, {8, 14}}}));
    CHECK((matmul(x, y, true, true) == Tensor<float>{{{1, 3}, {2, 4}}, {{7, 10}, {8, 12}}}));
    CHECK((matmul(x, Tensor<float>{{1}, {10}}) == Tensor<float>{{{21}, {43}}, {{65}, {87}}}));
}

TEST_CASE("a product of batches has the bits of the products of its matrices", "[op]") {
    check({5, 7, 9}, {5, 9, 4});
    check({1, 7, 9}, {5, 9, 4});
    check({2, 1, 3, 17}, {4, 17, 5});
    check({3, 17}, {2, 3, 17, 5});
    check({2, 3, 4, 17}, {17, 5});
    check({2, 1, 2, 1, 2, 1, 3, 5}, {1, 2, 1, 2, 1, 2, 5, 4});
    check({300, 1, 8}, {300, 8, 1});
    check({0, 3, 2}, {0, 2, 3});
    check({0, 3, 2}, {1, 2, 3});
    check({2, 0, 2}, {2, 2, 3});
    CHECK((matmul(Tensor<float>::from_shape({2, 2, 0}), Tensor<float>::from_shape({2, 0, 1})) == Tensor<float>{{{0}, {0}}, {{0}, {0}}}));
    CHECK((matmul(Tensor<float>::from_shape({2, 1, 0}), Tensor<float>::from_shape({0, 1})) == Tensor<float>{{{0}}, {{0}}}));
}

TEST_CASE("products of batches and their gradients have the same bits for any number of threads", "[op]") {
    auto const many = inputs::wild<float>({200, 30, 40}, 1), more = inputs::wild<float>({200, 40, 20}, 2), few = inputs::wild<float>({1, 40, 300}, 3);
    auto const wide = inputs::wild<bfloat16>({3, 70, 90}, 4);
    test::check_any_threads([&](Cpu exec) { return matmul(exec, many, more); });
    test::check_any_threads([&](Cpu exec) { return matmul(exec, many, few); });
    test::check_any_threads([&](Cpu exec) { return matmul(exec, wide, wide, true, false); });
    auto const g = matmul(many, few);
    test::check_any_threads([&](Cpu exec) { return matmul_grad_op<true>::run(exec, many, few, g); });
    test::check_any_threads([&](Cpu exec) { return matmul_grad_op<false>::run(exec, many, few, g); });
}

TEST_CASE("gradients of 16-bit matrices are narrowed after the sum over the batch", "[op]") {
    auto const x = inputs::wild<bfloat16>({70, 3, 4}, 5), y = inputs::wild<bfloat16>({1, 4, 2}, 6), g = inputs::wild<bfloat16>({70, 3, 2}, 7);
    auto const wide = [](Tensor<bfloat16> const& t) {
        auto w = Tensor<float>::from_shape(t.shape());
        std::copy(t.begin(), t.end(), w.begin());
        return w;
    };
    auto const sum = matmul_grad_op<true>::run(Cpu{}, x, y, g);
    auto const want = matmul_grad_op<true>::run(Cpu{}, wide(x), wide(y), wide(g));
    REQUIRE(sum.shape() == y.shape());
    for (std::size_t i = 0; i < sum.size(); ++i) CHECK(sum.data()[i] == bfloat16(want.data()[i]));
}

}  // namespace test_batched_matmul
