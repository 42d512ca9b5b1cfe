// tests/sequence/batches.cpp: batches made longer, cut and joined.
#include <rowan/sequence/batches.hpp>

#include "sequence/batches.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test_batches {

using batches::refusal;
using rowan::append_lengths, rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::merge_batches, rowan::ShapeError, rowan::split_batch,
    rowan::Tensor;

namespace {

LoDTensor<float> const x({1, 2, 3, 4, 5, 6}, Lod{{0, 2, 3, 3}, {0, 1, 3, 6}});

}  // namespace

TEST_CASE("lengths are appended level by level", "[batches][golden]") {
    Lod const lod{{0, 2}, {0, 1, 6}, {0, 2, 5, 7, 10, 12, 15}};
    CHECK(append_lengths(lod, {{2}, {2, 2}, {2, 3, 4, 2}}) == Lod{{0, 2, 4}, {0, 1, 6, 8, 10}, {0, 2, 5, 7, 10, 12, 15, 17, 20, 24, 26}});
    CHECK(append_lengths(Lod(), {{2, 1}}) == Lod{{0, 2, 3}});
    CHECK(append_lengths(lod, {{}, {}, {}}) == lod);
    CHECK(refusal<ShapeError>([&] { append_lengths(lod, {{2}}); }) == "lengths is 1 levels, expected 3 levels");
    std::vector<std::vector<std::int32_t>> const more{{2}, {2, 2}, {2, 3, 4, 2}};
    CHECK(append_lengths(lod, more) == append_lengths(lod, {{2}, {2, 2}, {2, 3, 4, 2}}));
    CHECK(append_lengths(Lod(), std::vector<std::vector<std::int64_t>>{{2, 1}}) == Lod{{0, 2, 3}});
    using Longs = Tensor<std::int64_t>;
    CHECK(refusal<ShapeError>([&] { append_lengths(Lod{{0, 1}}, {Longs{{1, 2}}}); }) == "lengths[0] rank is 2, expected 1");
    CHECK(refusal<ShapeError>([&] { append_lengths(lod, {Longs{2}, Longs{{2}, {2}}, Longs{2, 3, 4, 2}}); }) == "lengths[1] rank is 2, expected 1");
    CHECK_THROWS_AS(append_lengths(lod, {{3}, {2, 2}, {2, 3, 4, 2}}), rowan::LodError);
    CHECK_THROWS_AS(append_lengths(lod, {{2}, {2, -2}, {}}), rowan::LodError);
}

TEST_CASE("a batch is divided by its first level; the last part gets the remainder", "[batches]") {
    auto const parts = split_batch(x, 2);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == LoDTensor<float>({1, 2, 3}, Lod{{0, 2}, {0, 1, 3}}));
    CHECK(parts[1] == LoDTensor<float>({4, 5, 6}, Lod{{0, 1, 1}, {0, 3}}));
    CHECK(split_batch(x, 100).size() == 3);
    CHECK(split_batch(x, 1)[0] == x);
    auto const rows = split_batch(LoDTensor<float>({1, 2, 3, 4, 5}), 2);
    CHECK((rows[0].value() == Tensor<float>{1, 2} && rows[1].value() == Tensor<float>{3, 4, 5}));
    CHECK(split_batch(LoDTensor<float>(Tensor<float>::zeros({0, 3}), Lod{{0}}), 3).empty());
    CHECK(refusal<ShapeError>([] { split_batch(x, 0); }) == "count is 0, expected at least 1");
    CHECK(refusal<ShapeError>([] { split_batch(x, -3); }) == "count is -3, expected at least 1");
}

TEST_CASE("the parts of a batch are aliases, and concatenated they equal the batch", "[batches]") {
    LoDTensor<float> y = x;
    for (std::size_t n : std::vector<std::size_t>{1, 2, 3}) CHECK(merge_batches(split_batch(y, n)) == y);
    split_batch(y, 3)[1].value()(0) = 9;
    CHECK(y.value()(3) == 9);
    CHECK(x.value()(3) == 4);
}

