// tests/op/registry.cpp
#include <rowan/op/registry.hpp>

#include "catch.hpp"

#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/optimizer/optimizers.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>

#include <string>

namespace test_registry {

namespace {

using rowan::Cpu, rowan::SelectedRows, rowan::Tensor, rowan::registry, rowan::runnable;

struct my_clip {
    static constexpr std::string_view name = "my_clip";
    using inputs = rowan::slots<rowan::slot::x>;
    using outputs = rowan::slots<rowan::slot::out>;
    using grad = rowan::no_grad;
};

using some = registry<rowan::fc_op, rowan::sgd_op, rowan::matmul_op, rowan::bias_grad_op>;
using mine = some::with<my_clip>;

static_assert(mine::has<my_clip> && !some::has<my_clip> && mine::has<rowan::fc_op> && mine::size == 5);
static_assert(rowan::operation<my_clip> && !rowan::differentiable<my_clip> && rowan::differentiable<rowan::fc_op>);
static_assert(std::is_empty_v<mine>);
static_assert(rowan::grad_of<rowan::slot::w>::name == "w@GRAD");
static_assert(rowan::fc_op::inputs::names[1] == "w" && rowan::fc_op::inputs::index<rowan::slot::b> == 2);

// one sgd for both kinds of gradients; other kinds have no kernel
static_assert(runnable<rowan::sgd_op, Cpu, Tensor<float>&, SelectedRows<float> const&, double>);
static_assert(runnable<rowan::sgd_op, Cpu, Tensor<rowan::bfloat16>&, Tensor<float> const&, double>);
static_assert(!runnable<rowan::sgd_op, Cpu, SelectedRows<float>&, SelectedRows<float> const&, double>);
static_assert(!runnable<rowan::sgd_op, Cpu, Tensor<float> const&, Tensor<float> const&, double>);
static_assert(!runnable<rowan::fc_op, Cpu, Tensor<float> const&, Tensor<double> const&, Tensor<float> const&>);

}  // namespace

TEST_CASE("an operator is found by its name", "[op]") {
    auto const name = [](auto op) { return std::string(decltype(op)::name); };
    for (std::string_view const one : mine::names) CHECK(mine::dispatch(one, name) == one);
    CHECK(mine::dispatch("my_clip", [](auto op) { return std::is_same_v<decltype(op), my_clip>; }));
}

TEST_CASE("an unknown operator is an error that quotes it", "[op]") {
    auto const nothing = [](auto) {};
    CHECK_THROWS_AS(some::dispatch("my_clip", nothing), rowan::GraphError);
    CHECK_THROWS_WITH(some::dispatch("my_clip", nothing), "there is no operator \"my_clip\" among the 4 of this registry");
    CHECK_THROWS_AS(some::dispatch("", nothing), rowan::GraphError);
    CHECK_THROWS_AS(some::dispatch("zzz", nothing), rowan::GraphError);
}

}  // namespace test_registry
