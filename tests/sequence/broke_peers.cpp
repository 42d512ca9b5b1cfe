// tests/sequence/broke_peers.cpp: offsets, lengths and maps that crashed other libraries, or made them answer wrongly.
#include <rowan/sequence.hpp>

#include "catch.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test_broke_peers {

using rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::StepMap, rowan::Tensor, rowan::TensorArray;

namespace {

using Rows = std::vector<std::int64_t>;

struct Fault {
    std::size_t level, position;
    std::int64_t value;
    bool operator==(Fault const&) const = default;
};

template <class Call>
Fault lod_fault(Call const& call) {
    try {
        call();
    } catch (LodError const& e) {
        return {e.level(), e.position(), e.value()};
    }
    FAIL_CHECK("nothing was thrown");
    return {};
}

}  // namespace

TEST_CASE("L1, L4: the first offset is 0, and the lowest fault is named", "[broke_peers]") {
    CHECK(lod_fault([] { Lod{{1, 3}}; }) == Fault{0, 0, 1});
    CHECK(lod_fault([] { Lod{{269, 404, 0, 0, 0, 0, 0}}; }) == Fault{0, 0, 269});
}

TEST_CASE("L2, L5, L15: the last offset is the number of rows, neither less nor more", "[broke_peers]") {
    CHECK(lod_fault([] { LoDTensor<float>({42.0f, 1.0f}, Lod{{0, 1}}); }) == Fault{0, 1, 1});
    CHECK(lod_fault([] { LoDTensor<float>({42.0f}, Lod{{0, 100}}); }) == Fault{0, 1, 100});
    LoDTensor<float> x({42.0f}, Lod{{0, 1}});
    x.value() = Tensor<float>::zeros({100});  // somebody made it longer
    CHECK(lod_fault([&] { to_padded(x); }) == Fault{0, 1, 1});
    CHECK(lod_fault([&] { TensorArray<float>::unpack(x); }) == Fault{0, 1, 1});
    CHECK(lod_fault([&] { sequence_pool(x, rowan::Pooling::sum); }) == Fault{0, 1, 1});
}

TEST_CASE("L3: a level that goes back to zero", "[broke_peers]") {
    Rows offsets(215, 0);
    offsets[0] = 849;
    CHECK(lod_fault([&] { Lod{offsets}; }) == Fault{0, 0, 849});
    offsets[0] = 0;
    offsets[1] = 849;
    CHECK(lod_fault([&] { Lod{offsets}; }) == Fault{0, 2, 0});
}

TEST_CASE("L6: a level without offsets", "[broke_peers]") {
    CHECK(lod_fault([] { Lod{{}}; }) == Fault{0, 0, 0});
    CHECK(lod_fault([] { Lod{{0, 1}, {}}; }) == Fault{1, 0, 0});
}

TEST_CASE("L8: far too many levels", "[broke_peers]") {
    CHECK_THROWS_AS(Lod(std::vector<Rows>(Lod::max_levels + 1, Rows{0})), LodError);
    CHECK_THROWS_AS(Lod(std::vector<Rows>(1'000'000, Rows{0})), LodError);
    CHECK(Lod(std::vector<Rows>(Lod::max_levels, Rows{0})).levels() == Lod::max_levels);
}

TEST_CASE("L9, L11: slots of another shape", "[broke_peers]") {
    TensorArray<float> array;
    array.write(0, Tensor<float>::zeros({2, 3}));
    CHECK_THROWS_AS(array.write(1, Tensor<float>::zeros({2, 4})), rowan::ShapeError);
    CHECK_THROWS_AS(array.scatter({1}, Tensor<float>::zeros({1, 2, 4})), rowan::ShapeError);
    CHECK(array.size() == 1);
    array.write(1, Tensor<float>::zeros({5, 3}));
    CHECK_THROWS_AS(array.stack(), rowan::ShapeError);
    CHECK(array.concat().shape() == Tensor<float>::shape_type{7, 3});
}

