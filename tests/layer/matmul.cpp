// tests/layer/matmul.cpp
#include <rowan/layer/matmul.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>

namespace test_matmul {

using namespace rowan;

TEST_CASE("layer::matmul transposes its factors", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1), y = layer::data("y", {2, 2});
    LoDTensor<float> const value({{1, 2}, {3, 4}}, Lod{{0, 0, 2}});
    Feeds const feeds{{"x", value}, {"y", Tensor<float>{{1, 10}, {100, 1000}}}};
    auto const plain = layer::matmul(x, y);
    CHECK(plain->spec() == tensor_spec<float>({UNK, 2}, 1));
    CHECK((test::run(plain, feeds) == LoDTensor<float>({{201, 2010}, {403, 4030}}, value.lod())));
    CHECK((test::run(layer::matmul(x, y, {.transpose_y = true}), feeds) == LoDTensor<float>({{21, 2100}, {43, 4300}}, value.lod())));
    CHECK((test::run(layer::matmul(x, y, {.transpose_x = true}), feeds) == LoDTensor<float>(Tensor<float>{{301, 3010}, {402, 4020}})));
    CHECK((test::run(layer::matmul(x, y, {.transpose_x = true, .transpose_y = true}), feeds).value() == Tensor<float>{{31, 3100}, {42, 4200}}));
}

}  // namespace test_matmul
