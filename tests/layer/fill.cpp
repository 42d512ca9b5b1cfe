// tests/layer/fill.cpp
#include <rowan/layer/fill.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>

#include <cstdint>

namespace test_fill {

using namespace rowan;

TEST_CASE("layer::fill is a constant", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const half = layer::fill({2, 1}, 0.5);
    CHECK(half->spec() == tensor_spec<float>({2, 1}));
    CHECK((test::run(half).value() == Tensor<float>{{0.5f}, {0.5f}}));
    CHECK((test::run(layer::fill<std::int64_t>({3}, -4)).value() == Tensor<std::int64_t>{-4, -4, -4}));
    test::check_net(layer::mse(test::parameter({2, 3}, 1), layer::fill<double>({2, 3}, 0.25)));  // and no parameter
    CHECK(append_backward<double>(*layer::mse(test::parameter({1}, 1), layer::fill<double>({1}, 1))).size() == 1);
}

TEST_CASE("layer::fill refuses what it cannot hold", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    CHECK_THROWS_WITH(layer::fill({UNK, 2}, 1), "dims[0] is UNK, expected a count");
    CHECK_THROWS_WITH(test::run(layer::fill<std::int32_t>({1}, 0.5)), "fill_i32(): value is 0.5, expected a whole number that i32 holds");
}

}  // namespace test_fill
