// tests/layer/full.cpp
#include <rowan/layer/full.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/own_operator.hpp>

#include <cstdint>

namespace test_full {

using namespace rowan;

TEST_CASE("layer::full is a constant", "[layer]") {
    test::DefaultScope scope;
    auto const half = layer::full({2, 1}, 0.5);
    CHECK(half->spec() == tensor_spec<float>({2, 1}));
    CHECK((test::run(half).value() == Tensor<float>{{0.5f}, {0.5f}}));
    CHECK((test::run(layer::full<std::int64_t>({3}, -4)).value() == Tensor<std::int64_t>{-4, -4, -4}));
    test::check_net(layer::mse(test::parameter({2, 3}, 1), layer::full<double>({2, 3}, 0.25)));  // and no parameter
    CHECK(append_backward<double>(*layer::mse(test::parameter({1}, 1), layer::full<double>({1}, 1))).size() == 1);
}

TEST_CASE("layer::full throws for values that the type cannot represent", "[layer]") {
    test::DefaultScope scope;
    CHECK_THROWS_WITH(layer::full({UNK, 2}, 1), "dims[0] is UNK, expected a count");
    CHECK_THROWS_WITH(test::run(layer::full<std::int32_t>({1}, 0.5)), "full_i32(): value is 0.5, expected a whole number that i32 holds");
}

}  // namespace test_full
