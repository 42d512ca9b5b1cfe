// tests/layer/crf.cpp: a conditional random field in a net.
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>

#include <cstdint>

namespace test_crf {

using namespace rowan;

TEST_CASE("layer::crf_decoding has the best tags, and whether they are the labels", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 3}, 1), w = layer::data("w", {5, 3});
    auto const label = layer::data<std::int64_t>("label", {UNK}, 1);
    Lod const lod{{0, 3, 3, 5}};
    auto weights = Tensor<float>::zeros({5, 3});
    weights(2, 0) = -3;  // no tag 0 after tag 0
    Feeds const feeds{{"x", LoDTensor<float>({{2, 1, 0}, {2, 1, 0}, {2, 1, 0}, {0, 0, 1}, {0, 1, 0}}, lod)},
                      {"w", weights},
                      {"label", LoDTensor<std::int64_t>({0, 2, 0, 0, 1}, lod)}};
    auto const path = layer::crf_decoding(x, w);
    CHECK(path->spec() == tensor_spec<std::int64_t>({UNK, 1}, 1));
    CHECK((test::run(path, feeds) == LoDTensor<std::int64_t>({{0}, {1}, {0}, {2}, {1}}, lod)));
    CHECK((test::run(layer::crf_decoding(x, w, label), feeds).value() == Tensor<std::int64_t>{{1}, {0}, {1}, {0}, {1}}));
    Feeds other = feeds;
    other.insert_or_assign("label", LoDTensor<std::int64_t>({0, 2, 0, 0, 1}, Lod{{0, 2, 3, 5}}));
    for (auto const& of_label : {layer::cast<float>(layer::crf_decoding(x, w, label)), layer::linear_chain_crf(x, w, label)}) {
        CHECK_NOTHROW(test::run(of_label, feeds));
        CHECK_THROWS_WITH(test::run(of_label, other), Catch::Matchers::EndsWith("label.lod() is other levels, expected those of emission, or none"));
    }
    auto const nested = layer::data<std::int64_t>("nested", {UNK}, 2);
    CHECK_THROWS_WITH(layer::linear_chain_crf(x, w, nested), "crf: label.lod().levels() is 2, expected 1");
    CHECK_THROWS_WITH(layer::crf_decoding(x, layer::data("v", {3, 3})), "crf: w.shape(0) is 3, expected 5");
    CHECK_THROWS_WITH(layer::crf_decoding(layer::data("rows", {UNK, 3}), w), "crf: x.lod().levels() is 0, expected at least 1");
}

}  // namespace test_crf
