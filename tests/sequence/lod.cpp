// tests/sequence/lod.cpp: valid and invalid offsets of a batch, and their construction.
#include <rowan/sequence/lod.hpp>

#include "sequence/batches.hpp"

#include <concepts>
#include <iterator>
#include <limits>
#include <ranges>
#include <sstream>

namespace test_lod {

namespace {

using batches::List, batches::Lists, batches::list, batches::refusal, batches::refused;
using rowan::IndexError, rowan::Lod, rowan::LodError, rowan::ShapeError, rowan::Tensor;
using Longs = Tensor<std::int64_t>;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// A sized, single-pass range of lists.
struct Once {
    struct iterator {
        using value_type = List;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::input_iterator_tag;
        List operator*() const { return {0}; }
        iterator& operator++() { return *this; }
        void operator++(int) {}
        bool operator==(std::default_sentinel_t) const { return true; }
    };
    iterator begin() const { return {}; }
    std::default_sentinel_t end() const { return {}; }
    std::size_t size() const { return 0; }
};
static_assert(std::ranges::sized_range<Once const> && std::ranges::input_range<Once const>);

std::string text(Lod const& lod) {
    std::ostringstream out;
    out << lod;
    return out.str();
}

template <class Call>
void check_refused(Call const& call, std::size_t level, std::size_t position, std::int64_t value, std::string const& reason) {
    auto const error = batches::refused<LodError>(call);
    CHECK(error.what() ==
          "lod[" + std::to_string(level) + "][" + std::to_string(position) + "] = " + std::to_string(value) + " " + reason);
    CHECK(error.level() == level);
    CHECK(error.position() == position);
    CHECK(error.value() == value);
}

void refused_offsets(Lists const& offsets, std::size_t level, std::size_t position, std::int64_t value, std::string const& reason) {
    CAPTURE(offsets);
    check_refused([&] { static_cast<void>(Lod(offsets)); }, level, position, value, reason);
}

void refused_lengths(Lists const& lengths, std::size_t level, std::size_t position, std::int64_t value, std::string const& reason) {
    CAPTURE(lengths);
    check_refused([&] { Lod::from_lengths(lengths); }, level, position, value, reason);
}

}  // namespace

TEST_CASE("the Lod of the design document, from offsets and from lengths", "[lod]") {
    Lod const lod{{0, 2, 5}, {0, 3, 9, 11, 17, 20}};
    CHECK(lod == Lod::from_lengths({{2, 3}, {3, 6, 2, 6, 3}}));
    CHECK(lod.levels() == 2);
    CHECK(!lod.empty());
    CHECK(list(lod[0]) == List{0, 2, 5});
    CHECK(list(lod[1]) == List{0, 3, 9, 11, 17, 20});
    CHECK(lod.sequences(0) == 2);
    CHECK(lod.sequences(1) == 5);
    CHECK(lod.lengths(0) == List{2, 3});
    CHECK(lod.lengths(1) == List{3, 6, 2, 6, 3});
    CHECK(lod.rows() == 20);
    CHECK(text(lod) == "{{0, 2, 5}, {0, 3, 9, 11, 17, 20}}");
}

TEST_CASE("the valid golden offsets are accepted", "[lod]") {
    Lod const three{{0, 2}, {0, 1, 3}, {0, 2, 4, 5}};
    CHECK_NOTHROW(three.check_rows(5));
    CHECK_NOTHROW(Lod().check_rows(0));
    CHECK_NOTHROW(Lod().check_rows(7));
    CHECK_NOTHROW(Lod{{0}}.check_rows(0));
    for (Lists const& offsets : {Lists{{0, 2, 2, 6}}, Lists{{0, 2}, {0, 2, 6}}, Lists{{0, 2, 2}, {0, 2, 6}}}) {
        CAPTURE(offsets);
        CHECK_NOTHROW(Lod(offsets).check_rows(6));
    }
    CHECK(Lod{{0, 2, 3}, {0, 3, 5, 9}}.lengths(0) == List{2, 1});
    CHECK(Lod{{0, 2, 3}, {0, 3, 5, 9}} == Lod::from_lengths({{2, 1}, {3, 2, 4}}));
}

TEST_CASE("the invalid golden offsets throw", "[lod][bad_input]") {
    Lod const three{{0, 2}, {0, 1, 3}, {0, 2, 4, 5}};
    check_refused([&] { three.check_rows(9); }, 2, 3, 5, "is not 9, the number of rows");
    check_refused([&] { three.check_rows(0); }, 2, 3, 5, "is not 0, the number of rows");
    check_refused([&] { Lod{{0, 2, 5}}.check_rows(6); }, 0, 2, 5, "is not 6, the number of rows");
    check_refused([&] { Lod{{0}}.check_rows(1); }, 0, 0, 0, "is not 1, the number of rows");
    refused_offsets({{0, 2}, {0, 1, 4}, {0, 2, 4, 5}}, 1, 2, 4, "is not 3, the number of sequences of the next level");
    refused_offsets({{0, 1}, {0, 2, 6}}, 0, 1, 1, "is not 2, the number of sequences of the next level");
    refused_offsets({{1, 6}}, 0, 0, 1, "is not 0, where the first sequence begins");
    refused_offsets({{0, 3, 2, 6}}, 0, 2, 2, "is less than the offset before it, 3");
}

TEST_CASE("L1 L4: the first offset is 0, and the error names the first invalid offset", "[lod][bad_input]") {
    refused_offsets({{-1, 3}}, 0, 0, -1, "is not 0, where the first sequence begins");
    refused_offsets({{269, 404, 0, 0, 0, 0, 0}}, 0, 0, 269, "is not 0, where the first sequence begins");
    refused_offsets({{0, 2}, {1, 1, 3}}, 1, 0, 1, "is not 0, where the first sequence begins");
    refused_offsets({{0, 5, 4, 3, 9}}, 0, 2, 4, "is less than the offset before it, 5");
}

TEST_CASE("L3: a level is a list, not a matrix", "[lod][bad_input]") {
    CHECK(refusal<ShapeError>([] { Lod{Longs{{0, 1}, {2, 3}}}; }) == "lod[0] rank is 2, expected 1");
    CHECK(refusal<ShapeError>([] { Lod{Longs{0, 1}, Longs{{0}, {3}}}; }) == "lod[1] rank is 2, expected 1");
    CHECK(refusal<ShapeError>([] { Lod::from_lengths({Longs{{1, 2}}}); }) == "lod[0] rank is 2, expected 1");
    CHECK(Lod{Longs{0, 1, 2, 3}} == Lod{{0, 1, 2, 3}});
}

TEST_CASE("L6: a level without offsets throws, at every level", "[lod][bad_input]") {
    std::string const reason = "is missing: a level has at least the offset 0";
    check_refused([] { Lod{{}}; }, 0, 0, 0, reason);
    refused_offsets({{}}, 0, 0, 0, reason);
    refused_offsets({{0, 1}, {}}, 1, 0, 0, reason);
    refused_offsets({{0}, {0}, {}}, 2, 0, 0, reason);
}

TEST_CASE("L8: sixteen levels are accepted, more throw", "[lod][bad_input]") {
    CHECK(Lod::max_levels == 16);
    CHECK(Lod(Lists(16, List{0, 1})).levels() == 16);
    refused_offsets(Lists(17, List{0, 1}), 16, 0, 17, "levels are more than 16");
    refused_offsets(Lists(1000, List{}), 16, 0, 1000, "levels are more than 16");
    refused_lengths(Lists(17, List{1}), 16, 0, 17, "levels are more than 16");
}

TEST_CASE("L10: negative lengths throw", "[lod][bad_input]") {
    refused_lengths({{-1, -2}}, 0, 0, -1, "is negative, expected a length");
    refused_lengths({{2, 1}, {3, 2, -4}}, 1, 2, -4, "is negative, expected a length");
    refused_lengths({{std::numeric_limits<std::int64_t>::min()}}, 0, 0, std::numeric_limits<std::int64_t>::min(),
                    "is negative, expected a length");
}

TEST_CASE("L14: every offset is checked, not only the ends", "[lod][bad_input]") {
    refused_offsets({{0, 2, 0}}, 0, 2, 0, "is less than the offset before it, 2");
    refused_offsets({{0, 2, 1, 2, 5}}, 0, 2, 1, "is less than the offset before it, 2");
    refused_offsets({{0, -1, 0}}, 0, 1, -1, "is less than the offset before it, 0");
    refused_offsets({{0, 2}, {0, 7, 5}}, 1, 2, 5, "is less than the offset before it, 7");
}

TEST_CASE("L17: a wild offset throws before anything is allocated for it", "[lod][bad_input]") {
    std::int64_t const corrupt = -1'400'000'000'000'000'000;
    refused_offsets({{0, 3, corrupt}}, 0, 2, corrupt, "is less than the offset before it, 3");
    refused_offsets({{0, most}, {0, 1}}, 0, 1, most, "is not 1, the number of sequences of the next level");
    check_refused([] { Lod{{0, most}}.check_rows(3); }, 0, 1, most, "is not 3, the number of rows");
}

TEST_CASE("lengths whose sum overflows throw", "[lod][bad_input]") {
    std::int64_t const half = std::int64_t{1} << 62;
    refused_lengths({{half, half}}, 0, 1, half, "is a length that makes the sum overflow");
    refused_lengths({{1, most}}, 0, 1, most, "is a length that makes the sum overflow");
    refused_lengths({{1}, {most, 0, 1}}, 1, 2, 1, "is a length that makes the sum overflow");
    CHECK(Lod::from_lengths({{most, 0}}).rows() == most);
    CHECK(Lod::from_lengths({{half, half - 1}}).rows() == most);
}

TEST_CASE("lengths must add up to the sequences of the next level", "[lod][bad_input]") {
    refused_lengths({{2, 3}, {1, 1, 1, 1}}, 0, 2, 5, "is not 4, the number of sequences of the next level");
    refused_lengths({{}, {1}}, 0, 0, 0, "is not 1, the number of sequences of the next level");
    refused_lengths({{1}, {2}, {1}}, 1, 1, 2, "is not 1, the number of sequences of the next level");
}

TEST_CASE("there may be no sequences, or only empty ones", "[lod]") {
    Lod const none{{0}};
    CHECK(none.levels() == 1);
    CHECK(none.sequences(0) == 0);
    CHECK(none.rows() == 0);
    CHECK(none.lengths(0).empty());
    CHECK(none == Lod::from_lengths({{}}));
    CHECK(text(none) == "{{0}}");
    CHECK(Lod{{0}, {0}, {0}}.levels() == 3);
    CHECK(Lod{{0, 0, 0}} == Lod::from_lengths({{0, 0}}));
    CHECK(Lod{{0, 0, 0}, {0}}.sequences(1) == 0);
    CHECK(Lod{{0, 0, 2}, {0, 0, 0}}.rows() == 0);

    Lod const no_levels;
    CHECK((no_levels.levels() == 0 && no_levels.empty() && no_levels.rows() == 0));
    CHECK(no_levels == Lod(Lists{}));
    CHECK(text(no_levels) == "{}");
    CHECK(!(no_levels == none));
}

TEST_CASE("offsets are made from any range of integers", "[lod]") {
    Lod const lod{{0, 2, 3}, {0, 3, 5, 9}};
    List const first{0, 2, 3};
    std::vector<std::int32_t> const second{0, 3, 5, 9};
    std::array<std::int64_t, 4> const also_second{0, 3, 5, 9};
    CHECK(Lod{first, second} == lod);
    CHECK(Lod{std::span<std::int64_t const>(first), also_second} == lod);
    CHECK(Lod{Longs{0, 2, 3}, Tensor<std::int32_t>{0, 3, 5, 9}} == lod);
    CHECK(Lod(std::vector{Longs{0, 2, 3}, Longs{0, 3, 5, 9}}) == lod);
    CHECK(Lod(std::vector<std::vector<std::int32_t>>{{0, 2, 3}, {0, 3, 5, 9}}) == lod);
    CHECK(Lod(std::vector<std::span<std::int64_t const>>{lod[0], lod[1]}) == lod);
    CHECK(Lod(std::array{List{0, 2, 3}, List{0, 3, 5, 9}}) == lod);
    CHECK(Lod(std::views::iota(1, 3) | std::views::transform([](std::int64_t n) { return List{0, n}; })) == Lod{{0, 1}, {0, 2}});
}

TEST_CASE("lengths are made from any range of integers", "[lod]") {
    Lod const lod{{0, 2, 3}, {0, 3, 5, 9}};
    CHECK(Lod::from_lengths({List{2, 1}, std::vector<std::int32_t>{3, 2, 4}}) == lod);
    CHECK(Lod::from_lengths({Tensor<std::int32_t>{2, 1}, Longs{3, 2, 4}}) == lod);
    CHECK(Lod::from_lengths(Lists{{2, 1}, {3, 2, 4}}) == lod);
    CHECK(Lod::from_lengths(std::vector{lod.lengths(0), lod.lengths(1)}) == lod);
    CHECK(Lod::from_lengths(Lists{}) == Lod());
}

TEST_CASE("a Lod from the sequence of every row", "[lod]") {
    CHECK(Lod::from_row_ids({0, 0, 2}, 4) == Lod{{0, 2, 2, 3, 3}});
    CHECK(Lod::from_row_ids(Tensor<std::int32_t>{1, 1, 1}, 2) == Lod{{0, 0, 3}});
    CHECK(Lod::from_row_ids({}, 2) == Lod{{0, 0, 0}});
    CHECK(Lod::from_row_ids({}, 0) == Lod{{0}});
    CHECK(refusal<IndexError>([] { Lod::from_row_ids({0, 1, 0}, 2); }) == "row_ids[2] = 0 is less than the id before it: ids must ascend");
    CHECK(refusal<IndexError>([] { Lod::from_row_ids({0, 1, 2, 1, 0}, 3); }) ==
          "row_ids[3] = 1 is less than the id before it: ids must ascend");
    CHECK(refusal<IndexError>([] { Lod::from_row_ids({0, 4}, 4); }) == "row_ids[1] = 4 is not in [0, 4)");
    CHECK(refusal<IndexError>([] { Lod::from_row_ids({-1, 0}, 4); }) == "row_ids[0] = -1 is not in [0, 4)");
    CHECK(refusal<IndexError>([] { Lod::from_row_ids({0}, 0); }) == "row_ids[0] = 0 is not in [0, 0)");
    CHECK(refusal<ShapeError>([] { Lod::from_row_ids({}, -1); }) == "height is -1, expected in [0, 2^63 - 1]");
}

TEST_CASE("L19: numbers of sequences are a list, not a matrix", "[lod][bad_input]") {
    CHECK(refusal<ShapeError>([] { Lod::from_row_ids(Longs{{0, 0}, {1, 1}}, 2); }) == "row_ids rank is 2, expected 1");
    CHECK(refusal<ShapeError>([] { Lod::from_row_ids(Longs::full({}, 0), 2); }) == "row_ids rank is 0, expected 1");
}

TEST_CASE("R22: ids around the number of sequences", "[lod][bad_input]") {
    std::int64_t const least = std::numeric_limits<std::int64_t>::min();
    CHECK(Lod::from_row_ids({3}, 4) == Lod{{0, 0, 0, 0, 1}});
    for (std::int64_t const id : {std::int64_t{-1}, std::int64_t{4}, std::int64_t{5}, least, most}) {
        auto const error = batches::refused<IndexError>([&] { Lod::from_row_ids({0, id}, 4); });
        CHECK((error.field() == "row_ids" && error.position() == 1 && error.value() == id && error.bound() == 4));
    }
}

TEST_CASE("too many sequences for 64-bit offsets throw", "[lod][bad_input]") {
    CHECK(refusal<ShapeError>([] { Lod::from_row_ids({}, std::int64_t{1} << 62); }) ==
          "offsets shape is [4611686018427387905], expected at most 2^63 - 1 bytes in all");
    CHECK(refused<ShapeError>([] { Lod::from_row_ids({}, std::int64_t{1} << 60); }).field() == "offsets shape");
    CHECK(refused<ShapeError>([] { Lod::from_row_ids({}, most); }).field() == "offsets shape");
}

TEST_CASE("offsets may be counted in rows", "[lod]") {
    CHECK(Lod{{0, 2}, {0, 1, 3}, {0, 2, 4, 5}}.absolute() == Lists{{0, 5}, {0, 2, 5}, {0, 2, 4, 5}});
    CHECK(Lod{{0, 2, 5}, {0, 3, 9, 11, 17, 20}}.absolute() == Lists{{0, 9, 20}, {0, 3, 9, 11, 17, 20}});
    CHECK(Lod{{0, 0, 2}, {0, 3, 3}}.absolute() == Lists{{0, 0, 3}, {0, 3, 3}});
    CHECK(Lod{{0}, {0}}.absolute() == Lists{{0}, {0}});
    CHECK(Lod().absolute().empty());
}

TEST_CASE("a single-pass range does not compile as offsets", "[lod]") {
    STATIC_REQUIRE(!std::constructible_from<Lod, Once>);
    STATIC_REQUIRE(std::constructible_from<Lod, std::span<List const>>);
}

TEST_CASE("Lods are equal if all their offsets are", "[lod]") {
    Lod const lod{{0, 2, 3}, {0, 3, 5, 9}};
    CHECK(lod == Lod{{0, 2, 3}, {0, 3, 5, 9}});
    CHECK(!(lod == Lod{{0, 1, 3}, {0, 3, 5, 9}}));
    CHECK(!(lod == Lod{{0, 2, 3}, {0, 3, 5, 8}}));
    CHECK(!(lod == Lod{{0, 2, 3}}));
    CHECK(!(Lod{{0, 2}} == Lod{{0, 2, 2}}));
    CHECK(lod != Lod());
}

TEST_CASE("levels are sliced without a copy", "[lod]") {
    Lod const lod{{0, 2}, {0, 1, 3}, {0, 2, 4, 5}};
    CHECK(lod.slice_levels(0, 3) == lod);
    CHECK(lod.slice_levels(1, 3) == Lod{{0, 1, 3}, {0, 2, 4, 5}});
    CHECK(lod.slice_levels(0, 2) == Lod{{0, 2}, {0, 1, 3}});
    CHECK(lod.slice_levels(0, 2).rows() == 3);
    CHECK(lod.slice_levels(1, 2)[0].data() == lod[1].data());
    CHECK(lod.slice_levels(1, 1) == Lod());
    CHECK(lod.slice_levels(3, 3) == Lod());
    CHECK(refusal<IndexError>([&] { lod.slice_levels(0, 4); }) == "slice_levels[1] = 4 is not in [0, 4)");
    CHECK(refusal<IndexError>([&] { lod.slice_levels(2, 1); }) == "slice_levels[0] = 2 is not in [0, 2)");
}

TEST_CASE("a level that does not exist throws", "[lod][bad_input]") {
    Lod const lod{{0, 2}, {0, 1, 3}};
    CHECK(refusal<IndexError>([&] { static_cast<void>(lod[2]); }) == "level = 2 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { lod.sequences(3); }) == "level = 3 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { lod.lengths(2); }) == "level = 2 is not in [0, 2)");
    CHECK(refusal<IndexError>([] { static_cast<void>(Lod()[0]); }) == "level = 0 is not in [0, 0)");
    auto const error = batches::refused<IndexError>([&] { lod.check_level(static_cast<std::size_t>(-1)); });
    CHECK((error.field() == "level" && error.value() == -1 && error.bound() == 2));
}

