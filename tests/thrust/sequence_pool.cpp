// tests/thrust/sequence_pool.cpp: one row for each sequence, on a device.
#include "sequences.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace test_sequence_pool {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::sequence_pool, rowan::sequence_pool_grad, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

constexpr Pooling all_pools[] = {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max, Pooling::min, Pooling::first, Pooling::last};

template <class D, class T>
void check_pools(LoDTensor<T> const& host) {
    auto const x = to_device(D{}, host);
    auto const grad = device::filled<T>({rowan::detail::last_level(host.lod()).size() - 1, host.value().row_size()}, 9);
    for (Pooling const pool : all_pools) {
        INFO(static_cast<int>(pool));
        CHECK(same_bits(sequence_pool(D{}, x, pool, 1), sequence_pool(host, pool, 1)));
        CHECK(same_bits(sequence_pool_grad(x, to_device(D{}, grad), pool), sequence_pool_grad(host, grad, pool)));
    }
}

}  // namespace

TEMPLATE_TEST_CASE("pools of sequences on a device", "[thrust][sequence_pool]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const x({{1, 8}, {3, 2}, {2, 5}}, Lod{{0, 2, 2, 3}});
    CHECK(same_bits(sequence_pool(x, Pooling::sum).value(), Tensor<float>{{4, 10}, {0, 0}, {2, 5}}));
    CHECK(same_bits(sequence_pool(x, Pooling::mean, 9).value(), Tensor<float>{{2, 5}, {9, 9}, {2, 5}}));
    CHECK(same_bits(sequence_pool(x, Pooling::max).value(), Tensor<float>{{3, 8}, {0, 0}, {2, 5}}));
    CHECK(same_bits(sequence_pool(x, Pooling::last).value(), Tensor<float>{{3, 2}, {0, 0}, {2, 5}}));
    Tensor<float, D> const grad{{1, 2}, {3, 4}, {5, 6}};
    CHECK(same_bits(sequence_pool_grad(x, grad, Pooling::max).value(), Tensor<float>{{0, 2}, {1, 0}, {5, 6}}));
    CHECK(same_bits(sequence_pool_grad(x, grad, Pooling::mean).value(), Tensor<float>{{0.5, 1}, {0.5, 1}, {5, 6}}));
}

TEMPLATE_TEST_CASE("pools of sequences on a device have the host's bits", "[thrust][sequence_pool]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) { check_pools<D>(device::some_batch<T>(lod, width, 1)); });
}

TEMPLATE_TEST_CASE("one long sequence on a device is summed in blocks of blocks", "[thrust][sequence_pool]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    check_pools<D>(device::some_batch<float>(Lod::from_lengths({{0, 262145, 3}}), 2, 1));
}

TEMPLATE_TEST_CASE("integers and truth values are pooled on a device as on the host", "[thrust][sequence_pool]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (auto const& lod : device::some_lods()) {
        check_pools<D>(device::some_batch<std::int32_t>(lod, 3, 1));
        check_pools<D>(device::some_batch<std::int64_t>(lod, 1, 2));
        check_pools<D>(device::some_batch<bool>(lod, 4, 3));
    }
}

TEMPLATE_TEST_CASE("the first NaN and the first of equal extremes count on a device too", "[thrust][sequence_pool]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    auto value = device::filled<float>({400, 3}, 5);
    for (std::size_t i = 0; i < value.size(); i += 7) value.data()[i] = 0;
    for (std::size_t i = 3; i < value.size(); i += 7) value.data()[i] = -0.0F;
    for (std::size_t const i : {400U, 701U, 704U, 899U}) value.data()[i] = nan;
    LoDTensor<float> const host(value, Lod::from_lengths({{100, 130, 0, 170}}));
    auto const x = to_device(D{}, host);
    auto const grad = device::filled<float>({4, 3}, 6);
    for (Pooling const pool : {Pooling::max, Pooling::min}) {
        CHECK(same_bits(sequence_pool(x, pool), sequence_pool(host, pool)));
        CHECK(same_bits(sequence_pool_grad(x, to_device(D{}, grad), pool), sequence_pool_grad(host, grad, pool)));
    }
}

TEMPLATE_TEST_CASE("sequence_pool on a device throws like the host's", "[thrust][sequence_pool][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const host({{1}, {2}}, Lod{{0, 2}}), flat(Tensor<float>{{1}});
    LoDTensor<std::int32_t> const whole({{1}, {2}}, Lod{{0, 2}});
    auto const x = to_device(D{}, host);
    auto const pool_of = [](auto const& batch, int pool, double pad) { return [batch, pool, pad] { sequence_pool(batch, static_cast<Pooling>(pool), pad); }; };
    CHECK(refused_alike(pool_of(flat, 0, 0), pool_of(to_device(D{}, flat), 0, 0)));
    CHECK(refused_alike(pool_of(host, 7, 0), pool_of(x, 7, 0)));
    CHECK(refused_alike(pool_of(whole, 0, 0.5), pool_of(to_device(D{}, whole), 0, 0.5)));
    Tensor<float> const grad{{1}, {2}};
    CHECK(refused_alike([&] { sequence_pool_grad(host, grad, Pooling::sum); }, [&] { sequence_pool_grad(x, to_device(D{}, grad), Pooling::sum); }));
}

}  // namespace test_sequence_pool
