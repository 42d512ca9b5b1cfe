// tests/thrust/squared_norm.cpp: the sum of squares of the dense tensor of a device's gradient.
#include <rowan/thrust/sparse/squared_norm.hpp>

#include "devices.hpp"

#include <bit>

namespace test_squared_norm {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::RowPlan, rowan::SelectedRows, rowan::ShapeError, rowan::squared_norm, rowan::Tensor, rowan::to_device;

namespace {

template <class D, class T>
void check_norm(SelectedRows<T> const& g) {
    auto const on_device = to_device(D{}, g);
    auto const want = squared_norm(g);
    CHECK(squared_norm(on_device) == want);
    CHECK(squared_norm(RowPlan<D>(on_device), on_device.value()) == want);
    CHECK(squared_norm(on_device.value()) == squared_norm(g.value()));
}

template <class D, class T>
void check_sizes() {
    device::for_sizes([](std::size_t n, std::size_t width, unsigned hot) { check_norm<D>(device::gradient<T>(n, 3000, width, hot, 5)); });
    check_norm<D>(device::gradient<T>(20'000, 9000, 17, 5, 6));  // more than 64 · 64 rows
}

}  // namespace

TEMPLATE_TEST_CASE("duplicates on a device are summed before they are squared", "[thrust][squared_norm][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    CHECK(squared_norm(SelectedRows<float, D>(9, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}})) == 36 + 64 + 9 + 16);
    CHECK(squared_norm(D{}, SelectedRows<float, D>(9, {4, 4}, {{1}, {-1}})) == 0);
    CHECK(squared_norm(SelectedRows<std::int32_t, D>(9, {4, 1}, {{100'000}, {3}})) == 10'000'000'009);
    CHECK(squared_norm(D{}, Tensor<float, D>{{1, 2}, {3, 4}}) == 30);
    CHECK(squared_norm(SelectedRows<float, D>()) == 0);
    CHECK(squared_norm(SelectedRows<float, D>(9, {}, Tensor<float, D>::from_shape({0, 2}))) == 0);
    CHECK(squared_norm(SelectedRows<float, D>(9, {1, 2}, Tensor<float, D>::from_shape({2, 0}))) == 0);
}

TEMPLATE_TEST_CASE("squared_norm on a device gives the bits of Cpu", "[thrust][squared_norm]", ROWAN_TEST_DEVICES) {
    check_sizes<TestType, float>();
    check_sizes<TestType, double>();
    check_sizes<TestType, rowan::float16>();
    auto const tall = device::filled<float>({300'000, 1}, 7);  // more than 64 · 64 · 64 rows
    CHECK(squared_norm(to_device(TestType{}, tall)) == squared_norm(tall));
}

TEMPLATE_TEST_CASE("squared_norm on a device throws for values of other shapes, and earlier errors", "[thrust][squared_norm][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    CHECK_THROWS_AS(squared_norm(Tensor<float, D>::full({}, 1)), ShapeError);
    CHECK_THROWS_AS(squared_norm(RowPlan<D>({1}, 2), Tensor<float, D>::zeros({2, 1})), ShapeError);
    SelectedRows<float, D> const bad(2, Tensor<std::int32_t, D>{1, 2}, Tensor<float, D>{{1}, {2}});
    CHECK(refusal<rowan::IndexError>([&] { squared_norm(bad); }) == "rows[1] = 2 is not in [0, 2)");
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

}  // namespace test_squared_norm
