// tests/op/sum.cpp
#include <rowan/op/elementwise/sum.hpp>

#include "inputs.hpp"
#include "reference.hpp"
#include "refused.hpp"
#include "xtensor.hpp"

#include <algorithm>
#include <cmath>

namespace test_sum {

using rowan::Cpu, rowan::SelectedRows, rowan::sum_op, rowan::Tensor;
using rowan::selected_rows_spec, rowan::tensor_spec, rowan::UNK;

TEST_CASE("the sum of tensors is added in their order", "[op]") {
    std::vector<Tensor<float>> const x{{1e8f, 1}, {1, 2}, {-1e8f, 3}};
    CHECK((rowan::sum(Cpu{}, x) == Tensor<float>{0, 6}));  // 1e8 + 1 is 1e8
}

TEST_CASE("the sum of row-sparse gradients has the rows of all, unmerged; with a tensor it is dense", "[op]") {
    std::vector<SelectedRows<float>> const sparse{{4, {1, 3}, {{1, 2}, {3, 4}}}, {4, {1}, {{10, 20}}}};
    auto const rows = rowan::sum(Cpu{}, sparse);
    CHECK((std::vector(rows.rows().begin(), rows.rows().end()) == std::vector<std::int64_t>{1, 3, 1}));
    CHECK((rows.value() == Tensor<float>{{1, 2}, {3, 4}, {10, 20}}));
    CHECK(!rows.merged());  // what uses the sum merges it, or need not
    CHECK((rowan::merge(rows) == SelectedRows<float>(4, {1, 3}, {{11, 22}, {3, 4}})));
    std::vector<Tensor<float>> const dense{Tensor<float>::full({4, 2}, 1)};
    CHECK((rowan::sum(Cpu{}, dense, sparse) == Tensor<float>{{1, 1}, {12, 23}, {1, 1}, {4, 5}}));
    CHECK((dense[0] == Tensor<float>::full({4, 2}, 1)));
}

TEST_CASE("a sum of 16-bit tensors and rows is rounded once", "[op]") {
    using T = rowan::bfloat16;
    std::vector<Tensor<T>> const dense{{{256}, {1}}, {{1}, {2}}};
    std::vector<SelectedRows<T>> const sparse{{2, {0, 0}, {{1}, {1}}}, {2, {0}, {{1}}}};
    CHECK((rowan::sum(Cpu{}, dense, sparse) == Tensor<T>{{260}, {3}}));  // 256 + 1 is 256
}

TEST_CASE("sum names the input whose shape differs from that of the others", "[op]") {
    std::vector<Tensor<float>> const third{{1, 2}, {1, 2}, {1, 2, 3}}, first{{1, 2, 3}, {1, 2}, {1, 2}}, dense{Tensor<float>::zeros({5, 1})};
    std::vector<SelectedRows<float>> const sparse{{4, {1}, {{1}}}, {4, {1}, {{1}}}, {5, {1}, {{1}}}}, wide{{4, {1}, {{1, 2}}}, {5, {1}, {{1}}}};
    auto const text = [](auto const&... x) { return test::refusal<rowan::ShapeError>([&](Cpu exec) { rowan::sum(exec, x...); }); };
    CHECK(text(first) == "x[0].shape() is [3], expected [2]");
    CHECK(text(dense, std::vector{sparse[0], sparse[1]}) == "dense[0].shape() is [5, 1], expected [4, 1]");
    CHECK(text(dense, wide) == "sparse[0].shape() is [4, 2], expected [5, 1]");
    CHECK(text(std::vector<Tensor<float>>{}, sparse) == "dense.size() is 0, expected at least 1");
    std::array const specs{tensor_spec<float>({UNK, 2}), tensor_spec<float>({UNK, 2}), tensor_spec<float>({UNK, 3})};
    CHECK(test::refusal<rowan::ShapeError>([&] { sum_op::infer(specs); }) == "sum: x[2].shape(1) is 3, expected 2");
}

constexpr std::array mixed{selected_rows_spec<float>({9, 2}), tensor_spec<float>({UNK, 2})};
static_assert(sum_op::infer(mixed) == tensor_spec<float>({9, 2}));
static_assert(sum_op::infer(std::span(mixed).first(1)) == selected_rows_spec<float>({9, 2}));

TEST_CASE("the gradient of a sum with row-sparse terms equals central differences", "[op]") {
    auto const weights = test::values({5, 2}, 1);  // cost = Σ weights · sum(dense, sparse)
    std::vector<Tensor<double>> dense{test::values({5, 2}, 2)};
    std::vector<SelectedRows<double>> sparse{{5, {3, 0, 3}, test::values({3, 2}, 3)}, {5, {}, Tensor<double>::from_shape({0, 2})}, {5, {4}, test::values({1, 2}, 4)}};
    auto const cost = [&] { return xt::sum(weights * rowan::sum(Cpu{}, dense, sparse))(); };
    auto const [dense_grads, sparse_grads] = rowan::sum_grad_op::run(Cpu{}, dense, sparse, weights);
    auto const check = [&](Tensor<double>& x, Tensor<double> const& grad) {
        REQUIRE(grad.shape() == x.shape());
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const before = x.data()[i], step = 1e-4;
            x.data()[i] = before + step;
            double const above = cost();
            x.data()[i] = before - step;
            double const below = cost();
            x.data()[i] = before;
            CHECK(std::abs((above - below) / (2 * step) - grad.data()[i]) < 1e-9);
        }
    };
    check(dense[0], dense_grads[0]);
    for (std::size_t k = 0; k < sparse.size(); ++k) {
        CHECK(std::ranges::equal(sparse_grads[k].rows(), sparse[k].rows()));
        check(sparse[k].value(), sparse_grads[k].value());
    }
}

}  // namespace test_sum
