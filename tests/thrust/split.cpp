// tests/thrust/split.cpp: a device's gradient cut by sections of the height.
#include <rowan/thrust/sparse/split.hpp>

#include "devices.hpp"

namespace test_split {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::SelectedRows, rowan::ShapeError, rowan::split, rowan::Tensor, rowan::to_device;

namespace {

template <class D, class T>
void check_split(SelectedRows<T> const& g, device::Rows const& heights) {
    auto const want = split(g, heights);
    auto const got = split(to_device(D{}, g), heights);
    REQUIRE(got.size() == want.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
        CAPTURE(k);
        CHECK(same_bits(got[k], want[k]));
    }
}

}  // namespace

TEMPLATE_TEST_CASE("every section of a device's gradient has its rows, counted from its beginning", "[thrust][split][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> const g(10, {8, 0, 4, 9, 0}, {{1}, {2}, {3}, {4}, {5}});
    auto const parts = split(D{}, g, {4, 6});
    REQUIRE(parts.size() == 2);
    CHECK(same_bits(parts[0], SelectedRows<float>(4, {0, 0}, {{2}, {5}})));
    CHECK(same_bits(parts[1], SelectedRows<float>(6, {4, 0, 5}, {{1}, {3}, {4}})));
    CHECK(same_bits(split(g, std::vector<std::int32_t>{10}).front(), to_host(g)));
    CHECK(split(SelectedRows<float, D>(), {}).empty());
    CHECK(split(to_device(D{}, SelectedRows<float>(9, {1, 4}, {{1}, {2}})), {4, 5})[1].merged());
}

TEMPLATE_TEST_CASE("split on a device gives the sections of Cpu", "[thrust][split]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_sizes([](std::size_t n, std::size_t width, unsigned hot) {
        check_split<D>(device::gradient<float>(n, 300, width, hot, 5), {0, 100, 0, 50, 1, 149, 0});
    });
    check_split<D>(device::gradient<rowan::bfloat16>(4097, 300, 3, 10, 6), device::Rows(300, 1));
    std::int64_t const third = std::int64_t{1} << 38;
    check_split<D>(device::gradient<double>(1000, 3 * third, 2, 30, 7), {third, third, third});
}

TEMPLATE_TEST_CASE("split on a device refuses heights that are not the gradient's", "[thrust][split][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> const g(10, {8, 0}, {{1}, {2}});
    CHECK(refusal<ShapeError>([&] { split(g, {4, 5}); }) == "sum of heights is 9, expected 10");
    CHECK(refusal<ShapeError>([&] { split(g, {4, -1}); }) == "heights[1] is -1, expected 0 or more");
    CHECK_THROWS_AS(split(g, {4, 7}), ShapeError);
    CHECK_THROWS_AS(split(g, Tensor<std::int64_t>{{4, 6}}), ShapeError);
    CHECK(late_refusal(D{}) == "nothing was thrown");
    SelectedRows<float, D> const bad(10, Tensor<std::int32_t, D>{8, 10}, Tensor<float, D>{{1}, {2}});
    CHECK(refusal<rowan::IndexError>([&] { split(bad, {4, 6}); }) == "rows[1] = 10 is not in [0, 10)");
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

}  // namespace test_split
