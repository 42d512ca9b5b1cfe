// tests/thrust/batches.cpp: batches on a device cut and joined, and some of their sequences.
#include "sequences.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_batches {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::merge_batches, rowan::slice_sequences, rowan::split_batch, rowan::Tensor, rowan::to_device;

TEMPLATE_TEST_CASE("batches on a device are divided without a copy, and merged", "[thrust][batches]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        auto const host = device::some_batch<T>(lod, width, 1);
        auto const x = to_device(D{}, host);
        auto const parts = split_batch(x, 3);
        auto const want = split_batch(host, 3);
        REQUIRE(parts.size() == want.size());
        for (std::size_t k = 0; k < parts.size(); ++k) CHECK(same_bits(parts[k], want[k]));
        if (!parts.empty()) {
            CHECK(parts[0].value().data() == x.value().data());
            CHECK(same_bits(merge_batches(parts), host));
        }
        auto const half = static_cast<std::int64_t>(x.size() / 2), rest = static_cast<std::int64_t>(x.size()) - half;
        CHECK(same_bits(merge_batches(D{}, split_batch(x, {half, 0, rest})), host));
        CHECK(same_bits(split_batch(x, to_device(D{}, Tensor<std::int64_t>{half, rest}))[1], split_batch(host, {half, rest})[1]));
        CHECK(same_bits(slice_sequences(x, 0, 0, x.size() / 2), slice_sequences(host, 0, 0, x.size() / 2)));
    });
}

TEMPLATE_TEST_CASE("batches on a device that do not match throw as on the host", "[thrust][batches][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const host({{1}, {2}}, Lod::from_lengths({{1, 1}})), flat(Tensor<float>{{1}});
    auto const x = to_device(D{}, host), y = to_device(D{}, flat);
    CHECK(refused_alike([&] { split_batch(host, 0); }, [&] { split_batch(x, 0); }));
    CHECK(refused_alike([&] { split_batch(host, {1}); }, [&] { split_batch(x, {1}); }));
    CHECK(refused_alike([&] { split_batch(host, {1, 2}); }, [&] { split_batch(x, {1, 2}); }));
    CHECK(refused_alike([&] { merge_batches(std::vector{host, flat}); }, [&] { merge_batches(std::vector{x, y}); }));
}

}  // namespace test_batches
