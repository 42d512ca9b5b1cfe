// tests/sparse/scatter_add.cpp: rows added to a table, with the bits of the serial loop.
#include <rowan/sparse/scatter_add.hpp>
#include <rowan/sparse/scale.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace test_scatter_add {

using inputs::Rows;
using rowan::bfloat16, rowan::Cpu, rowan::float16, rowan::scatter_add, rowan::SelectedRows, rowan::Tensor;

namespace {

// Compares a table of `To` and rows of `From` with the serial loop, at all sizes.
template <class To, class From>
void check_bits() {
    inputs::for_sizes<From>([](SelectedRows<From> const& g) {
        auto const before = inputs::wild<To>(g.shape(), 7);
        auto want = before;
        reference::scatter_add(want, g.rows(), g.value());
        auto got = before;
        scatter_add(got, g);
        CHECK(reference::same(got, want));
        got = before;
        scatter_add(Cpu{.threads = 3}, got, std::vector<std::int32_t>(g.rows().begin(), g.rows().end()), g.value());
        CHECK(reference::same(got, want));
    });
}

}  // namespace

TEST_CASE("rows are added where they belong, duplicates too", "[scatter_add][golden]") {
    SelectedRows<float> const g(4, {1, 1, 3}, {{1, 2}, {3, 4}, {5, 6}});
    Tensor<float> const want{{0, 0}, {4, 6}, {0, 0}, {5, 6}};
    auto const after = [](auto add) {
        auto dst = Tensor<float>::zeros({4, 2});
        add(dst);
        return dst;
    };
    CHECK((after([&](auto& dst) { scatter_add(dst, g); }) == want));
    CHECK((after([&](auto& dst) { scatter_add(Cpu{.threads = 2}, dst, g); }) == want));
    CHECK((after([&](auto& dst) { scatter_add(dst, {1, 1, 3}, g.value()); }) == want));
    CHECK((after([&](auto& dst) { scatter_add(Cpu{.threads = 2}, dst, {1, 1, 3}, g.value()); }) == want));
}

TEMPLATE_TEST_CASE("every element type has the bits of the serial loop", "[scatter_add]", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool, bfloat16, float16) {
    check_bits<TestType, TestType>();
}

TEST_CASE("a table of another type than the rows has the bits of the serial loop, every contribution stored", "[scatter_add][mixed]") {
    check_bits<bfloat16, float>();
    check_bits<float16, float>();
    check_bits<float, bfloat16>();
    check_bits<double, float>();
    check_bits<float, double>();
    check_bits<float, std::int32_t>();
    check_bits<std::int32_t, std::uint8_t>();
    check_bits<std::uint8_t, std::int64_t>();
}

