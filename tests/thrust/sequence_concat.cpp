// tests/thrust/sequence_concat.cpp: sequences of several batches joined one by one on a device.
#include "sequences.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace test_sequence_concat {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::sequence_concat, rowan::sequence_concat_grad, rowan::Tensor, rowan::to_device;

TEMPLATE_TEST_CASE("sequences are concatenated on a device, and divided again", "[thrust][sequence_concat]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const a({{1}, {2}, {3}}, Lod::from_lengths({{2, 0, 1}})), b({{4}, {5}, {6}}, Lod::from_lengths({{1, 2, 0}}));
    CHECK(same_bits(sequence_concat(a, b), LoDTensor<float>({{1}, {2}, {4}, {5}, {6}, {3}}, Lod::from_lengths({{3, 2, 1}}))));
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        auto const one = device::some_batch<T>(lod, width, 1);
        auto const two = sequence_reverse(one);
        auto const x = to_device(D{}, one), y = to_device(D{}, two);
        auto const all = sequence_concat(one, two, one);
        CHECK(same_bits(sequence_concat(D{}, x, y, x), all));
        CHECK(same_bits(sequence_concat(std::vector<LoDTensor<T, D>>{x, y, x}), all));
        CHECK(same_bits(sequence_concat(D{}, std::vector<std::reference_wrapper<LoDTensor<T, D> const>>{x, y, x}), all));
        auto const parts = sequence_concat_grad(to_device(D{}, all), {lod, lod, lod});
        REQUIRE(parts.size() == 3);
        CHECK((same_bits(parts[0], one) && same_bits(parts[1], two) && same_bits(parts[2], one)));
        CHECK(same_bits(sequence_concat_grad(D{}, to_device(D{}, all), std::vector<Lod>{lod, lod, lod})[1], two));
    });
}

TEMPLATE_TEST_CASE("sequence_concat on a device throws like the host's", "[thrust][sequence_concat][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const a({{1}, {2}}, Lod::from_lengths({{2, 0}})), b({{1}}, Lod::from_lengths({{1}})), wide({{1, 2}}, Lod::from_lengths({{0, 1}}));
    auto const join = [](auto const& x, auto const& y) { return [x, y] { sequence_concat(x, y); }; };
    CHECK(refused_alike(join(a, b), join(to_device(D{}, a), to_device(D{}, b))));
    CHECK(refused_alike(join(a, wide), join(to_device(D{}, a), to_device(D{}, wide))));
    CHECK(refused_alike([] { sequence_concat(std::vector<LoDTensor<float>>()); }, [] { sequence_concat(std::vector<LoDTensor<float, D>>()); }));
    CHECK(refused_alike([&] { sequence_concat_grad(a, {a.lod(), a.lod()}); }, [&] { sequence_concat_grad(to_device(D{}, a), {a.lod(), a.lod()}); }));
}

}  // namespace test_sequence_concat
