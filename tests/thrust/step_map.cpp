// tests/thrust/step_map.cpp: the positions of sequences in the steps of a batch on a device.
#include "sequences.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace test_step_map {

using device::same_bits;
using rowan::Cpu, rowan::Lod, rowan::StepMap, rowan::Tensor, rowan::to_device, rowan::to_host;

namespace {

Tensor<std::int64_t> as_tensor(std::span<std::int64_t const> list) {
    auto t = Tensor<std::int64_t>::from_shape({list.size()});
    std::ranges::copy(list, t.data());
    return t;
}

template <class D>
bool same_map(StepMap<D> const& map, StepMap<> const& host) {
    bool good = map.lod() == host.lod() && map.level() == host.level() && map.sorted() == host.sorted() && map.steps() == host.steps();
    good = good && map.sequences() == host.sequences() && std::ranges::equal(map.starts(), host.starts());
    good = good && same_bits(map.order(), host.order()) && same_bits(map.elements(), as_tensor(host.elements()));
    for (std::size_t t = 0; t < std::min<std::size_t>(host.steps() + 2, 5); ++t) {
        good = good && map.step_size(t) == host.step_size(t) && same_bits(map.step(t), as_tensor(host.step(t)));
    }
    for (std::size_t j = 0; j < host.sequences(); ++j) good = good && map.sequence(j) == host.sequence(j) && map.length(j) == host.length(j);
    return good;
}

}  // namespace

TEMPLATE_TEST_CASE("a map on a device equals the host's", "[thrust][step_map]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    StepMap<D> const map(Lod::from_lengths({{3, 6, 1}}), 0);
    CHECK(same_bits(map.order(), Tensor<std::int32_t>{1, 0, 2}));
    CHECK(same_bits(map.elements(), Tensor<std::int64_t>{3, 0, 9, 4, 1, 5, 2, 6, 7, 8}));
    CHECK(same_bits(map.step(1), Tensor<std::int64_t>{4, 1}));
    CHECK((map.steps() == 6 && map.step_size(1) == 2 && map.step_size(6) == 0 && map.sorted()));
    CHECK(same_map(StepMap<D>(), StepMap<>()));
    for (auto const& lod : device::some_lods()) {
        for (std::size_t level = 0; level < lod.levels(); ++level) {
            for (bool const sorted : {true, false}) CHECK(same_map(StepMap<D>(D{}, lod, level, sorted), StepMap<>(lod, level, sorted)));
        }
    }
}

TEMPLATE_TEST_CASE("a map on a device accepts the caller's order, from either memory", "[thrust][step_map]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const lod = Lod::from_lengths({{3, 6, 1}});
    StepMap<> const host(lod, 0, {2, 0, 1});
    CHECK(same_map(StepMap<D>(lod, 0, {2, 0, 1}), host));
    CHECK(same_map(StepMap<D>(D{}, lod, 0, to_device(D{}, Tensor<std::int32_t>{2, 0, 1})), host));
    CHECK(same_map(StepMap<D>(D{}, lod, 0, to_device(D{}, Tensor<std::int64_t>{1, 0, 2})), StepMap<>(lod, 0)));
}

TEMPLATE_TEST_CASE("a map on a device throws like the host's", "[thrust][step_map][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const lod = Lod::from_lengths({{3, 6, 1}});
    auto const alike = [&](std::size_t level, std::vector<std::int64_t> const& order) {
        return device::refused_alike([&] { StepMap<>(lod, level, order); }, [&] { StepMap<D>(lod, level, order); });
    };
    CHECK(alike(1, {0, 1, 2}));
    CHECK(alike(0, {0, 1}));
    CHECK(alike(0, {0, 1, 3}));
    CHECK(alike(0, {0, 1, -1}));
    CHECK(alike(0, {0, 1, 1}));
}

TEMPLATE_TEST_CASE("copies of a map on a device are independent", "[thrust][step_map]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const lod = Lod::from_lengths({{3, 6, 1}});
    StepMap<> const host(lod, 0);
    StepMap<D> map(lod, 0);
    StepMap<D> const copy = map;
    StepMap<D> const moved = std::move(map);
    CHECK(same_map(copy, host));
    CHECK(same_map(moved, host));
    map = copy;
    CHECK(same_map(map, host));
}

}  // namespace test_step_map
