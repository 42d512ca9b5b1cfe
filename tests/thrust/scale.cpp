// tests/thrust/scale.cpp: a gradient times a number on a device.
#include <rowan/thrust/sparse/scale.hpp>

#include "devices.hpp"

namespace test_scale {

using device::late_refusal, device::same_bits;
using rowan::scale, rowan::SelectedRows, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

template <class D, class T, class F>
void check_scale(F factor) {
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 63, 64, 65, 4097}) {
        for (std::size_t const width : std::vector<std::size_t>{0, 1, 3, 4}) {
            CAPTURE(n, width, factor);
            auto const g = device::gradient<T>(n, 50, width, 20, 1);
            CHECK(same_bits(scale(to_device(D{}, g), factor), scale(g, factor)));
        }
    }
}

}  // namespace

TEMPLATE_TEST_CASE("scale on a device multiplies every element and keeps the rows", "[thrust][scale][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> const g(9, {4, 1}, {{1, 2}, {3, 4}});
    CHECK(same_bits(scale(g, 0.5), SelectedRows<float>(9, {4, 1}, {{0.5F, 1}, {1.5F, 2}})));
    CHECK(same_bits(scale(D{}, g, -1), SelectedRows<float>(9, {4, 1}, {{-1, -2}, {-3, -4}})));
    CHECK(same_bits(g, SelectedRows<float>(9, {4, 1}, {{1, 2}, {3, 4}})));
    CHECK(to_host(scale(SelectedRows<float, D>(), 2)).height() == 0);
    CHECK(scale(to_device(D{}, SelectedRows<float>(9, {1, 4}, {{1}, {2}})), 2).merged());
}

TEMPLATE_TEST_CASE("scale on a device gives the bits of Cpu", "[thrust][scale]", ROWAN_TEST_DEVICES) {
    check_scale<TestType, float>(0.1);
    check_scale<TestType, double>(0.1F);
    check_scale<TestType, rowan::bfloat16>(1.7);
    check_scale<TestType, std::int32_t>(-77777);
    check_scale<TestType, std::uint8_t>(3);
}

TEMPLATE_TEST_CASE("scale on a device refuses a value of another shape", "[thrust][scale][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> g(9, {4, 1}, {{1, 2}, {3, 4}});
    g.value() = Tensor<float, D>{{1, 2}};
    CHECK_THROWS_AS(scale(g, 2), rowan::ShapeError);
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

}  // namespace test_scale
