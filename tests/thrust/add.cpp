// tests/thrust/add.cpp: sums of gradients and tables on a device.
#include <rowan/thrust/sparse/add.hpp>
#include <rowan/thrust/sparse/merge.hpp>

#include "devices.hpp"

namespace test_add {

using device::late_refusal, device::refusal, device::same_bits;
using rowan::add, rowan::merge, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("the sum of a device's gradients is their concatenation", "[thrust][add][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> const a(9, {4, 1}, {{1, 2}, {3, 4}}), b(9, {4}, {{5, 6}});
    SelectedRows<float, D> const none(9, {}, Tensor<float, D>::from_shape({0, 2}));
    CHECK(same_bits(add(a, b), SelectedRows<float>(9, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}})));
    CHECK(same_bits(add(D{}, b, none), to_host(b)));
    CHECK(same_bits(add(none, a), to_host(a)));
    CHECK(same_bits(add(none, none), to_host(none)));
    CHECK(!add(a, b).merged());
    CHECK((add(merge(a), none).merged() && add(none, merge(a)).merged() && !add(none, a).merged()));
    CHECK(!add(merge(a), merge(b)).merged());
    CHECK(same_bits(merge(add(merge(a), merge(b))), SelectedRows<float>(9, {1, 4}, {{3, 4}, {6, 8}})));
}

TEMPLATE_TEST_CASE("the dense sum of a device is the table with rows added", "[thrust][add][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const dense{{1, 2}, {3, 4}};
    SelectedRows<float, D> const g(2, {1, 1}, {{10, 20}, {1, 1}});
    CHECK(same_bits(add(dense, g), Tensor<float>{{1, 2}, {14, 25}}));
    CHECK(same_bits(add(g, dense), Tensor<float>{{1, 2}, {14, 25}}));
    CHECK(same_bits(add(D{}, g, dense), Tensor<float>{{1, 2}, {14, 25}}));
    CHECK(same_bits(dense, Tensor<float>{{1, 2}, {3, 4}}));
}

TEMPLATE_TEST_CASE("add on a device gives the bits of Cpu", "[thrust][add]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 64, 4097}) {
        for (std::size_t const width : std::vector<std::size_t>{0, 1, 3, 4}) {
            CAPTURE(n, width);
            auto const a = device::gradient<rowan::bfloat16>(n, 5000, width, 10, 1), b = device::gradient<rowan::bfloat16>(65, 5000, width, 10, 2);
            CHECK(same_bits(add(to_device(D{}, a), to_device(D{}, b)), add(a, b)));
            auto const dense = device::filled<float>({5000, width}, 3);
            CHECK(same_bits(add(to_device(D{}, dense), to_device(D{}, merge(a))), add(dense, merge(a))));
            auto const narrow = device::filled<rowan::bfloat16>({5000, width}, 3);
            CHECK(same_bits(add(to_device(D{}, narrow), to_device(D{}, a)), add(narrow, a)));
        }
    }
}

TEMPLATE_TEST_CASE("add on a device refuses terms that do not fit", "[thrust][add][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> const g(2, {1}, {{10, 20}});
    CHECK(refusal<ShapeError>([&] { add(g, SelectedRows<float, D>(3, {1}, {{1, 2}})); }) == "b.height() is 3, expected 2");
    CHECK_THROWS_AS(add(g, SelectedRows<float, D>(2, {1}, {{1}})), ShapeError);
    CHECK_THROWS_AS(add(g, Tensor<float, D>{{1, 2}}), ShapeError);
    CHECK_THROWS_AS(add(Tensor<float, D>{{1}, {2}}, g), ShapeError);
    CHECK_THROWS_AS(add(Tensor<float, D>::full({}, 1), g), ShapeError);
    auto cut = g;
    cut.value() = Tensor<float, D>::from_shape({0, 2});
    CHECK_THROWS_AS(add(g, cut), ShapeError);
    CHECK_THROWS_AS(add(cut, Tensor<float, D>{{1, 2}, {3, 4}}), ShapeError);
    CHECK(late_refusal(D{}) == "nothing was thrown");
    SelectedRows<float, D> const bad(2, Tensor<std::int64_t, D>{-7}, Tensor<float, D>{{1, 2}});
    auto const sum = add(g, bad);
    CHECK(refusal<rowan::IndexError>([&] { to_host(sum); }) == "rows[0] = -7 is not in [0, 2)");
}

}  // namespace test_add
