// tests/thrust/sequence_erase.cpp: sequences without some of their tokens, and their distances, on a device.
#include "sequences.hpp"

#include <rowan/op/sequence/edit_distance.hpp>
#include <rowan/thrust/op.hpp>

#include <cstddef>
#include <cstdint>

namespace test_sequence_erase {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::sequence_erase, rowan::Tensor, rowan::to_device;

TEMPLATE_TEST_CASE("tokens are erased on a device", "[thrust][sequence_erase]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<std::int32_t, D> const x({3, 1, 4, 1, 5, 1}, Lod::from_lengths({{3, 1, 2}}));
    LoDTensor<std::int32_t> const rest({3, 4, 5}, Lod::from_lengths({{2, 0, 1}}));
    CHECK(same_bits(sequence_erase(x, {1}), rest));
    CHECK(same_bits(sequence_erase(x, to_device(D{}, Tensor<std::int64_t>{1, 7})), rest));
    for (auto const& lod : device::some_lods()) {
        auto tokens = Tensor<std::int64_t>::from_shape({static_cast<std::size_t>(lod.rows()), 1});
        auto const ids = device::some_ids(tokens.size(), 9, 10, 1);
        std::copy(ids.begin(), ids.end(), tokens.data());
        LoDTensor<std::int64_t> const host(tokens, lod);
        auto const on_device = to_device(D{}, host);
        CHECK(same_bits(sequence_erase(D{}, on_device, {8, 2, 5}), sequence_erase(host, {8, 2, 5})));
        CHECK(same_bits(sequence_erase(on_device, {}), host));
        CHECK(same_bits(sequence_erase(on_device, {0, 1, 2, 3, 4, 5, 6, 7, 8}), sequence_erase(host, {0, 1, 2, 3, 4, 5, 6, 7, 8})));
    }
}

TEMPLATE_TEST_CASE("edit distances on a device are the host's", "[thrust][edit_distance]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (auto const& lod : device::some_lods()) {
        auto const tokens = [&](unsigned seed) {
            auto const ids = device::some_ids(static_cast<std::size_t>(lod.rows()), 3, 10, seed);
            return LoDTensor<std::int64_t>(Tensor<std::int64_t>({ids.size()}, ids), lod);
        };
        auto const x = tokens(1), y = tokens(2);
        CHECK(same_bits(rowan::edit_distance(to_device(D{}, x), to_device(D{}, y), {.normalized = true}), rowan::edit_distance(x, y, {.normalized = true})));
    }
}

TEMPLATE_TEST_CASE("sequence_erase on a device throws like the host's", "[thrust][sequence_erase][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<std::int32_t> const wide({{1, 2}}, Lod{{0, 1}}), flat(Tensor<std::int32_t>{1});
    CHECK(refused_alike([&] { sequence_erase(wide, {1}); }, [&] { sequence_erase(to_device(D{}, wide), {1}); }));
    CHECK(refused_alike([&] { sequence_erase(flat, {1}); }, [&] { sequence_erase(to_device(D{}, flat), {1}); }));
}

}  // namespace test_sequence_erase
