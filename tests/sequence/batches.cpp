// tests/sequence/batches.cpp: batches made longer, cut and joined.
#include <rowan/sequence/batches.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

using rowan::append_lengths, rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::merge_batches, rowan::split_batch, rowan::Tensor;

namespace {

template <class Call>
std::string refusal(Call const& call) {
    try {
        call();
    } catch (rowan::ShapeError const& e) {
        return e.what();
    }
    return "";
}

LoDTensor<float> const x({1, 2, 3, 4, 5, 6}, Lod{{0, 2, 3, 3}, {0, 1, 3, 6}});

}  // namespace

TEST_CASE("lengths are appended level by level", "[batches][golden]") {
    Lod const lod{{0, 2}, {0, 1, 6}, {0, 2, 5, 7, 10, 12, 15}};
    CHECK(append_lengths(lod, {{2}, {2, 2}, {2, 3, 4, 2}}) == Lod{{0, 2, 4}, {0, 1, 6, 8, 10}, {0, 2, 5, 7, 10, 12, 15, 17, 20, 24, 26}});
    CHECK(append_lengths(Lod(), {{2, 1}}) == Lod{{0, 2, 3}});
    CHECK(append_lengths(lod, {{}, {}, {}}) == lod);
    CHECK(refusal([&] { append_lengths(lod, {{2}}); }) == "lengths is 1 levels, expected 3 levels");
    CHECK_THROWS_AS(append_lengths(lod, {{3}, {2, 2}, {2, 3, 4, 2}}), rowan::LodError);
    CHECK_THROWS_AS(append_lengths(lod, {{2}, {2, -2}, {}}), rowan::LodError);
}

TEST_CASE("a batch is cut by its first level, what is left over going to the last part", "[batches]") {
    auto const parts = split_batch(x, 2);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == LoDTensor<float>({1, 2, 3}, Lod{{0, 2}, {0, 1, 3}}));
    CHECK(parts[1] == LoDTensor<float>({4, 5, 6}, Lod{{0, 1, 1}, {0, 3}}));
    CHECK(split_batch(x, 100).size() == 3);
    CHECK(split_batch(x, 1)[0] == x);
    auto const rows = split_batch(LoDTensor<float>({1, 2, 3, 4, 5}), 2);
    CHECK((rows[0].value() == Tensor<float>{1, 2} && rows[1].value() == Tensor<float>{3, 4, 5}));
    CHECK(split_batch(LoDTensor<float>(Tensor<float>::zeros({0, 3}), Lod{{0}}), 3).empty());
    CHECK(refusal([] { split_batch(x, 0); }) == "parts is 0, expected at least 1");
}

TEST_CASE("the parts of a batch are aliases, and joined they are the batch", "[batches]") {
    LoDTensor<float> y = x;
    for (std::size_t n : std::vector<std::size_t>{1, 2, 3}) CHECK(merge_batches(split_batch(y, n)) == y);
    split_batch(y, 3)[1].value()(0) = 9;
    CHECK(y.value()(3) == 9);
    CHECK(x.value()(3) == 4);
}

TEST_CASE("batches of many rows are joined by several threads", "[batches]") {
    std::vector<LoDTensor<std::int32_t>> batches;
    std::vector<std::int32_t> want;
    for (std::int32_t k = 0; k < 5; ++k) {
        std::size_t const n = k == 3 ? 0 : 60'000 + static_cast<std::size_t>(k);
        auto value = Tensor<std::int32_t>::from_shape({n, 3});
        for (std::size_t i = 0; i < value.size(); ++i) want.push_back(value.data()[i] = static_cast<std::int32_t>(i) * 7 + k);
        batches.emplace_back(std::move(value), Lod::from_lengths({{static_cast<std::int64_t>(n)}}));
    }
    for (int threads : {1, 2, 3, 8}) {
        auto const all = merge_batches(Cpu{threads}, batches);
        CHECK(std::equal(want.begin(), want.end(), all.value().begin(), all.value().end()));
        CHECK((all.lod().sequences(0) == 5 && all.lod().lengths(0)[3] == 0));
    }
}

TEST_CASE("batches that do not fit together are refused", "[batches]") {
    using Batches = std::vector<LoDTensor<float>>;
    CHECK(refusal([] { merge_batches(Batches{}); }) == "batches is none, expected at least one");
    CHECK(refusal([] { merge_batches(Batches{x, LoDTensor<float>({1, 2})}); }) == "batches[1].lod().levels() is 0, expected 2");
    CHECK(refusal([] { merge_batches(Batches{LoDTensor<float>(Tensor<float>{{1, 2}}), LoDTensor<float>(Tensor<float>{{1}})}); }) ==
          "batches[1].shape() is [1, 1], expected [1, 2]");
}