TEMPLATE_TEST_CASE("wide rows can be shared by threads, in any proportion", "[scatter_add]", float, double, bfloat16) {
    for (std::size_t width : std::vector<std::size_t>{31, 32, 33, 64, 65, 100, 128, 257}) {
        auto const g = inputs::gradient<TestType>(20, 300'000 / width, {width}, width);
        auto const before = inputs::wild<TestType>(g.shape(), 7);
        auto want = before;
        reference::scatter_add(want, g.rows(), g.value());
        for (int threads : {2, 3, 4, 5, 8, 16}) {
            CAPTURE(width, threads);
            auto got = before;
            scatter_add(Cpu{threads}, got, g);
            CHECK(reference::same(got, want));
        }
    }
}

TEST_CASE("narrow rows go to threads by their place in the table", "[scatter_add]") {
    struct Case {
        std::int64_t height;
        std::size_t n, width;
    };
    for (Case const& c : std::vector<Case>{
             {1, 300'000, 1},        // one bucket
             {3, 270'000, 1},        // popular ones only
             {1000, 700'000, 1},     // more lookups than one pass partitions
             {1025, 140'000, 2},     // a bucket of two rows
             {500'000, 40'000, 7},   // most buckets have many parts
             {5'000'000, 90'000, 3}  // most rows are not touched
         }) {
        auto const g = inputs::gradient<float>(c.height, c.n, {c.width}, c.n);
        auto const before = inputs::wild<float>(g.shape(), 7);
        REQUIRE(g.value().size() >= rowan::detail::serial_below);
        auto want = before;
        reference::scatter_add(want, g.rows(), g.value());
        for (int threads : {2, 3, 8}) {
            CAPTURE(c.height, c.n, c.width, threads);
            auto got = before;
            scatter_add(Cpu{threads}, got, g);
            CHECK(reference::same(got, want));
        }
    }
}

TEST_CASE("every contribution is rounded as it is stored", "[scatter_add]") {
    Tensor<bfloat16> table{256};  // its neighbour is 258
    scatter_add(table, SelectedRows<float>(1, {0, 0, 0, 0}, {0.9F, 0.9F, 0.9F, 0.9F}));
    CHECK(float(table(0)) == 256);
}

TEST_CASE("a million duplicates of one row are all counted", "[scatter_add]") {
    std::size_t const n = 1'000'000;
    for (int threads : {1, 2}) {
        auto counts = Tensor<std::int64_t>::zeros({3, 1});
        scatter_add(Cpu{threads}, counts, Rows(n, 1), Tensor<std::int64_t>::full({n, 1}, 1));
        CHECK((counts == Tensor<std::int64_t>{{0}, {1'000'000}, {0}}));
    }
}

TEST_CASE("zeros, infinities, denormals and a NaN are added as IEEE 754 specifies", "[scatter_add]") {
    using limits = std::numeric_limits<float>;
    float const tiny = limits::denorm_min();
    float const payload = std::bit_cast<float>(0x7FC12345U);
    Tensor<float> table{-0.0F, -0.0F, tiny, limits::infinity(), limits::infinity(), payload, 1};
    scatter_add(table, {0, 1, 2, 3, 4, 5, 6, 2}, Tensor<float>{-0.0F, 0.0F, tiny, -limits::infinity(), 1, 1, payload, tiny});
    CHECK(std::bit_cast<std::uint32_t>(table(0)) == 0x80000000U);
    CHECK(std::bit_cast<std::uint32_t>(table(1)) == 0);
    CHECK(std::bit_cast<std::uint32_t>(table(2)) == 3);
    CHECK(table(3) != table(3));
    CHECK(table(4) == limits::infinity());
    CHECK(std::bit_cast<std::uint32_t>(table(5)) == 0x7FC12345U);
    CHECK(std::bit_cast<std::uint32_t>(table(6)) == 0x7FC12345U);
}

TEST_CASE("other rows keep their bits, and nothing outside the table is written", "[scatter_add]") {
    auto around = Tensor<float>::full({9, 5}, std::bit_cast<float>(0x7F800123U));  // a signaling NaN
    auto table = around.slice(2, 7);
    for (std::size_t k = 0; k < 5; ++k) table(2, k) = 1;
    scatter_add(Cpu{.threads = 2}, table, SelectedRows<float>(5, {2}, {{1, 2, 3, 4, 5}}));
    for (std::size_t i = 0; i < around.size(); ++i) {
        auto const bits = std::bit_cast<std::uint32_t>(around.data()[i]);
        CHECK(bits == (i / 5 == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(i % 5) + 2) : 0x7F800123U));
    }
}

TEST_CASE("adding x and then -x restores integers", "[scatter_add][property]") {
    CHECK(rc::check([] {
        auto const g = inputs::arbitrary_gradient<std::int32_t>(5, 2);
        auto const before = inputs::wild<std::int32_t>({5, 2}, *rc::gen::arbitrary<std::uint64_t>());
        auto table = before;
        scatter_add(table, g);
        scatter_add(table, rowan::scale(g, -1));
        RC_ASSERT(reference::same(table, before));
    }));
}

TEST_CASE("scatter_add refuses shapes that do not fit", "[scatter_add][bad_input]") {
    auto table = test::ramp<float>({4, 2});
    auto scalar = Tensor<float>::full({}, 1);
    auto const rows = test::ramp<float>({2, 2});
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, scalar, {0, 1}, rows); }, scalar) == "dst rank is 0, expected at least 1");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0}, rows); }, table) == "src.shape(0) is 2, expected 1");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0, 1, 9}, rows); }, table) == "src.shape(0) is 2, expected 3");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0, 1}, test::ramp<float>({2, 3})); }, table) == "src.shape() is [2, 3], expected [2, 2]");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0, 1}, scalar); }, table) == "src rank is 0, expected at least 1");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, table, Tensor<std::int32_t>{{0, 1}}, rows); }, table) == "ids rank is 2, expected 1");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0, 1}, test::ramp<float>({2})); }, table) ==
          "src.shape() is [2], expected [2, 2]");
    SelectedRows<float> const g(4, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}});
    auto short_table = test::ramp<float>({3, 2});
    auto wide_table = test::ramp<float>({4, 2, 1});
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, short_table, g); }, short_table) == "dst.shape(0) is 3, expected 4");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { scatter_add(exec, wide_table, g); }, wide_table) ==
          "dst.shape() is [4, 2, 1], expected [4, 2]");
    CHECK_NOTHROW(scatter_add(table, {0, 3}, rows));
    CHECK_NOTHROW(scatter_add(table, g));
}

TEST_CASE("a table that shares memory with rows or ids throws", "[scatter_add][bad_input]") {
    auto table = test::ramp<float>({6, 2});
    auto const upper = table.slice(0, 2);
    CHECK(test::refusal<rowan::Error>([&](Cpu e) { scatter_add(e, table, {4, 5}, upper); }, table) == "dst shares memory with src");
    auto ids = Tensor<std::int64_t>{{2}, {1}, {0}};
    auto const flat = ids.reshaped({3});
    auto const ones = Tensor<std::int64_t>::full({3, 1}, 1);
    CHECK(test::refusal<rowan::Error>([&](Cpu e) { scatter_add(e, ids, flat, ones); }, ids) == "dst shares memory with ids");
}

}  // namespace test_scatter_add
