// tests/thrust/padded.cpp: converts between ragged batches and padded tensors on a device.
#include "sequences.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_padded {

using device::refused_alike, device::same_bits;
using rowan::from_padded, rowan::Lod, rowan::LoDTensor, rowan::Tensor, rowan::to_device, rowan::to_padded;

TEMPLATE_TEST_CASE("sequences are padded on a device, and converted back", "[thrust][padded]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const x({1, 2, 3}, Lod::from_lengths({{2, 0, 1}}));
    auto const padded = to_padded(x, 9);
    CHECK(same_bits(padded.value, Tensor<float>{{1, 2}, {9, 9}, {3, 9}}));
    CHECK(same_bits(padded.mask, Tensor<bool>{{true, true}, {false, false}, {true, false}}));
    CHECK(same_bits(from_padded(padded.value, {2, 0, 1}), to_host(x)));
    CHECK(same_bits(from_padded(padded.value, to_device(D{}, Tensor<std::int32_t>{2, 0, 1})), to_host(x)));
    CHECK(same_bits(to_padded(x, 0, {3}).value, Tensor<float>{{1, 2, 0}, {0, 0, 0}, {3, 0, 0}}));
    CHECK(same_bits(to_padded(x, 0, to_device(D{}, Tensor<std::int64_t>{3})).value, Tensor<float>{{1, 2, 0}, {0, 0, 0}, {3, 0, 0}}));
}

TEMPLATE_TEST_CASE("padding on a device equals the host's", "[thrust][padded]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        auto const host = device::some_batch<T>(lod, width, 1);
        auto const want = to_padded(host, 0.5);
        auto const got = to_padded(D{}, to_device(D{}, host), 0.5);
        CHECK(same_bits(got.value, want.value));
        CHECK(same_bits(got.mask, want.mask));
        CHECK(same_bits(from_padded(D{}, got.value, lod), host));
        std::vector<std::int64_t> longer;
        for (std::size_t l = 0; l < lod.levels(); ++l) longer.push_back(static_cast<std::int64_t>(want.mask.shape()[l + 1]) + 2);
        auto const more = to_padded(to_device(D{}, host), 0, longer);
        CHECK(same_bits(more.value, to_padded(host, 0, longer).value));
        CHECK(same_bits(from_padded(more.value, lod), host));
    });
}

TEMPLATE_TEST_CASE("padding on a device throws like the host's", "[thrust][padded][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<std::int32_t> const host({1, 2, 3}, Lod::from_lengths({{2, 1}}));
    Tensor<float> const small{{1}, {2}};
    auto const x = to_device(D{}, host);
    auto const y = to_device(D{}, small);
    CHECK(refused_alike([&] { to_padded(host, 0.5); }, [&] { to_padded(x, 0.5); }));
    CHECK(refused_alike([&] { to_padded(host, 0, {1}); }, [&] { to_padded(x, 0, {1}); }));
    CHECK(refused_alike([&] { to_padded(LoDTensor<float>(small)); }, [&] { to_padded(LoDTensor<float, D>(y)); }));
    CHECK(refused_alike([&] { from_padded(small, {1, 2}); }, [&] { from_padded(y, {1, 2}); }));
    CHECK(refused_alike([&] { from_padded(small, {1}); }, [&] { from_padded(y, {1}); }));
    CHECK(refused_alike([&] { from_padded(small, {1, -1}); }, [&] { from_padded(y, {1, -1}); }));
}

}  // namespace test_padded
