// tests/thrust/merge.cpp: duplicates summed on a device, in the order that rowan promises.
#include <rowan/thrust/sparse/merge.hpp>

#include "devices.hpp"

namespace test_merge {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::merge, rowan::merge_into, rowan::RowPlan, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

template <class D, class T>
void check_merge() {
    device::for_sizes([](std::size_t n, std::size_t width, unsigned hot) {
        auto const g = device::gradient<T>(n, 300, width, hot, 5);
        auto const want = merge(g);
        auto const got = merge(to_device(D{}, g));
        CHECK(got.merged());
        CHECK(same_bits(got, want));
        CHECK(same_bits(merge(got), want));
    });
}

}  // namespace

TEMPLATE_TEST_CASE("merge on a device sums duplicates", "[thrust][merge][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> const g(9, {4, 1, 4, 7}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    CHECK(same_bits(merge(g), SelectedRows<float>(9, {1, 4, 7}, {{3, 4}, {6, 8}, {7, 8}})));
    CHECK(same_bits(merge(D{}, SelectedRows<std::int32_t, D>(2, {1, 1}, {{5}, {-7}})), SelectedRows<std::int32_t>(2, {1}, {{-2}})));
    SelectedRows<bool, D> const flags(3, {2, 0, 2}, {true, false, true});
    CHECK(same_bits(merge(flags), SelectedRows<bool>(3, {0, 2}, {false, true})));
    CHECK(to_host(merge(SelectedRows<float, D>())).height() == 0);
    CHECK(to_host(merge(SelectedRows<float, D>(9, {}, Tensor<float, D>::from_shape({0, 2, 3})))).shape() == device::Shape{9, 2, 3});
}

TEMPLATE_TEST_CASE("merge on a device gives the bits of Cpu", "[thrust][merge]", ROWAN_TEST_DEVICES) {
    check_merge<TestType, float>();
    check_merge<TestType, double>();
    check_merge<TestType, rowan::bfloat16>();
}

TEMPLATE_TEST_CASE("merge on a device sums rows of many lookups in levels of 64", "[thrust][merge]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (std::size_t const n : std::vector<std::size_t>{64 * 64 * 64, 64 * 64 * 64 + 1, 270'000}) {
        CAPTURE(n);
        auto const g = device::gradient<float>(n, 1000, 1, n == 270'000 ? 98 : 100, 6);
        CHECK(same_bits(merge(to_device(D{}, g)), merge(g)));
    }
    // rows that begin and end at any position in their blocks
    for (unsigned seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        auto const g = device::gradient<double>(9'000 + 37 * seed, 2 + seed, 3, 10 * (seed % 5), seed);
        CHECK(same_bits(merge(to_device(D{}, g)), merge(g)));
    }
}

TEMPLATE_TEST_CASE("merge on a device keeps heights beyond 32 bits", "[thrust][merge]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const g = device::gradient<float>(1000, std::int64_t{1} << 40, 4, 30, 7);
    CHECK(same_bits(merge(to_device(D{}, g)), merge(g)));
    std::int64_t const tall = (std::int64_t{1} << 32) + 1;
    SelectedRows<float> const ends(tall, {tall - 1, 0, tall - 1, tall - 2}, {{1}, {2}, {3}, {4}});
    CHECK(same_bits(merge(to_device(D{}, ends)), SelectedRows<float>(tall, {0, tall - 2, tall - 1}, {{2}, {4}, {4}})));
}

TEMPLATE_TEST_CASE("one plan on a device merges several values, also into one of them", "[thrust][merge]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const ids = device::some_ids(500, 100, 20, 8);
    RowPlan<D> const plan(ids, 100);
    for (std::size_t const width : std::vector<std::size_t>{1, 4, 6}) {
        auto const value = device::filled<float>({500, width}, 9);
        auto const want = merge(RowPlan<>(ids, 100), value);
        CHECK(same_bits(merge(plan, to_device(D{}, value)), want));
        SelectedRows<float, D> out(D{}, 100, ids, to_device(D{}, value));
        merge_into(D{}, plan, out.value(), out);
        CHECK(same_bits(out, want));
    }
    SelectedRows<float, D> g(D{}, 100, ids, to_device(D{}, device::filled<float>({500, 2}, 9)));
    auto const want = merge(to_host(g));
    merge_into(g, g);
    CHECK(same_bits(g, want));
}

TEMPLATE_TEST_CASE("merge on a device throws for values of other shapes, and earlier errors", "[thrust][merge][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    RowPlan<D> const plan({1, 0}, 2);
    CHECK_THROWS_AS(merge(plan, Tensor<float, D>::zeros({3, 1})), ShapeError);
    CHECK_THROWS_AS(merge(plan, Tensor<float, D>::full({}, 1)), ShapeError);
    SelectedRows<float, D> cut(2, {1, 0}, {{1}, {2}});
    cut.value() = Tensor<float, D>{{1}};
    CHECK_THROWS_AS(merge(cut), ShapeError);
    SelectedRows<float, D> const bad(2, Tensor<std::int32_t, D>{1, 2}, Tensor<float, D>{{1}, {2}});
    auto out = SelectedRows<float, D>(2, {0}, {{5}});
    CHECK(refusal<rowan::IndexError>([&] { merge_into(bad, out); }) == "rows[1] = 2 is not in [0, 2)");
    CHECK(same_bits(out, SelectedRows<float>(2, {0}, {{5}})));
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

}  // namespace test_merge
