// tests/thrust/retain.cpp: the part of a device's gradient that falls on given rows.
#include <rowan/thrust/sparse/retain.hpp>

#include "devices.hpp"

namespace test_retain {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::IndexError, rowan::retain, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

template <class D, class T>
void check_retain() {
    device::for_sizes([](std::size_t n, std::size_t width, unsigned hot) {
        auto const g = device::gradient<T>(n, 300, width, hot, 5);
        for (std::size_t const m : std::vector<std::size_t>{0, 1, 100}) {
            CAPTURE(m);
            auto const rows = device::some_ids(m, 300, 10, 6);
            CHECK(same_bits(retain(to_device(D{}, g), rows), retain(g, rows)));
        }
    });
}

}  // namespace

TEMPLATE_TEST_CASE("requested rows on a device are kept, in their order", "[thrust][retain][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> const g(9, {4, 1, 4, 7}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    SelectedRows<float> const want(9, {4, 4, 7}, {{1, 2}, {5, 6}, {7, 8}});
    CHECK(same_bits(retain(g, {7, 0, 4}), want));
    CHECK(same_bits(retain(D{}, g, Tensor<std::int32_t, D>{4, 7, 7, 4}), want));
    CHECK(!retain(g, {4}).merged());
    CHECK(retain(to_device(D{}, SelectedRows<float>(9, {1, 4, 7}, {{1}, {2}, {3}})), {4, 7}).merged());
    CHECK(to_host(retain(g, {})).shape() == device::Shape{9, 2});
    CHECK(to_host(retain(g, {0, 8})).rows().empty());
    CHECK(to_host(retain(SelectedRows<float, D>(9, {}, Tensor<float, D>::from_shape({0, 2})), {3})).shape() == device::Shape{9, 2});
}

TEMPLATE_TEST_CASE("retain on a device gives the rows of Cpu", "[thrust][retain]", ROWAN_TEST_DEVICES) {
    check_retain<TestType, float>();
    check_retain<TestType, rowan::bfloat16>();
    std::int64_t const height = std::int64_t{1} << 40;
    auto const g = device::gradient<double>(1000, height, 3, 30, 7);
    device::Rows const rows{height / 2, g.rows()[0], g.rows()[999], height - 1};
    CHECK(same_bits(retain(to_device(TestType{}, g), rows), retain(g, rows)));
}

TEMPLATE_TEST_CASE("retain on a device throws like the host's", "[thrust][retain][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> const g(9, {4, 1}, {{1}, {2}});
    CHECK(refusal<IndexError>([&] { retain(g, {4, 9}); }) == "rows[1] = 9 is not in [0, 9)");
    CHECK_THROWS_AS(retain(g, Tensor<std::int64_t, D>{{4}}), ShapeError);
    CHECK(late_refusal(D{}) == "nothing was thrown");
    CHECK(refusal<IndexError>([&] { retain(g, Tensor<std::int64_t, D>{4, 9}); }) == "rows[1] = 9 is not in [0, 9)");
    CHECK(late_refusal(D{}) == "nothing was thrown");
    auto cut = g;
    cut.value() = Tensor<float, D>::from_shape({0, 1});
    CHECK_THROWS_AS(retain(cut, {4}), ShapeError);
}

}  // namespace test_retain
