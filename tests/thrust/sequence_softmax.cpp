// tests/thrust/sequence_softmax.cpp: weights of the rows of a sequence, on a device.
#include "sequences.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

namespace test_sequence_softmax {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::sequence_softmax, rowan::sequence_softmax_grad, rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("equal rows of a sequence weigh the same on a device", "[thrust][sequence_softmax]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const x({{3}, {3}, {-1}, {5}, {5}, {5}, {5}}, Lod::from_lengths({{2, 0, 1, 4}}));
    CHECK(same_bits(sequence_softmax(x).value(), Tensor<float>{{0.5}, {0.5}, {1}, {0.25}, {0.25}, {0.25}, {0.25}}));
    LoDTensor<float, D> const out({{0.5}, {0.5}}, Lod{{0, 2}});
    CHECK(same_bits(sequence_softmax_grad(out, {{1}, {3}}).value(), Tensor<float>{{-0.5}, {0.5}}));
}

TEMPLATE_TEST_CASE("sequence_softmax on a device has the bits of the host's", "[thrust][sequence_softmax]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        auto const host = device::some_batch<T>(lod, width, 1);
        auto const out = sequence_softmax(host);
        CHECK(same_bits(sequence_softmax(D{}, to_device(D{}, host)), out));
        auto const grad = device::filled<T>(host.shape(), 2);
        CHECK(same_bits(sequence_softmax_grad(to_device(D{}, host), to_device(D{}, grad)), sequence_softmax_grad(host, grad)));
    });
}

TEMPLATE_TEST_CASE("a NaN affects its column of the sequence on a device, too", "[thrust][sequence_softmax]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    LoDTensor<float, D> const x({{1, 2}, {nan, 4}, {inf, 6}, {1, -inf}, {1, 6}}, Lod{{0, 2, 3, 5}});
    auto const got = to_host(sequence_softmax(x)).value();
    for (std::size_t const i : {0U, 2U, 4U}) CHECK(std::isnan(got.data()[i]));
    for (std::size_t const i : {1U, 3U, 5U, 6U, 7U, 8U, 9U}) CHECK(std::isfinite(got.data()[i]));
    CHECK((got.data()[7] == 0 && got.data()[9] == 1));
}

TEMPLATE_TEST_CASE("sequence_softmax on a device throws like the host's", "[thrust][sequence_softmax][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const flat(Tensor<float>{{1}}), host({{1}}, Lod{{0, 1}});
    CHECK(refused_alike([&] { sequence_softmax(flat); }, [&] { sequence_softmax(to_device(D{}, flat)); }));
    CHECK(refused_alike([&] { sequence_softmax_grad(host, {{1, 2}}); }, [&] { sequence_softmax_grad(to_device(D{}, host), {{1, 2}}); }));
}

}  // namespace test_sequence_softmax
