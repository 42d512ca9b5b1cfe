// tests/layer/sum_rows.cpp
#include <rowan/layer/sum_rows.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>

namespace test_sum_rows {

using namespace rowan;

TEST_CASE("layer::sum_rows adds the rows of a batch", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1);
    auto const sum = layer::sum_rows(x);
    CHECK(sum->spec() == tensor_spec<float>({2}));
    CHECK((test::run(sum, {{"x", LoDTensor<float>({{1, 2}, {3, 4}, {5, 7}}, Lod{{0, 3}})}}) == LoDTensor<float>(Tensor<float>{9, 13})));
    CHECK((test::run(sum, {{"x", LoDTensor<float>(Tensor<float>::from_shape({0, 2}), Lod{{0}})}}).value() == Tensor<float>{0, 0}));
    CHECK_THROWS_WITH(layer::sum_rows(layer::data("none", {})), "sum_rows: x rank is 0, expected at least 1");
}

TEST_CASE("the gradient of layer::sum_rows is that of central differences", "[layer]") {
    test::DefaultScope scope;
    auto const target = layer::data<double>("target", {2});
    test::set(*target, LoDTensor<double>(test::values({2}, 3)));
    test::check_net(layer::mse(layer::sum_rows(test::parameter({3, 2}, 1)), target));
}

}  // namespace test_sum_rows
