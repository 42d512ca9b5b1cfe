// tests/thrust/touched_rows.cpp: which rows of a device's table have changed.
#include <rowan/sparse/touched_rows.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>
#include <rowan/thrust/sparse/gather.hpp>

#include "devices.hpp"

namespace test_touched_rows {

using device::Rows, device::same_bits;
using rowan::SelectedRows, rowan::Tensor, rowan::TouchedRows;

TEMPLATE_TEST_CASE("rows of device gradients are touched, and their values are the table's", "[thrust][touched_rows][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    TouchedRows touched(3);
    touched.add(SelectedRows<float, D>(3, {2, 0, 2}, {{1}, {2}, {3}}).rows());
    touched.add(Tensor<std::int32_t, D>{0});
    CHECK(touched.rows() == Rows{0, 2});
    CHECK(same_bits(touched.of(Tensor<float, D>{{1, 2}, {3, 4}, {5, 6}}), SelectedRows<float>(3, {0, 2}, {{1, 2}, {5, 6}})));
    CHECK_THROWS_AS(touched.of(Tensor<float, D>::zeros({4, 2})), rowan::ShapeError);
    CHECK_THROWS_AS(touched.add(Tensor<std::int64_t, D>{3}), rowan::IndexError);
}

}  // namespace test_touched_rows
