// tests/sparse/growing_tensor.cpp: rows keep their addresses, and memory is used only for those that were written.
#include <rowan/sparse/growing_tensor.hpp>

#include "catch.hpp"
#include "forked.hpp"
#include "process_memory.hpp"

#include <rowan/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace test_growing_tensor {

using process_memory::limit, process_memory::measurable, process_memory::Memory, process_memory::out_of_memory;
using rowan::bfloat16, rowan::GrowingTensor, rowan::ShapeError, rowan::Tensor, rowan::ValueError;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Grows a tensor of this row shape, writes its rows, and checks that older aliases see them at the same place.
template <class T>
void check_rows(typename Tensor<T>::shape_type const& row_shape) {
    GrowingTensor<T> growing(row_shape, 100'000);
    CHECK(growing.height() == 0);
    CHECK(growing.most_rows() >= 100'000);
    auto const number = [](std::size_t i) { return rowan::dtype<T>::narrow(static_cast<typename rowan::dtype<T>::sum>(i % 101)); };
    std::vector<Tensor<T>> aliases;
    T const* first = nullptr;
    for (std::int64_t height : {1, 2, 50, 50, 3000, 30'000}) {
        auto const before = static_cast<std::size_t>(growing.height());
        growing.grow(height);
        auto& tensor = growing.tensor();
        CHECK(growing.height() == height);
        REQUIRE(tensor.dimension() == row_shape.size() + 1);
        CHECK(tensor.shape(0) == static_cast<std::size_t>(height));
        for (std::size_t i = 0; i < row_shape.size(); ++i) CHECK(tensor.shape(i + 1) == row_shape[i]);
        if (first == nullptr) first = tensor.data();
        CHECK(tensor.data() == first);
        std::size_t const width = tensor.row_size();
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < before * width; ++i) wrong += tensor.data()[i] != number(i);
        CHECK(wrong == 0);
        for (std::size_t i = before * width; i < tensor.size(); ++i) tensor.data()[i] = number(i);
        aliases.push_back(tensor.share());
    }
    for (std::size_t k = 0; k < aliases.size(); ++k) {
        CHECK(aliases[k].shape(0) == (std::vector<std::size_t>{1, 2, 50, 50, 3000, 30'000})[k]);
        CHECK(aliases[k].data() == first);
        if (aliases[k].size() != 0) aliases[k].data()[0] = number(k + 7);
        CHECK((aliases[0].size() == 0 || aliases[0].data()[0] == number(k + 7)));
    }
}

}  // namespace

TEST_CASE("GrowingTensor keeps the addresses and the contents of its rows", "[growing_tensor]") {
    check_rows<float>({5});
    check_rows<bfloat16>({3});
    check_rows<double>({2, 3});
    check_rows<std::int64_t>({});
    check_rows<float>({0});
    check_rows<float>({2, 1, 1, 2, 1, 1, 1});
}

TEST_CASE("GrowingTensor grows row by row, and an alias outlives it", "[growing_tensor]") {
    Tensor<std::int64_t> all, one;
    {
        GrowingTensor<std::int64_t> growing({16});
        growing.grow(1);
        one = growing.tensor().share();
        for (std::int64_t row = 0; row < 10'000; ++row) {
            growing.grow(row + 1);
            for (auto& x : growing.tensor().row(static_cast<std::size_t>(row))) x = row;
        }
        all = growing.tensor().share();
        growing.grow(20'000);
    }
    CHECK((all.shape(0) == 10'000 && one.shape(0) == 1));
    all(0, 3) = -5;
    CHECK(one(0, 3) == -5);
    all(0, 3) = 0;
    std::int64_t sum = 0;
    for (std::int64_t const x : all) sum += x;
    CHECK(sum == 16 * (10'000LL * 9'999 / 2));
}

TEST_CASE("GrowingTensor refuses to shrink, and more rows than it has room for", "[growing_tensor]") {
    GrowingTensor<float> growing({2}, 5);
    // Addresses are reserved for whole huge pages; the number of rows is as stated.
    CHECK(growing.most_rows() == 5);
    growing.grow(3);
    growing.tensor()(2, 1) = 8;
    auto const unchanged = [&] { return growing.height() == 3 && growing.tensor().shape(0) == 3 && growing.tensor()(2, 1) == 8; };
    CHECK_THROWS_WITH(growing.grow(2), "height is 2, expected at least 3");
    CHECK_THROWS_WITH(growing.grow(6), "height is 6, expected in [0, 5]");
    CHECK_THROWS_WITH(growing.grow(-1), "height is -1, expected at least 3");
    CHECK_THROWS_WITH(growing.reserve(6), "height is 6, expected in [0, 5]");
    CHECK_THROWS_AS(growing.reserve(-1), ShapeError);
    CHECK(unchanged());
    growing.reserve(5);
    growing.reserve(0);
    CHECK(unchanged());
    growing.grow(5);
    CHECK(growing.tensor()(2, 1) == 8);
    CHECK_THROWS_AS(growing.grow(6), ShapeError);

    GrowingTensor<float> empty({2}, 0);
    empty.grow(0);
    CHECK(empty.tensor().size() == 0);
    CHECK_THROWS_AS(empty.grow(1), ShapeError);
}

TEST_CASE("GrowingTensor names a bad shape and a bad number of rows", "[growing_tensor]") {
    constexpr std::size_t large = std::size_t{1} << 62;
    CHECK_THROWS_WITH(GrowingTensor<float>({1, 1, 1, 1, 1, 1, 1, 1}), "rank is 9, expected at most 8");
    CHECK_THROWS_AS(GrowingTensor<float>({1, 1, 1, 1, 1, 1, 1, 1}), ShapeError);
    CHECK_THROWS_WITH(GrowingTensor<float>({large}),
                      "tensor shape is [1, 4611686018427387904], expected at most 2^63 - 1 bytes in all");
    CHECK_THROWS_AS(GrowingTensor<float>({large}), ShapeError);
    CHECK_THROWS_WITH(GrowingTensor<float>({2}, 1LL << 60),
                      "most_rows is 1152921504606846976, expected rows of at most 2^62 bytes in all");
    CHECK_THROWS_AS(GrowingTensor<float>({2}, 1LL << 60), ShapeError);
    CHECK_THROWS_WITH(GrowingTensor<float>({2}, -1), "most_rows is -1, expected 0 or more");
    CHECK_THROWS_AS(GrowingTensor<float>({2}, -1), ValueError);
    CHECK_THROWS_AS(GrowingTensor<float>({2}, 1LL << 58), std::bad_alloc);  // 2^61 bytes: no machine has so many addresses
}

TEST_CASE("GrowingTensor uses its own memory whatever became of tensor()", "[growing_tensor]") {
    GrowingTensor<float> growing({64});
    growing.grow(1);
    growing.tensor()(0, 63) = 3;
    auto const taken = std::move(growing.tensor());
    growing.grow(20'000);
    growing.tensor()(19'999, 63) = 4;
    growing.tensor() = Tensor<float>{1, 2};
    growing.grow(40'000);
    growing.tensor()(39'999, 63) = 5;
    CHECK((growing.tensor()(0, 63) == 3 && growing.tensor()(19'999, 63) == 4 && taken(0, 63) == 3));
}

TEST_CASE("GrowingTensor uses memory only for rows that were written", "[growing_tensor]") {
    Memory const before;
    GrowingTensor<float> growing({64});
    growing.grow(1 << 21);  // 512 MiB
    growing.tensor()(0, 0) = 1;
    growing.tensor()((1 << 21) - 1, 63) = 2;
    if (measurable) CHECK(Memory().resident - before.resident < 32 * mib);
    CHECK(growing.tensor()(1 << 20, 5) == 0);
    // A row of which one alone is larger than the memory of most machines.
    GrowingTensor<float> wide({std::size_t{1} << 35});
    CHECK(wide.most_rows() >= 1);

    std::size_t const addresses = Memory().addresses;
    for (int i = 0; i < 3; ++i) GrowingTensor<float>({64}).grow(10);
    if (measurable) CHECK(Memory().addresses < addresses + 16 * mib);
}

#ifdef __linux__

TEST_CASE("GrowingTensor: a process with few addresses reserves fewer, and others have some left", "[growing_tensor]") {
    if (!measurable) return;
    CHECK(forked::succeeds([] {
        if (!limit(RLIMIT_AS, Memory().addresses + 1024 * mib)) return false;
        if (!out_of_memory([] { GrowingTensor<float>({64}, 1 << 23); })) return false;  // 2 GiB
        GrowingTensor<float> growing({64}), other({64});
        for (auto const* g : {&growing, &other}) {
            if (g->most_rows() < (1 << 17) || g->most_rows() > (1 << 19)) return false;  // 32 and 128 MiB
        }
        GrowingTensor<double> const state({64}, growing.most_rows());
        std::vector<char> const memory(256 * mib);  // others need addresses, too
        growing.grow(growing.most_rows());
        growing.tensor()(static_cast<std::size_t>(growing.height()) - 1, 63) = 1;
        return GrowingTensor<float>({64}, 1 << 10).most_rows() == 1 << 10;
    }));
}

TEST_CASE("GrowingTensor: growing beyond memory throws and changes nothing", "[growing_tensor]") {
    if (!measurable) return;
    CHECK(forked::succeeds([] {
        GrowingTensor<float> growing({64});
        growing.grow(10);
        growing.tensor()(9, 63) = 7;
        auto const alias = growing.tensor().share();
        if (!limit(RLIMIT_DATA, Memory().writable + 64 * mib)) return false;
        for (int i = 0; i < 2; ++i) {
            if (!out_of_memory([&] { growing.grow(1 << 20); }) || !out_of_memory([&] { growing.reserve(1 << 20); }))
                return false;
            if (growing.height() != 10 || growing.tensor().shape(0) != 10) return false;
        }
        growing.grow(1 << 16);  // 16 MiB
        growing.tensor()((1 << 16) - 1, 63) = 8;
        return growing.tensor()(9, 63) == 7 && growing.tensor().data() == alias.data();
    }));
}

TEST_CASE("GrowingTensor: rows that a forked process writes are its own", "[growing_tensor]") {
    GrowingTensor<std::int64_t> growing({8});
    growing.grow(100);
    growing.tensor().fill(1);
    CHECK(forked::succeeds([&] {
        growing.grow(50'000);
        for (auto& x : growing.tensor()) x = 2;
        return growing.tensor()(99, 7) == 2 && growing.tensor()(49'999, 7) == 2;
    }));
    CHECK(growing.height() == 100);
    for (std::int64_t const x : growing.tensor()) REQUIRE(x == 1);
    growing.grow(101);
    CHECK((growing.tensor()(99, 7) == 1 && growing.tensor()(100, 0) == 0));
}

#endif

}  // namespace test_growing_tensor