TEST_CASE("copies and slices share the offsets and outlive the original", "[lod]") {
    Lod copy, slice, assigned{{0, 9}};
    {
        List offsets{0, 1, 3};
        Lod const lod{List{0, 2}, offsets};
        offsets[1] = 7;  // the Lod has a copy
        copy = lod;
        slice = lod.slice_levels(1, 2);
        assigned = slice;
        CHECK(copy[1].data() == lod[1].data());
    }
    CHECK(copy == Lod{{0, 2}, {0, 1, 3}});
    CHECK(slice == Lod{{0, 1, 3}});
    CHECK(assigned == slice);
    copy = copy.slice_levels(0, 1);
    CHECK(copy == Lod{{0, 2}});
}

TEST_CASE("a moved-from Lod has no levels and can be used", "[lod]") {
    Lod lod{{0, 2}, {0, 1, 3}};
    {
        Lod const moved = std::move(lod);
        CHECK(moved == Lod{{0, 2}, {0, 1, 3}});
    }
    CHECK(lod == Lod());
    CHECK(text(lod) == "{}");
    lod = Lod{{0, 5}};
    Lod other;
    other = std::move(lod);
    CHECK((other == Lod{{0, 5}} && lod == Lod()));
    Lod& self = other;
    other = std::move(self);
    CHECK(other == Lod{{0, 5}});
}

