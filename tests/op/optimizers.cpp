// tests/op/optimizers.cpp: the operators of the optimizers equal the algorithms, for both kinds of gradients.
#include <rowan/op/optimizer/optimizers.hpp>
#include <rowan/op/table/to_dense.hpp>

#include "catch.hpp"
#include "inputs.hpp"
#include "reference.hpp"

#include <cstdint>
#include <vector>

namespace test_optimizers {

namespace {

using rowan::Cpu, rowan::SelectedRows, rowan::Tensor, rowan::selected_rows_spec, rowan::tensor_spec, rowan::UNK;

SelectedRows<float> const sparse(6, {4, 1, 4}, inputs::wild<float>({3, 5}, 1));
Tensor<float> const dense = inputs::wild<float>({6, 5}, 2);

/// Op::run and `step` must have the same effect.
template <class Op, class Step, class... State>
void same(Step const& step, State const&... state) {
    auto const both = [&](auto const& grad) {
        auto by_op = std::tuple(inputs::wild<float>({6, 5}, 3), state...);
        auto by_call = by_op;
        std::apply([&](auto&... tensors) { Op::run(Cpu{}, tensors..., grad); }, by_op);
        std::apply([&](auto&... tensors) { step(tensors..., grad); }, by_call);
        CHECK(reference::same(std::get<0>(by_op), std::get<0>(by_call)));
        CHECK(!reference::same(std::get<0>(by_op), inputs::wild<float>({6, 5}, 3)));
    };
    both(sparse);
    both(dense);
}

}  // namespace

TEST_CASE("an optimizer's operator is its algorithm", "[op]") {
    auto const state = Tensor<float>::zeros({6, 5});
    same<rowan::sgd_op>([](auto& p, auto const& g) { rowan::sgd(p, g, 0.01); });
    same<rowan::adagrad_op>([](auto&... x) { rowan::adagrad(x...); }, state);
    same<rowan::rowwise_adagrad_op>([](auto&... x) { rowan::rowwise_adagrad(x...); }, Tensor<float>::zeros({6}));
    same<rowan::momentum_op>([](auto&... x) { rowan::momentum(x...); }, state);
    same<rowan::adam_op>([](auto&... x) { rowan::adam(x...); }, state, state);
    same<rowan::adamax_op>([](auto&... x) { rowan::adamax(x...); }, state, state);
    same<rowan::adadelta_op>([](auto&... x) { rowan::adadelta(x...); }, state, state);
    same<rowan::lamb_op>([](auto&... x) { rowan::lamb(x...); }, state, state);
    same<rowan::rmsprop_op>([](auto&... x) { rowan::rmsprop(x...); }, state, state);
    same<rowan::ftrl_op>([](auto&... x) { rowan::ftrl(x...); }, state, state);
}

TEST_CASE("sgd_op sums duplicates of 16 bits before it subtracts them, as of a dense gradient", "[op]") {
    using rowan::bfloat16;
    SelectedRows<bfloat16> const g(2, std::vector<std::int64_t>(1000), Tensor<bfloat16>::full({1000, 1}, bfloat16(1.0F)));
    Tensor<bfloat16> param{{bfloat16(1.0F)}, {bfloat16(5.0F)}}, of_dense = param;
    rowan::sgd_op::run(Cpu{}, param, g, {.learning_rate = 1.0 / 1024});
    CHECK(param == Tensor<bfloat16>{{bfloat16(24.0F / 1024)}, {bfloat16(5.0F)}});
    rowan::sgd_op::run(Cpu{}, of_dense, rowan::to_dense(g), {.learning_rate = 1.0 / 1024});
    CHECK(param == of_dense);
    CHECK_THROWS_AS(rowan::sgd_op::run(Cpu{}, of_dense, SelectedRows<bfloat16>(3, {1, 1}, Tensor<bfloat16>::zeros({2, 1}))), rowan::ShapeError);
}

TEST_CASE("sgd_op without a decay applies duplicates of floats in their order, with one it sums them first", "[op]") {
    SelectedRows<float> const g(2, {1, 1}, {{0x1p-24F}, {0x1p-24F}});  // each by itself is rounded away
    auto const after = [&](rowan::SgdOptions const& options) {
        Tensor<float> param{{1}, {1}};
        rowan::sgd_op::run(Cpu{}, param, g, options);
        return param;
    };
    CHECK(after({.learning_rate = -1}) == Tensor<float>{{1}, {1}});
    CHECK(after({.learning_rate = -1, .weight_decay = -1, .decoupled = true}) == Tensor<float>{{1}, {0x1p-23F}});
}

TEST_CASE("the operators of adagrad have its weight decay", "[op]") {
    rowan::AdaGradOptions const options{.weight_decay = 0.5};
    auto by_op = std::tuple(dense, Tensor<float>(dense * dense)), by_call = by_op;
    rowan::adagrad_op::run(Cpu{}, std::get<0>(by_op), std::get<1>(by_op), sparse, options);
    rowan::adagrad(std::get<0>(by_call), std::get<1>(by_call), sparse, options);
    CHECK((by_op == by_call && std::get<0>(by_op) != dense));
}

TEST_CASE("to_dense_op is to_dense, of SelectedRows alone", "[op]") {
    CHECK(reference::same(rowan::to_dense_op::run(Cpu{}, sparse), rowan::to_dense(sparse)));
    CHECK(rowan::to_dense_op::infer(selected_rows_spec<float>({6, 5})) == tensor_spec<float>({6, 5}));
    CHECK_THROWS_AS(rowan::to_dense_op::infer(tensor_spec<float>({6, 5})), rowan::TypeError);
}

}  // namespace test_optimizers
