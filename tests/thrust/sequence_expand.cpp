// tests/thrust/sequence_expand.cpp: rows and sequences repeated on a device.
#include "sequences.hpp"

#include <cstddef>

namespace test_sequence_expand {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::sequence_expand, rowan::sequence_expand_grad, rowan::Tensor, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("rows and sequences are repeated on a device", "[thrust][sequence_expand]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const rows(Tensor<float, D>{{1}, {2}});
    CHECK(same_bits(sequence_expand(rows, Lod::from_lengths({{2, 3}})), LoDTensor<float>({{1}, {1}, {2}, {2}, {2}}, Lod::from_lengths({{2, 3}}))));
    LoDTensor<float, D> const x({{1}, {2}, {3}, {4}}, Lod::from_lengths({{2, 2}}));
    CHECK(same_bits(sequence_expand(x, Lod::from_lengths({{2, 1}})), LoDTensor<float>({{1}, {2}, {1}, {2}, {3}, {4}}, Lod::from_lengths({{2, 2, 2}}))));
    CHECK(same_bits(sequence_expand_grad(Tensor<float, D>{{1}, {2}, {3}, {4}, {5}, {6}}, x, Lod::from_lengths({{2, 1}})).value(), Tensor<float>{{4}, {6}, {5}, {6}}));
}

TEMPLATE_TEST_CASE("sequence_expand on a device has the host's bits", "[thrust][sequence_expand]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        LoDTensor<T> const rows(device::filled<T>({rowan::detail::last_level(lod).size() - 1, width}, 1));
        auto const expanded = sequence_expand(rows, lod);
        CHECK(same_bits(sequence_expand(D{}, to_device(D{}, rows), lod), expanded));
        auto const grad = device::filled<T>(expanded.shape(), 2);
        CHECK(same_bits(sequence_expand_grad(to_device(D{}, grad), to_device(D{}, rows), lod), sequence_expand_grad(grad, rows, lod)));
        // repeats each sequence of the first level by the length of the next one
        if (lod.rows() > 1000) return;
        auto lengths = lod.lengths(0);
        std::rotate(lengths.begin(), lengths.begin() + (lengths.empty() ? 0 : 1), lengths.end());
        auto const times = Lod::from_lengths({lengths});
        auto const host = device::some_batch<T>(lod, width, 3);
        auto const repeated = sequence_expand(host, times, 0);
        CHECK(same_bits(sequence_expand(to_device(D{}, host), times, 0), repeated));
        auto const its_grad = device::filled<T>(repeated.shape(), 4);
        CHECK(same_bits(sequence_expand_grad(D{}, to_device(D{}, its_grad), to_device(D{}, host), times, 0), sequence_expand_grad(its_grad, host, times, 0)));
    });
}

TEMPLATE_TEST_CASE("sequence_expand on a device throws like the host's", "[thrust][sequence_expand][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const rows(Tensor<float>{{1}, {2}});
    auto const x = to_device(D{}, rows);
    auto const expand_by = [](auto const& batch, Lod lod, std::size_t level) { return [batch, lod, level] { sequence_expand(batch, lod, level); }; };
    auto const three = Lod::from_lengths({{1, 1, 1}}), two = Lod::from_lengths({{1, 2}});
    CHECK(refused_alike(expand_by(rows, three, 0), expand_by(x, three, 0)));
    CHECK(refused_alike(expand_by(rows, two, 1), expand_by(x, two, 1)));
    CHECK(refused_alike(expand_by(rows, {}, 0), expand_by(x, {}, 0)));
    CHECK(refused_alike([&] { sequence_expand_grad(Tensor<float>{{1}}, rows, two); }, [&] { sequence_expand_grad(Tensor<float, D>{{1}}, x, two); }));
}

}  // namespace test_sequence_expand
