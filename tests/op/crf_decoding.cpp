// tests/op/crf_decoding.cpp: the best paths of conditional random fields among all paths.
#include <rowan/op/loss/crf_decoding.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace test_crf_decoding {

using rowan::Cpu, rowan::crf_decoding, rowan::crf_decoding_op, rowan::Lod, rowan::LoDTensor, rowan::Tensor, rowan::tensor_spec, rowan::UNK;
using Labels = Tensor<std::int64_t>;

static_assert(crf_decoding_op::infer(tensor_spec<float>({UNK, 3}, 2), tensor_spec<float>({5, 3})) == tensor_spec<std::int64_t>({UNK, 1}, 2));

TEST_CASE("crf_decoding has the tags of the best of all paths", "[op][golden]") {
    Lod const lod{{0, 2, 3, 4}, {0, 5, 5, 6, 9}};
    for (std::size_t const tags : {1u, 2u, 5u, 9u}) {
        LoDTensor<double> const x(test::values({9, tags}, 1), lod);
        auto const w = test::values({tags + 2, tags}, 2);
        auto const path = crf_decoding(x, w);
        CHECK((path.shape() == Labels::shape_type{9, 1} && path.lod() == lod));
        auto label = Labels::zeros({9});
        for (std::size_t s = 0; s < 4; ++s) {
            auto const begin = static_cast<std::size_t>(lod[1][s]), n = static_cast<std::size_t>(lod[1][s + 1]) - begin;
            if (n == 0) continue;
            std::vector<std::size_t> tag(n), best;
            double most = -std::numeric_limits<double>::infinity();
            for (bool more = true; more;) {
                double score = w(0, tag[0]) + w(1, tag[n - 1]);
                for (std::size_t t = 0; t < n; ++t) score += x.value()(begin + t, tag[t]) + (t == 0 ? 0 : w(2 + tag[t - 1], tag[t]));
                if (score > most) most = score, best = tag;
                std::size_t t = 0;
                while (t < n && ++tag[t] == tags) tag[t++] = 0;
                more = t < n;
            }
            for (std::size_t t = 0; t < n; ++t) {
                CHECK(path.value()(begin + t, 0) == static_cast<std::int64_t>(best[t]));
                label(begin + t) = static_cast<std::int64_t>(t % 2 == 0 ? best[t] : (best[t] + 1) % tags);
            }
        }
        auto const matches = crf_decoding(x, w, label);
        for (std::size_t i = 0; i < 9; ++i) CHECK(matches.value()(i, 0) == (label(i) == path.value()(i, 0) ? 1 : 0));
    }
}

TEST_CASE("of equal paths, crf_decoding takes the first tags", "[op]") {
    CHECK((crf_decoding(LoDTensor<float>(Tensor<float>::zeros({3, 4}), Lod{{0, 3}}), Tensor<float>::zeros({6, 4})).value() == Labels{{0}, {0}, {0}}));
    CHECK(crf_decoding(LoDTensor<float>(Tensor<float>::zeros({0, 4}), Lod{{0, 0}}), Tensor<float>::zeros({6, 4})).value().size() == 0);
}

TEST_CASE("a sequence with a NaN has no best path: its tags are -1", "[op]") {
    for (float const bad : {NAN, -NAN}) {
        for (std::size_t const tag : {0u, 1u}) {
            LoDTensor<float> x({{1, 2}, {3, 4}, {5, 4}, {7, 9}}, Lod{{0, 1, 3, 4}});
            x.value()(1, tag) = bad;
            auto const w = Tensor<float>::zeros({4, 2});
            CHECK((crf_decoding(x, w).value() == Labels{{1}, {-1}, {-1}, {1}}));
            CHECK((crf_decoding(x, w, Labels{1, 0, 0, 1}).value() == Labels{{1}, {0}, {0}, {1}}));
        }
    }
    LoDTensor<float> const x({{0, 5}, {0, 5}}, Lod{{0, 2}});
    for (std::size_t row = 0; row < 4; ++row) {  // first tags, last tags, transitions
        auto w = Tensor<float>::zeros({4, 2});
        w(row, 0) = NAN;
        CHECK((crf_decoding(x, w).value() == Labels{{-1}, {-1}}));
    }
}

TEST_CASE("crf_decoding throws for bad inputs", "[op][bad]") {
    LoDTensor<float> const x({{1, 2}, {3, 4}}, Lod{{0, 2}});
    auto const w = Tensor<float>::zeros({4, 2});
    CHECK_THROWS_WITH(crf_decoding(x, w, Labels{0, 2}), "label[1] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(rowan::crf_matches_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({5, 3}), tensor_spec<float>({UNK})), "crf: label dtype is f32, expected i64");
}

}  // namespace test_crf_decoding
