// tests/op/edit_distance.cpp: distances of sequences beside a table of all prefixes.
#include <rowan/op/sequence/edit_distance.hpp>

#include "refused.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace test_edit_distance {

using rowan::Cpu, rowan::edit_distance, rowan::edit_distance_op, rowan::Lod, rowan::LoDTensor, rowan::Tensor;
using rowan::tensor_spec, rowan::UNK;
using test::refusal;

namespace {

LoDTensor<std::int32_t> words(std::vector<std::string_view> const& all) {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> letters;
    for (auto const word : all) {
        letters.insert(letters.end(), word.begin(), word.end());
        offsets.push_back(static_cast<std::int64_t>(letters.size()));
    }
    auto const rows = letters.size();
    return {Tensor<std::int32_t>({rows}, std::move(letters)), Lod({offsets})};
}

/// The table of the distances between all prefixes, a row at a time.
template <class I>
std::vector<double> plain(LoDTensor<I> const& x, LoDTensor<I> const& y) {
    std::vector<double> result;
    auto const xs = x.lod()[x.lod().levels() - 1], ys = y.lod()[y.lod().levels() - 1];
    for (std::size_t s = 0; s + 1 < xs.size(); ++s) {
        std::vector<I> const a(x.value().data() + xs[s], x.value().data() + xs[s + 1]);
        std::vector<I> const b(y.value().data() + ys[s], y.value().data() + ys[s + 1]);
        std::vector<std::int64_t> row(b.size() + 1);
        for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<std::int64_t>(j);
        for (std::size_t i = 0; i < a.size(); ++i) {
            std::int64_t corner = row[0]++;
            for (std::size_t j = 1; j <= b.size(); ++j) {
                auto const substituted = corner + (a[i] == b[j - 1] ? 0 : 1);
                corner = row[j];
                row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
            }
        }
        result.push_back(static_cast<double>(row.back()));
    }
    return result;
}

LoDTensor<std::int64_t> random_text(std::mt19937& random, std::size_t sequences, std::size_t longest, std::int64_t letters) {
    std::vector<std::int64_t> offsets{0}, tokens;
    for (std::size_t s = 0; s < sequences; ++s) {
        for (std::size_t n = random() % (longest + 1); n > 0; --n) tokens.push_back(static_cast<std::int64_t>(random()) % letters);
        offsets.push_back(static_cast<std::int64_t>(tokens.size()));
    }
    auto const rows = tokens.size();
    return {Tensor<std::int64_t>({rows, 1}, std::move(tokens)), Lod({offsets})};
}

}  // namespace

TEST_CASE("the edit distances of words", "[edit_distance][golden]") {
    auto const x = words({"kitten", "intention", "", "abc", "", "abc", "flaw"});
    auto const y = words({"sitting", "execution", "a", "", "", "abc", "lawn"});
    CHECK((edit_distance(x, y).value() == Tensor<double>{{3}, {5}, {1}, {3}, {0}, {0}, {2}}));
    CHECK((edit_distance(y, x).value() == Tensor<double>{{3}, {5}, {1}, {3}, {0}, {0}, {2}}));
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK((edit_distance(x, y, {.normalized = true}).value() == Tensor<double>{{3 / 7.0}, {5 / 9.0}, {1}, {infinity}, {0}, {0}, {0.5}}));
    CHECK(edit_distance(words({}), words({})).shape() == std::vector<std::size_t>{0, 1});
    LoDTensor<std::int64_t> const documents({1, 2, 3}, Lod{{0, 2, 2}, {0, 1, 3}}), others({1, 2}, Lod{{0, 2, 2}, {0, 2, 2}});
    CHECK((edit_distance(documents, others) == LoDTensor<double>({{1}, {2}}, Lod{{0, 2, 2}})));
}

TEST_CASE("edit distances of any lengths are those of the table, on any number of threads", "[edit_distance]") {
    std::mt19937 random(7);
    for (std::size_t const longest : {3U, 63U, 65U, 200U}) {
        for (std::int64_t const letters : {1, 2, 5, 1000}) {
            auto const x = random_text(random, 60, longest, letters), y = random_text(random, 60, longest, letters);
            CAPTURE(longest, letters);
            auto const expected = plain(x, y);
            for (int const threads : {1, 2, 8}) {
                auto const result = edit_distance(Cpu{threads}, x, y);
                CHECK(std::vector<double>(result.value().begin(), result.value().end()) == expected);
            }
        }
    }
    for (std::size_t const n : {63U, 64U, 65U, 128U}) {  // whole blocks: one insertion before, behind and within
        std::vector<std::int64_t> a(n, 1), b(n + 1, 1);
        a[n / 2] = b[n / 2 + 1] = 2;
        LoDTensor<std::int64_t> const x(Tensor<std::int64_t>({n}, a), Lod({{0, static_cast<std::int64_t>(n)}}));
        LoDTensor<std::int64_t> const y(Tensor<std::int64_t>({n + 1}, b), Lod({{0, static_cast<std::int64_t>(n) + 1}}));
        CHECK(edit_distance(x, y).value()(0, 0) == 1);
        CHECK(edit_distance(y, x).value()(0, 0) == 1);
    }
}

}  // namespace test_edit_distance
