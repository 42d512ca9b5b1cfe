// tests/exceptions/steps.cpp: the functions of a recurrent loop allocate nothing after the first pass; functions of
// arrays, batches and maps change nothing if an allocation fails.
#include <rowan/sequence.hpp>

#include "catch.hpp"
#include "failing_new.hpp"
#include "refused.hpp"

#include <cstddef>
#include <new>
#include <string>
#include <vector>

namespace test_steps {

using rowan::Lod, rowan::LoDTensor, rowan::StepMap, rowan::Tensor, rowan::TensorArray;

namespace {

LoDTensor<float> batch() {
    auto value = Tensor<float>::from_shape({20, 3});
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = static_cast<float>(i);
    return {value, Lod{{0, 2, 5}, {0, 3, 9, 11, 17, 20}}};
}

// Lets every allocation fail while it exists.
class NoMemory {
public:
    NoMemory() { test::fail_allocation(1, true); }
    NoMemory(NoMemory const&) = delete;
    NoMemory& operator=(NoMemory const&) = delete;
    ~NoMemory() { test::fail_allocation(0, false); }
};

// Fails the n-th allocation, n = 1, 2, …, until `call` succeeds. After each failure, `what(arguments)` must be
// unchanged. Returns the number of allocations.
template <class Make, class Call, class What>
std::size_t survives(Make const& make, Call const& call, What const& what) {
    std::size_t n = 1;
    for (bool threw = true; threw; ++n) {
        CAPTURE(n);
        auto x = make();
        std::string const before = what(x);
        threw = false;
        test::fail_allocation(n);
        try {
            call(x);
        } catch (std::bad_alloc const&) {
            threw = true;
        }
        test::fail_allocation(0);
        CHECK((!threw || what(x) == before));
        REQUIRE(n < 200);
    }
    return n - 2;
}

auto const everything = [](auto const& x) { return test::seen(x); };

}  // namespace

TEST_CASE("out of memory: an array keeps its slots", "[exceptions][tensor_array]") {
    auto const written = [] {
        TensorArray<float> array;
        array.write(1, Tensor<float>{{1, 2}, {3, 4}});
        return array;
    };
    auto const parts = [] { return TensorArray<float>::unstack(Tensor<float>{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}); };
    Tensor<float> const value{{9, 8}, {7, 6}}, high{{9, 8}, {7, 6}, {5, 4}};
    auto const two = Tensor<float>::full({2, 2, 2}, 5);
    using Array = TensorArray<float>;
    auto const check = [&](auto const& make) {
        CHECK(survives(make, [&](Array& a) { a.write(1, value, false); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a.write(7, value); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a.write(7, high, false); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a.write(0, high, false); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a.write(1, high, false); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a.scatter({9, 0}, two); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a.scatter({0, 1}, two); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a.accumulate(8, value); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a.resize(100); }, everything) > 0);
        CHECK(survives(make, [&](Array& a) { a = make(); }, everything) > 0);
    };
    check(parts);
    check([&] {
        auto array = written();
        auto const other = array.read(1);  // so that a copy must allocate
        array.write(0, other);
        return array;
    });
    auto const fresh = [] { return Array(); };
    CHECK(survives(fresh, [&](Array& a) { a.write(3, value, false); }, everything) > 0);
    CHECK(survives(fresh, [&](Array& a) { a.scatter({3, 1}, two); }, everything) > 0);
    Array after;
    test::fail_allocation(1);
    CHECK_THROWS_AS(after.write(0, value, false), std::bad_alloc);
    test::fail_allocation(0);
    after.write(0, Tensor<float>{1});  // a write that failed fixes no rank
    CHECK(after.size() == 1);
}

TEST_CASE("out of memory: a batch keeps its rows and sequences", "[exceptions][lod_tensor]") {
    using Batch = LoDTensor<float>;
    Batch const other({1, 2, 3}, {{0, 1, 3}});
    survives(batch, [](Batch& x) { x.set_lod(Lod{{0, 4, 20}}); }, everything);
    CHECK(survives(batch, [](Batch& x) { x.set_lod(Lod{{0, 1}, {0, 20}}); }, everything) > 0);
    CHECK(survives(batch, [&](Batch& x) { x = other; }, everything) > 0);
    CHECK(survives(batch, [&](Batch& x) { x = Batch::from_sequences({other.value(), other.value()}); }, everything) > 0);
}

TEST_CASE("out of memory: a map and the outputs of unpack do not change", "[exceptions][step_map]") {
    Lod const lod = Lod::from_lengths({{3, 1, 2}});
    auto const maps = [] { return StepMap<>(Lod::from_lengths({{2}, {1, 2}}), 1, false); };
    StepMap<> const longer(lod, 0);
    CHECK(survives(maps, [&](StepMap<>& map) { map = longer; }, everything) > 0);
    CHECK(survives(maps, [&](StepMap<>& map) { map = StepMap<>(lod, 0, {2, 0, 1}); }, everything) > 0);

    struct Both {
        TensorArray<float> steps;
        StepMap<> map;
    };
    auto const x = batch();
    auto const both = [&] {
        auto made = TensorArray<float>::unpack(LoDTensor<float>({1, 2, 3}, {{0, 1, 3}}));
        return Both{std::move(made.steps), std::move(made.map)};
    };
    auto const call = [&](Both& to) { TensorArray<float>::unpack(x, 0, true, &to.steps, &to.map); };
    CHECK(survives(both, call, [](Both const& y) { return test::seen(y.steps) + test::seen(y.map); }) > 0);
}

TEST_CASE("read, shrink and write allocate nothing after the first pass", "[exceptions][tensor_array]") {
    auto const x = batch();
    for (std::size_t level : std::vector<std::size_t>{0, 1}) {
        auto const [steps, map] = TensorArray<float>::unpack(x, {.level = level});
        TensorArray<float> copies, shared;
        for (std::size_t t = 0; t < steps.size(); ++t) {
            copies.write(t, steps.read(t), false);
            shared.write(t, steps.read(t));
        }
        Tensor<float> const state = Tensor<float>::zeros({map.sequences(), 2});
        std::size_t rows = 0;
        bool failed = false;
        {
            NoMemory const none;
            try {
                for (std::size_t t = 0; t < steps.size(); ++t) {
                    auto const step = steps.read(t);
                    shared.write(t, step);
                    copies.write(t, step, false);
                    rows += shrink(state, map, t).shape()[0] + copies.read(t).size();
                    rows += shrink(steps.read(0), map, t).size();
                }
            } catch (std::bad_alloc const&) {
                failed = true;
            }
        }
        CHECK_FALSE(failed);
        CHECK(rows == 3 * map.elements().size());
    }
}

}  // namespace test_steps
