// tests/thrust/selected_rows.cpp: some rows of a tall tensor in the memory of a device, and copies of them.
#include <rowan/thrust/sparse/selected_rows.hpp>

#include "devices.hpp"

#include <utility>

namespace test_selected_rows {

using device::late_refusal, device::refusal, device::Rows, device::same_bits, device::Shape;
using rowan::IndexError, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("SelectedRows on a device have the members of the host's", "[thrust][selected_rows]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float> const host(9, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}});
    SelectedRows<float, D> const g(9, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}});
    CHECK(same_bits(g, host));
    CHECK((g.height() == 9 && g.shape() == Shape{9, 2} && g.row_size() == 2 && !g.merged()));
    CHECK(same_bits(g.rows(), Tensor<std::int64_t>{4, 1, 4}));
    CHECK(same_bits(SelectedRows<float, D>(D{}, 9, Tensor<std::int32_t, D>{4, 1, 4}, to_device(D{}, host.value())), host));
    CHECK(same_bits(to_device(D{}, host), host));
    CHECK(same_bits(rowan::to_device<D>(host), host));
    CHECK(same_bits(to_host(D{}, g), host));
    SelectedRows<float> const ascending(9, {1, 4}, {{1}, {2}});
    CHECK(to_device(D{}, ascending).merged());
    CHECK(to_host(to_device(D{}, ascending)).merged());

    SelectedRows<float, D> const none;
    CHECK((none.height() == 0 && none.merged() && to_host(none).rows().empty()));
    CHECK(to_host(SelectedRows<float, D>(9, {}, Tensor<float, D>::from_shape({0, 2}))).shape() == Shape{9, 2});
}

TEMPLATE_TEST_CASE("copies of device rows are deep, shares see the same value", "[thrust][selected_rows]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> g(9, {4, 1}, {{1}, {2}});
    auto copy = g;
    auto const share = g.share();
    CHECK((copy.value().data() != g.value().data() && share.value().data() == g.value().data()));
    CHECK(copy.rows().data() != g.rows().data());
    auto const moved = std::move(g);
    CHECK(same_bits(moved, SelectedRows<float>(9, {4, 1}, {{1}, {2}})));
    CHECK(g.height() == 0);  // NOLINT: a moved-from gradient is empty
    g = copy;
    CHECK(same_bits(g, to_host(copy)));
    copy.value() = Tensor<float, D>{{7}, {8}};
    CHECK(same_bits(copy, SelectedRows<float>(9, {4, 1}, {{7}, {8}})));
    CHECK(same_bits(share, to_host(g)));
}

TEMPLATE_TEST_CASE("rows outside the table throw on a device, rows of the host at once", "[thrust][selected_rows][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    using G = SelectedRows<float, D>;
    Tensor<float, D> const value{{1}, {2}};
    CHECK(refusal<IndexError>([&] { G(9, {4, 9}, value); }) == "rows[1] = 9 is not in [0, 9)");
    CHECK_THROWS_AS(G(-1, {}, Tensor<float, D>::from_shape({0, 1})), ShapeError);
    CHECK_THROWS_AS(G(9, {4}, value), ShapeError);
    CHECK_THROWS_AS(G(9, Tensor<std::int32_t, D>{{4, 1}}, value), ShapeError);
    CHECK_THROWS_AS(G(9, {4}, Tensor<float, D>::full({}, 1)), ShapeError);
    CHECK(late_refusal(D{}) == "nothing was thrown");

    G const g(9, Tensor<std::int64_t, D>{4, -1}, value);
    CHECK(refusal<IndexError>([&] { to_host(g); }) == "rows[1] = -1 is not in [0, 9)");
    CHECK(refusal<IndexError>([&] { G(0, Tensor<std::int64_t, D>{0, 0}, value); }) == "rows[0] = 0 is not in [0, 0)");
    CHECK(late_refusal(D{}) == "nothing was thrown");
}

}  // namespace test_selected_rows
