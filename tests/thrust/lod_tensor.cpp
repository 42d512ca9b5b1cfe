// tests/thrust/lod_tensor.cpp: batches of sequences in the memory of a device.
#include "sequences.hpp"

#include <utility>

namespace test_lod_tensor {

using device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("device batches have the levels and rows of the host's", "[thrust][lod_tensor]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const host({{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 1, 1, 3}});
    LoDTensor<float, D> const x = to_device(D{}, host);
    CHECK((x.lod() == host.lod() && x.size() == 3 && x.shape() == device::Shape{3, 2}));
    CHECK(same_bits(x, host));
    CHECK(same_bits(to_device<D>(host), host));
    CHECK(same_bits(LoDTensor<float, D>(Tensor<float, D>{{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 1, 1, 3}}), host));
    CHECK(same_bits(LoDTensor<float, D>::from_nested({{1, 2}, {}, {3}}), LoDTensor<float>::from_nested({{1, 2}, {}, {3}})));
    CHECK(to_host(LoDTensor<float, D>()).shape() == device::Shape{0});
    for (auto const& lod : device::some_lods()) {
        auto const batch = device::some_batch<double>(lod, 3, 1);
        CHECK(same_bits(to_device(D{}, batch), batch));
    }
}

TEMPLATE_TEST_CASE("a device batch is made from sequences that are tensors", "[thrust][lod_tensor]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    Tensor<float, D> const a{{1, 2}, {3, 4}}, none = Tensor<float, D>::from_shape({0, 2}), b{{5, 6}};
    CHECK(same_bits(LoDTensor<float, D>::from_sequences({a, none, b}), LoDTensor<float>({{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 2, 2, 3}})));
    CHECK(same_bits(LoDTensor<float, D>::from_sequences({none}), LoDTensor<float>(Tensor<float>::from_shape({0, 2}), Lod{{0, 0}})));
    CHECK_THROWS_AS((LoDTensor<float, D>::from_sequences({a, Tensor<float, D>{{1}}})), rowan::ShapeError);
}

TEMPLATE_TEST_CASE("copies of device batches are deep, shares and conversions alias", "[thrust][lod_tensor]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> x({{1}, {2}, {3}}, Lod{{0, 1, 3}});
    auto const copy = x;
    auto const share = x.share();
    Tensor<float, D> const& rows = x;
    CHECK((copy.value().data() != x.value().data() && share.value().data() == x.value().data() && rows.data() == x.value().data()));
    CHECK(same_bits(copy, to_host(share)));
    x.set_lod(Lod{{0, 3}});
    CHECK((x.lod() == Lod{{0, 3}} && share.lod() == Lod{{0, 1, 3}}));
    CHECK_THROWS_AS(x.set_lod(Lod{{0, 4}}), rowan::LodError);
    CHECK(x.lod() == Lod{{0, 3}});
    CHECK_THROWS_AS((LoDTensor<float, D>(Tensor<float, D>{{1}}, Lod{{0, 2}})), rowan::LodError);
    CHECK_THROWS_AS((LoDTensor<float, D>(Tensor<float, D>::full({}, 1), Lod{{0, 1}})), rowan::ShapeError);
}

}  // namespace test_lod_tensor