TEST_CASE("lengths and offsets are each other's inverse", "[lod][property]") {
    CHECK(rc::check([] {
        auto const lod = batches::arbitrary_lod(*rc::gen::inRange<std::size_t>(0, 5));
        Lists offsets, lengths;
        for (std::size_t l = 0; l < lod.levels(); ++l) {
            offsets.push_back(list(lod[l]));
            lengths.push_back(lod.lengths(l));
            RC_ASSERT(lod.sequences(l) == lengths[l].size());
            List row_ids;
            for (std::size_t s = 0; s < lengths[l].size(); ++s) {
                row_ids.insert(row_ids.end(), static_cast<std::size_t>(lengths[l][s]), static_cast<std::int64_t>(s));
            }
            RC_ASSERT(Lod::from_row_ids(row_ids, lengths[l].size()) == lod.slice_levels(l, l + 1));
        }
        RC_ASSERT(Lod(offsets) == lod);
        RC_ASSERT(Lod::from_lengths(lengths) == lod);
    }));
}

TEST_CASE("offsets of an Arrow LargeList are used directly, those of a List by copy", "[lod]") {
    // [[["a"], ["b", "c", "d"]], [], [["e", "f"]]] in Arrow's arrays: of each level the length and the offsets
    std::vector<std::int32_t> const lists{0, 2, 2, 3}, words{0, 1, 4, 6};
    Lod const lod{lists, words};
    Lod const copy = lod;
    for (std::size_t level = 0; level < 2; ++level) {
        std::int64_t const* const buffer = lod[level].data();
        CHECK(buffer == copy[level].data());
        CHECK(reinterpret_cast<std::uintptr_t>(buffer) % 8 == 0);
        CHECK(list(lod[level]) == List(level == 0 ? List{0, 2, 2, 3} : List{0, 1, 4, 6}));
        CHECK(buffer[lod.sequences(level)] == lod[level].back());
    }
    CHECK_THROWS_AS(Lod({std::span(words).subspan(1)}), LodError);  // a slice of an array begins in the middle
}

}  // namespace test_lod
