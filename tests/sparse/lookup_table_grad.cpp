// tests/sparse/lookup_table_grad.cpp: the gradient of a lookup, whose rows are the ids.
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/sgd.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace test_lookup_table_grad {

using inputs::Rows, inputs::Shape;
using rowan::Cpu, rowan::lookup_table_grad, rowan::SelectedRows, rowan::Tensor;

TEST_CASE("rows are the ids in order, duplicates kept, and the value is the output's gradient", "[lookup_table_grad]") {
    auto const g = lookup_table_grad({3, 1, 3}, Tensor<float>{{1, 2}, {3, 4}, {5, 6}}, 7);
    CHECK(g == SelectedRows<float>(7, {3, 1, 3}, {{1, 2}, {3, 4}, {5, 6}}));
    CHECK(!g.merged());
}

TEST_CASE("ids of any shape are flattened; the row shape is the rest of the output's shape", "[lookup_table_grad]") {
    Tensor<std::int32_t> const ids{{4, 0}, {2, 4}};
    auto const out_grad = inputs::wild<float>({2, 2, 3, 2}, 1);
    auto const g = lookup_table_grad(Cpu{.threads = 2}, ids, out_grad, 5);
    CHECK(reference::same(g, SelectedRows<float>(5, {4, 0, 2, 4}, out_grad.reshaped({4, 3, 2}))));
    CHECK(lookup_table_grad(ids, Tensor<float>{{1, 2}, {3, 4}}, 5) == SelectedRows<float>(5, {4, 0, 2, 4}, {1, 2, 3, 4}));
    CHECK(lookup_table_grad(Tensor<std::int64_t>::full({}, 3), Tensor<float>{1, 2}, 5) == SelectedRows<float>(5, {3}, {{1, 2}}));
}

TEST_CASE("rows of the padding id are left out", "[lookup_table_grad]") {
    Tensor<float> const out_grad{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    CHECK(lookup_table_grad({1, 3, 1, 0}, out_grad, 4, 1) == SelectedRows<float>(4, {3, 0}, {{3, 4}, {7, 8}}));
    CHECK(lookup_table_grad({1, 3, 1, 0}, out_grad, 4, 2) == SelectedRows<float>(4, {1, 3, 1, 0}, out_grad));
    CHECK(lookup_table_grad({1, 1, 1, 1}, out_grad, 4, 1) == SelectedRows<float>(4, {}, Tensor<float>::from_shape({0, 2})));
    auto const g = lookup_table_grad(Cpu{}, Tensor<std::int32_t>{{1, 3}, {2, 1}}, inputs::wild<float>({2, 2, 3, 1}, 1), 4, 1);
    CHECK(g.value().shape() == Shape{2, 3, 1});
    CHECK(std::ranges::equal(g.rows(), Rows{3, 2}));
}

TEST_CASE("the padding row of an embedding does not change", "[lookup_table_grad][golden]") {
    auto table = Tensor<float>::full({4, 2}, 2);
    rowan::sgd(table, lookup_table_grad({1, 3, 1}, Tensor<float>::full({3, 2}, 1), 4, 1), 0.1);
    CHECK((table == Tensor<float>{{2, 2}, {2, 2}, {2, 2}, {2 - 0.1F, 2 - 0.1F}}));
}

TEST_CASE("no ids give no rows, with the requested height and row shape", "[lookup_table_grad]") {
    auto const g = lookup_table_grad({}, Tensor<float>::from_shape({0, 3}), 8);
    CHECK((g.height() == 8 && g.rows().empty() && g.shape() == Shape{8, 3}));
    CHECK(lookup_table_grad({}, Tensor<float>::from_shape({0, 3}), 8, 2).shape() == Shape{8, 3});
    CHECK(lookup_table_grad({}, Tensor<float>::from_shape({0, 3}), 0).height() == 0);
    CHECK(lookup_table_grad(Tensor<std::int32_t>::from_shape({2, 0}), Tensor<float>::from_shape({2, 0, 3}), 8).shape() == Shape{8, 3});
}

TEST_CASE("the output's gradient is moved, not copied", "[lookup_table_grad]") {
    Tensor<float> flat{{1, 2}, {3, 4}};
    float const* const memory = flat.data();
    CHECK(lookup_table_grad({0, 1}, std::move(flat), 2).value().data() == memory);
    Tensor<float> const cube{{{1, 2}, {3, 4}}};
    CHECK(lookup_table_grad(Tensor<std::int32_t>{{0, 1}}, cube.share(), 2).value().data() == cube.data());
}

TEST_CASE("lookup_table_grad refuses shapes that do not fit", "[lookup_table_grad][bad_input]") {
    Tensor<std::int64_t> const square{{0, 1}, {2, 3}};
    auto const out_grad = test::ramp<float>({2, 2, 3});
    CHECK(lookup_table_grad(square, out_grad, 4).rows().size() == 4);
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { lookup_table_grad(exec, square, out_grad, -4); }) == "height is -4, expected in [0, 2^63 - 1]");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { lookup_table_grad(exec, {0, 1, 2}, out_grad, 4); }, out_grad) ==
          "out_grad.shape() is [2, 2, 3], expected to begin with [3], the shape of ids");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { lookup_table_grad(exec, square, test::ramp<float>({2}), 4); }) ==
          "out_grad.shape() is [2], expected to begin with [2, 2], the shape of ids");
    CHECK(test::refusal<rowan::IndexError>([&](Cpu exec) { lookup_table_grad(exec, square, out_grad, 4, -1); }) ==
          "padding_id = -1 is not in [0, 4)");
    CHECK(test::refusal<rowan::IndexError>([&](Cpu exec) { lookup_table_grad(exec, square, out_grad, 4, 4); }, out_grad) ==
          "padding_id = 4 is not in [0, 4)");

    auto const one = Tensor<std::int64_t>::full({}, 0);
    auto const most = Tensor<float>::zeros(Shape(Tensor<float>::max_rank, 1));
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { lookup_table_grad(e, one, most, 3); }, most) == "rank is 9, expected at most 8");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { lookup_table_grad(e, one, most, 3, 0); }, most) == "rank is 9, expected at most 8");
    CHECK(lookup_table_grad(one, Tensor<float>::zeros(Shape(Tensor<float>::max_rank - 1, 1)), 3).value().dimension() == Tensor<float>::max_rank);
}

}  // namespace test_lookup_table_grad
