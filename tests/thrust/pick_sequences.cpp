// tests/thrust/pick_sequences.cpp: sequences picked by a list on a device.
#include "sequences.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace test_pick_sequences {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::pick_sequences, rowan::pick_sequences_grad, rowan::Tensor, rowan::to_device;

TEMPLATE_TEST_CASE("sequences are picked on a device like the host's, and their gradients added up", "[thrust][pick_sequences]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const x({{1}, {2}, {3}}, Lod::from_lengths({{2, 1}}));
    CHECK(same_bits(pick_sequences(x, {1, 0, 1}), LoDTensor<float>({{3}, {1}, {2}, {3}}, Lod::from_lengths({{1, 2, 1}}))));
    CHECK(same_bits(pick_sequences_grad({{3}, {1}, {2}, {5}}, x, to_device(D{}, Tensor<std::int32_t>{1, 0, 1})).value(), Tensor<float>{{1}, {2}, {8}}));
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        for (LoDTensor<T> const& host : {device::some_batch<T>(lod, width, 1), LoDTensor<T>(device::filled<T>({lod.sequences(0), width}, 2))}) {
            std::mt19937_64 random(3);
            std::vector<std::int64_t> ids(host.size() == 0 ? 0 : 130);
            for (auto& id : ids) id = static_cast<std::int64_t>(random() % (random() % 2 == 0 ? 1 : host.size()));
            auto const picked = pick_sequences(host, ids);
            CHECK(same_bits(pick_sequences(D{}, to_device(D{}, host), ids), picked));
            auto const grad = device::filled<T>(picked.shape(), 4);
            CHECK(same_bits(pick_sequences_grad(D{}, to_device(D{}, grad), to_device(D{}, host), ids), pick_sequences_grad(grad, host, ids)));
        }
    });
}

TEMPLATE_TEST_CASE("pick_sequences on a device throws like the host's", "[thrust][pick_sequences][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const host({{1}, {2}, {3}}, Lod::from_lengths({{1, 2}}));
    auto const pick = [](auto const& x) { return [&x] { pick_sequences(x, {0, 2}); }; };
    auto const x = to_device(D{}, host);
    CHECK(refused_alike(pick(host), pick(x)));
    CHECK(refused_alike([&] { pick_sequences_grad({{1}}, host, {1, 0}); }, [&] { pick_sequences_grad({{1}}, x, {1, 0}); }));
}

}  // namespace test_pick_sequences
