// tests/thrust/lookup_table_grad.cpp: the gradient of a lookup on a device.
#include <rowan/thrust/sparse/lookup_table_grad.hpp>

#include "devices.hpp"

#include <utility>

namespace test_lookup_table_grad {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::IndexError, rowan::lookup_table_grad, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

template <class D, class T>
void check_padding() {
    device::for_sizes([](std::size_t n, std::size_t width, unsigned hot) {
        auto const ids = device::some_ids(n, 300, hot, 5);
        auto const out_grad = device::filled<T>({n, width}, 6);
        auto const on_device = to_device(D{}, out_grad);
        CHECK(same_bits(lookup_table_grad(ids, on_device, 300), lookup_table_grad(ids, out_grad, 300)));
        CHECK(same_bits(lookup_table_grad(ids, on_device, 300, 150), lookup_table_grad(ids, out_grad, 300, 150)));
    });
}

}  // namespace

TEMPLATE_TEST_CASE("rows on a device are the ids in order, without the padding id", "[thrust][lookup_table_grad][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const out_grad{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    CHECK(same_bits(lookup_table_grad({1, 3, 1, 0}, out_grad, 4), SelectedRows<float>(4, {1, 3, 1, 0}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}})));
    Tensor<std::int32_t, D> const ids{1, 3, 1, 0};
    CHECK(same_bits(lookup_table_grad(D{}, ids, out_grad, 4, 1), SelectedRows<float>(4, {3, 0}, {{3, 4}, {7, 8}})));
    CHECK(same_bits(lookup_table_grad(ids, out_grad, 4, 2), SelectedRows<float>(4, {1, 3, 1, 0}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}})));
    CHECK(to_host(lookup_table_grad({1, 1, 1, 1}, out_grad, 4, 1)).shape() == device::Shape{4, 2});
    CHECK(to_host(lookup_table_grad({}, Tensor<float, D>::from_shape({0, 3}), 8, 2)).shape() == device::Shape{8, 3});
    CHECK(to_host(lookup_table_grad({}, Tensor<float, D>::from_shape({0, 3}), 0)).height() == 0);
}

TEMPLATE_TEST_CASE("ids of any shape are flattened on a device, and the gradient is moved", "[thrust][lookup_table_grad]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<std::int32_t> const ids{{4, 0}, {2, 4}};
    auto const out_grad = device::filled<float>({2, 2, 3, 2}, 1);
    auto const on_device = to_device(D{}, out_grad);
    CHECK(same_bits(lookup_table_grad(to_device(D{}, ids), on_device, 5), lookup_table_grad(ids, out_grad, 5)));
    CHECK(same_bits(lookup_table_grad(to_device(D{}, ids), on_device, 5, 4), lookup_table_grad(ids, out_grad, 5, 4)));
    auto const one = Tensor<std::int64_t>::full({}, 3);
    CHECK(same_bits(lookup_table_grad(to_device(D{}, one), Tensor<float, D>{1, 2}, 5), SelectedRows<float>(5, {3}, {{1, 2}})));
    CHECK(lookup_table_grad(to_device(D{}, ids), on_device.share(), 5).value().data() == on_device.data());
    Tensor<float, D> flat{{1, 2}, {3, 4}};
    float const* const memory = flat.data();
    CHECK(lookup_table_grad({0, 1}, std::move(flat), 2).value().data() == memory);
}

TEMPLATE_TEST_CASE("lookup_table_grad on a device gives the bits of Cpu", "[thrust][lookup_table_grad]", ROWAN_TEST_DEVICES) {
    check_padding<TestType, float>();
    check_padding<TestType, double>();
    check_padding<TestType, rowan::bfloat16>();
}

TEMPLATE_TEST_CASE("lookup_table_grad on a device throws like the host's", "[thrust][lookup_table_grad][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const out_grad{{1, 2}, {3, 4}};
    CHECK(refusal<IndexError>([&] { lookup_table_grad({0, 2}, out_grad, 2); }) == "ids[1] = 2 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { lookup_table_grad({0, 1}, out_grad, 2, 2); }) == "padding_id = 2 is not in [0, 2)");
    CHECK_THROWS_AS(lookup_table_grad({0, 1}, out_grad, 2, -1), IndexError);
    CHECK_THROWS_AS(lookup_table_grad({0, 1}, out_grad, -2), ShapeError);
    CHECK_THROWS_AS(lookup_table_grad({0}, out_grad, 2), ShapeError);
    CHECK_THROWS_AS(lookup_table_grad({0, 0, 1}, Tensor<float, D>::full({}, 1), 2), ShapeError);
    Tensor<std::int64_t, D> const bad{1, 5};
    CHECK_THROWS_AS(lookup_table_grad(bad, Tensor<float, D>::zeros({1, 2}), 2), ShapeError);
    CHECK(late_refusal(D{}) == "nothing was thrown");
    lookup_table_grad(bad, out_grad, 2);
    CHECK(late_refusal(D{}) == "ids[1] = 5 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { lookup_table_grad(bad, out_grad, 2, 0); }) == "ids[1] = 5 is not in [0, 2)");
    CHECK(refusal<IndexError>([&] { lookup_table_grad(bad, out_grad, 0); }) == "ids[0] = 1 is not in [0, 0)");
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

}  // namespace test_lookup_table_grad
