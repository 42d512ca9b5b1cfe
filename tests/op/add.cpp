// tests/op/add.cpp: sums of two tensors, dense or row-sparse.
#include <rowan/op/elementwise/add.hpp>

#include "inputs.hpp"
#include "refused.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace test_add {

using rowan::add_op, rowan::bfloat16, rowan::Cpu, rowan::identity_op, rowan::SelectedRows, rowan::selected_rows_spec, rowan::ShapeError,
    rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(add_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK})) == tensor_spec<float>({4, 3}, 1));
static_assert(add_op::infer(selected_rows_spec<float>({9, 3}), selected_rows_spec<float>({9, UNK})) == selected_rows_spec<float>({9, 3}));
static_assert(add_op::infer(selected_rows_spec<float>({9, 3}), tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<float>({9, 3}, 1));
static_assert(add_op::infer(tensor_spec<float>({UNK, 3}), selected_rows_spec<float>({9, 3})) == tensor_spec<float>({9, 3}));
static_assert(identity_op::infer(selected_rows_spec<float>({9, UNK})) == selected_rows_spec<float>({9, UNK}));

TEST_CASE("add is the sum, element by element", "[op][golden]") {
    CHECK((rowan::add(Tensor<float>{{1, 2}, {3, 4}}, Tensor<float>{{10, 20}, {30, 40}}) == Tensor<float>{{11, 22}, {33, 44}}));
    auto const most = std::numeric_limits<std::int64_t>::max();
    CHECK((rowan::add(Tensor<std::int64_t>{most, 1}, Tensor<std::int64_t>{1, 2}) ==
           Tensor<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 3}));
}

TEST_CASE("the operator add keeps two SelectedRows sparse; other sums are dense", "[op]") {
    SelectedRows<float> const a(3, {2}, {{1, 2}}), b(3, {0, 2}, {{3, 4}, {5, 6}});
    Tensor<float> const x{{1, 1}, {1, 1}, {1, 1}};
    auto const sparse = add_op::run(Cpu{}, a, b);
    static_assert(std::is_same_v<decltype(sparse), SelectedRows<float> const>);
    CHECK(sparse == SelectedRows<float>(3, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}}));
    CHECK((add_op::run(Cpu{}, x, b) == Tensor<float>{{4, 5}, {1, 1}, {6, 7}}));
    CHECK((add_op::run(Cpu{}, b, x) == Tensor<float>{{4, 5}, {1, 1}, {6, 7}}));
    CHECK((add_op::run(Cpu{}, x, x) == Tensor<float>{{2, 2}, {2, 2}, {2, 2}}));
}

TEST_CASE("identity_op gives the same elements", "[op]") {
    Tensor<float> const x{1, 2};
    CHECK(identity_op::run(Cpu{}, x).data() == x.data());
    SelectedRows<float> const g(9, {4, 4}, {1, 2});
    auto const same = identity_op::run(Cpu{}, g);
    CHECK(same == g);
    CHECK(same.value().data() == g.value().data());
}

TEST_CASE("add of bfloat16 rounds the sum once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1), y = inputs::wild<bfloat16>({37}, 2), z = rowan::add(x, y);
    for (std::size_t i = 0; i < 37; ++i) CHECK(z(i).bits() == bfloat16(float(x(i)) + float(y(i))).bits());
}

TEST_CASE("add refuses shapes, kinds and element types that differ", "[op][bad]") {
    Tensor<float> const x{1, 2}, y{{1, 2, 3}};
    CHECK(test::refusal<rowan::TypeError>([] { add_op::infer(tensor_spec<float>({2}), tensor_spec<double>({2})); }) ==
          "add: y dtype is f64, expected f32");
    CHECK(test::refusal<rowan::TypeError>([] { add_op::infer({rowan::VarType::TENSOR_ARRAY, 5, {}, 0}, tensor_spec<float>({})); }) ==
          "add: x is another kind of variable, expected a tensor");
}

}  // namespace test_add