TEST_CASE("a batch is divided into batches of given sizes", "[batches]") {
    auto const parts = split_batch(x, {2, 0, 1});
    REQUIRE(parts.size() == 3);
    CHECK(parts[0] == LoDTensor<float>({1, 2, 3, 4, 5, 6}, Lod{{0, 2, 3}, {0, 1, 3, 6}}));
    CHECK(parts[1] == LoDTensor<float>(Tensor<float>::from_shape({0}), Lod{{0}, {0}}));
    CHECK(parts[2] == LoDTensor<float>(Tensor<float>::from_shape({0}), Lod{{0, 0}, {0}}));
    CHECK(merge_batches(parts) == x);
    CHECK(split_batch(x, {3}).size() == 1);
    auto const rows = split_batch(LoDTensor<float>({1, 2, 3}), std::vector<std::int32_t>{1, 2});
    CHECK((rows[0].value() == Tensor<float>{1} && rows[1].value() == Tensor<float>{2, 3}));
    auto const index = [](rowan::Ids<> sizes) {
        try {
            split_batch(x, sizes);
        } catch (rowan::IndexError const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(index({1, 3}) == "sizes[1] = 3 is not in [0, 3)");
    CHECK(index({1, -1, 3}) == "sizes[1] = -1 is not in [0, 3)");
    CHECK(index({std::numeric_limits<std::int64_t>::max()}) == "sizes[0] = 9223372036854775807 is not in [0, 4)");
    CHECK(refusal<ShapeError>([] { split_batch(x, {1, 1}); }) == "the sum of sizes is 2, expected 3, x.size()");
    CHECK(refusal<ShapeError>([] { split_batch(x, {}); }) == "the sum of sizes is 0, expected 3, x.size()");
    CHECK(refusal<ShapeError>([] { split_batch(x, Tensor<std::int64_t>{{1, 2}}); }) == "sizes rank is 2, expected 1");
}

TEST_CASE("split_batch by the sizes is the adjoint of merge_batches", "[batches][adjoint]") {
    std::vector<LoDTensor<float>> inputs;
    std::vector<std::int64_t> sizes;
    float next = 1;
    for (auto const& lod : {Lod{{0, 2, 2}, {0, 1, 3}}, Lod{{0}, {0}}, Lod{{0, 1, 1, 3}, {0, 0, 4, 5}}}) {
        auto value = Tensor<float>::from_shape({static_cast<std::size_t>(lod.rows()), 2});
        for (float& v : value) v = next = next < 9 ? next + 1 : 1;
        inputs.emplace_back(std::move(value), lod);
        sizes.push_back(static_cast<std::int64_t>(lod.sequences(0)));
    }
    auto const joined = merge_batches(inputs);
    LoDTensor<float> grad = joined;
    for (float& v : grad.value()) v = next = next < 7 ? next + 1 : -3;
    auto const parts = split_batch(grad, sizes);
    double left = 0, right = 0;
    for (std::size_t i = 0; i < grad.value().size(); ++i) left += double{grad.value().data()[i]} * double{joined.value().data()[i]};
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        CHECK(parts[k].lod() == inputs[k].lod());
        for (std::size_t i = 0; i < inputs[k].value().size(); ++i)
            right += double{parts[k].value().data()[i]} * double{inputs[k].value().data()[i]};
    }
    CHECK(left == right);
}

TEST_CASE("merge_batches throws if there are too many rows to count", "[batches]") {
    using Batches = std::vector<LoDTensor<std::uint8_t>>;
    LoDTensor<std::uint8_t> const half(Tensor<std::uint8_t>::from_shape({std::size_t{1} << 62, 0}));
    CHECK(refusal<ShapeError>([&] { merge_batches(Batches{half, half}); }) ==
          "rows of the batches is 4611686018427387904 + 4611686018427387904, expected at most 2^63 - 1");
    CHECK_THROWS_AS(merge_batches(Batches{half, half, half, half}), rowan::ShapeError);
    CHECK(merge_batches(Batches{half, LoDTensor<std::uint8_t>(Tensor<std::uint8_t>::from_shape({5, 0}))}).shape()[0] == (std::size_t{1} << 62) + 5);
}

TEST_CASE("several threads merge batches of many rows", "[batches]") {
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

TEST_CASE("batches that do not match throw", "[batches]") {
    using Batches = std::vector<LoDTensor<float>>;
    CHECK(refusal<ShapeError>([] { merge_batches(Batches{}); }) == "batches.size() is 0, expected at least 1");
    CHECK(refusal<ShapeError>([] { merge_batches(Batches{x, LoDTensor<float>({1, 2})}); }) == "batches[1].lod().levels() is 0, expected 2");
    CHECK(refusal<ShapeError>([] { merge_batches(Batches{LoDTensor<float>(Tensor<float>{{1, 2}}), LoDTensor<float>(Tensor<float>{{1}})}); }) ==
          "batches[1].shape() is [1, 1], expected [1, 2]");
}

}  // namespace test_batches
