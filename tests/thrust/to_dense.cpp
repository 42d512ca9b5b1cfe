// tests/thrust/to_dense.cpp: the dense tensor of rows on a device.
#include <rowan/thrust/sparse/merge.hpp>
#include <rowan/thrust/sparse/to_dense.hpp>

#include "devices.hpp"

namespace test_to_dense {

using device::refusal, device::same_bits;
using rowan::merge, rowan::SelectedRows, rowan::Tensor, rowan::to_dense, rowan::to_device;

TEMPLATE_TEST_CASE("to_dense on a device gives zeros and sums of rows", "[thrust][to_dense][golden]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    CHECK(same_bits(to_dense(SelectedRows<float, D>(4, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}})), Tensor<float>{{3, 4}, {0, 0}, {6, 8}, {0, 0}}));
    CHECK(same_bits(to_dense(D{}, SelectedRows<float, D>(2, {}, Tensor<float, D>::from_shape({0, 1}))), Tensor<float>{{0}, {0}}));
    CHECK(same_bits(to_dense(SelectedRows<float, D>(0, {}, Tensor<float, D>::from_shape({0, 3}))), Tensor<float>::zeros({0, 3})));
}

TEMPLATE_TEST_CASE("to_dense on a device gives the bits of Cpu", "[thrust][to_dense]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (std::size_t const n : std::vector<std::size_t>{1, 65, 4097}) {
        for (std::size_t const width : std::vector<std::size_t>{0, 1, 3, 4}) {
            auto const g = device::gradient<rowan::bfloat16>(n, 3000, width, 5, 1);
            auto const merged = merge(g);
            CHECK(same_bits(to_dense(to_device(D{}, merged)), to_dense(merged)));
            CHECK(same_bits(to_dense(to_device(D{}, g)), to_dense(g)));
            auto const same = device::gradient<float>(n, 2, width, 5, 1);
            CHECK(same_bits(to_dense(to_device(D{}, same)), to_dense(same)));
        }
    }
}

TEMPLATE_TEST_CASE("to_dense on a device throws if the shape is invalid", "[thrust][to_dense][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    SelectedRows<float, D> g(std::int64_t{1} << 61, {1}, {{1, 2}});
    CHECK_THROWS_AS(to_dense(g), rowan::ShapeError);
    SelectedRows<float, D> const bad(2, Tensor<std::int64_t, D>{2}, Tensor<float, D>{{1, 2}});
    auto const dense = to_dense(bad);
    CHECK(refusal<rowan::IndexError>([&] { to_host(dense); }) == "rows[0] = 2 is not in [0, 2)");
}

}  // namespace test_to_dense
