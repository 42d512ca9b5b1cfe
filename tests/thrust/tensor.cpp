// tests/thrust/tensor.cpp: tensors in the memory of a device.
#include <rowan/thrust/core/tensor.hpp>

#include "devices.hpp"

#include <utility>

namespace test_tensor {

using device::same_bits;
using rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("device tensors have the shapes and elements of the host's", "[thrust][tensor]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const t{{1, 2, 3}, {4, 5, 6}};
    CHECK(same_bits(t, Tensor<float>{{1, 2, 3}, {4, 5, 6}}));
    CHECK((t.shape(0) == 2 && t.shape(1) == 3 && t.dimension() == 2 && t.size() == 6 && t.row_size() == 3));
    CHECK(t.device() == D{});
    CHECK(same_bits(to_host(D{}, t), to_host(t)));
    CHECK(same_bits(rowan::to_device<D>(to_host(t)), to_host(t)));
    rowan::synchronize(D{});
    CHECK(same_bits(Tensor<rowan::bfloat16, D>::full({2, 1}, rowan::bfloat16(3)), Tensor<rowan::bfloat16>::full({2, 1}, rowan::bfloat16(3))));
    CHECK(same_bits(Tensor<double, D>::zeros({70}), Tensor<double>::zeros({70})));
    CHECK(same_bits(Tensor<std::int32_t, D>::full(D{}, {}, 7), Tensor<std::int32_t>::full({}, 7)));
    CHECK(to_host(Tensor<float, D>()).shape() == device::Shape{0});
    CHECK(to_host(Tensor<float, D>::from_shape({3, 0, 2})).shape() == device::Shape{3, 0, 2});
}

TEMPLATE_TEST_CASE("copies of device tensors are deep, shares and slices alias, = assigns new contents", "[thrust][tensor]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto t = to_device(D{}, Tensor<float>{{1, 2}, {3, 4}, {5, 6}});
    Tensor<float, D> const copy = t;
    auto const share = t.share();
    auto const slice = t.slice(1, 3);
    auto const flat = t.reshaped({6});
    CHECK((copy.data() != t.data() && share.data() == t.data() && slice.data() == t.data() + 2 && flat.data() == t.data()));
    CHECK(same_bits(copy, Tensor<float>{{1, 2}, {3, 4}, {5, 6}}));
    CHECK(same_bits(slice, Tensor<float>{{3, 4}, {5, 6}}));
    CHECK(same_bits(flat, Tensor<float>{1, 2, 3, 4, 5, 6}));
    t = Tensor<float, D>{{9}};
    CHECK(same_bits(t, Tensor<float>{{9}}));
    CHECK(same_bits(share, to_host(copy)));
    CHECK(t.slice(1, 1).shape() == device::Shape{0, 1});

    Tensor<float, D> moved = std::move(t);
    CHECK(same_bits(moved, Tensor<float>{{9}}));
    CHECK(t.shape() == device::Shape{0});  // NOLINT: the contract defines a moved-from tensor
    t = moved;
    CHECK(same_bits(t, to_host(moved)));
    auto& self = t;
    t = self;
    CHECK(same_bits(t, Tensor<float>{{9}}));
}

TEMPLATE_TEST_CASE("device tensors refuse shapes that cannot be", "[thrust][tensor][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    using rowan::ShapeError;
    Tensor<float, D> const t{{1, 2}, {3, 4}};
    CHECK_THROWS_AS((Tensor<float, D>::from_shape({std::size_t{1} << 62, 4})), ShapeError);
    CHECK_THROWS_AS((Tensor<float, D>::from_shape({1, 1, 1, 1, 1, 1, 1, 1, 1})), ShapeError);
    CHECK_THROWS_AS((Tensor<float, D>{{1, 2}, {3}}), ShapeError);
    CHECK_THROWS_AS(t.reshaped({3}), ShapeError);
    CHECK_THROWS_AS(t.slice(1, 3), rowan::IndexError);
    CHECK_THROWS_AS((Tensor<float, D>::full({}, 1).slice(0, 0)), ShapeError);
    CHECK(same_bits(t, Tensor<float>{{1, 2}, {3, 4}}));
}

}  // namespace test_tensor