TEST_CASE("L10, L17: lengths and offsets that are negative, or far too large", "[broke_peers]") {
    CHECK(lod_fault([] { Lod::from_lengths({{-1, -2}}); }) == Fault{0, 0, -1});
    CHECK(lod_fault([] { TensorArray<float>::split(Tensor<float>::zeros({3}), {-1, 4}); }) == Fault{0, 0, -1});
    std::int64_t const corrupt = -1'400'000'000'000'000'000;
    CHECK(lod_fault([=] { Lod{{0, 3, corrupt}}; }) == Fault{0, 2, corrupt});
    CHECK(lod_fault([=] { LoDTensor<float>(Tensor<float>::zeros({3}), Lod{{0, -corrupt}}); }) == Fault{0, 1, -corrupt});
    std::int64_t const most = std::numeric_limits<std::int64_t>::max();
    CHECK(lod_fault([=] { Lod::from_lengths({{1, most}}); }) == Fault{0, 1, most});
}

TEST_CASE("L12: a slot that nobody wrote", "[broke_peers]") {
    TensorArray<float> array;
    array.write(2, Tensor<float>{1});
    CHECK_THROWS_AS(array.concat(), rowan::IndexError);
    CHECK_THROWS_AS(array.stack(), rowan::IndexError);
    CHECK_THROWS_AS(array.gather({1}), rowan::IndexError);
    CHECK_THROWS_AS(array.read(0), rowan::IndexError);
}

TEST_CASE("L14: an offset in the middle that is beyond the ends", "[broke_peers]") {
    CHECK(lod_fault([] { Lod{{0, 2, 0}}; }) == Fault{0, 2, 0});
    CHECK(lod_fault([] { Lod{{0, 3, 2, 6}}; }) == Fault{0, 2, 2});
}

TEST_CASE("L16: steps whose sizes rise", "[broke_peers]") {
    StepMap<> const map(Lod{{0, 1, 3}}, 0);
    TensorArray<float> rising;
    rising.write(0, Tensor<float>{1});
    rising.write(1, Tensor<float>{2, 3});
    CHECK_THROWS_AS(rising.pack(0, map), rowan::ShapeError);
}

TEST_CASE("L18: all sequences empty, and no sequences at all", "[broke_peers]") {
    for (Lod const& lod : {Lod{{0, 0, 0}}, Lod{{0}}, Lod{{0, 0}, {0}}}) {
        CAPTURE(lod);
        LoDTensor<float> const x(Tensor<float>::zeros({0, 3}), lod);
        auto const [steps, map] = TensorArray<float>::unpack(x);
        CHECK(steps.size() == 0);
        CHECK(steps.pack(0, map) == x);
        CHECK(sequence_reverse(x) == x);
        CHECK(sequence_softmax(x) == x);
        CHECK(sequence_pool(x, rowan::Pooling::max).value().shape()[0] == lod.sequences(lod.levels() - 1));
        CHECK(from_padded(to_padded(x).value, lod) == x);
    }
}

TEST_CASE("L20: reversing stays inside each sequence", "[broke_peers]") {
    LoDTensor<float> const x({1, 2, 3, 4}, Lod{{0, 0, 3, 4}});
    CHECK(sequence_reverse(x).value() == Tensor<float>{3, 2, 1, 4});
}

TEST_CASE("a tensor array grows to no more than its largest size", "[broke_peers]") {
    TensorArray<float> array;
    CHECK_THROWS_AS(array.write(static_cast<std::size_t>(-1), Tensor<float>{1}), rowan::IndexError);
    CHECK_THROWS_AS(array.resize(static_cast<std::size_t>(-1)), rowan::IndexError);
    CHECK_THROWS_AS(array.read(static_cast<std::size_t>(-1)), rowan::IndexError);
    CHECK(array.size() == 0);
}

}  // namespace test_broke_peers
