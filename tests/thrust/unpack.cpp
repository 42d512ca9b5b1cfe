// tests/thrust/unpack.cpp: unpack and pack on a device.
#include "sequences.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace test_unpack {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::StepMap, rowan::Tensor, rowan::TensorArray, rowan::to_device, rowan::to_host;

TEMPLATE_TEST_CASE("steps on a device hold the rows of the longest sequence first", "[thrust][unpack]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float, D> const x({{0}, {1}, {2}, {3}, {4}, {5}}, Lod::from_lengths({{1, 0, 3, 2}}));
    auto [steps, map] = TensorArray<float, D>::unpack(x, {.level = 0, .sort_by_length = true});
    CHECK(steps.size() == 3);
    CHECK(same_bits(steps.read(0).value(), Tensor<float>{{1}, {4}, {0}}));
    CHECK(same_bits(steps.read(1).value(), Tensor<float>{{2}, {5}}));
    CHECK(same_bits(steps.read(2).value(), Tensor<float>{{3}}));
    CHECK(steps.read(1).value().data() == steps.read(0).value().data() + 3);
    CHECK(same_bits(steps.pack(0, map), to_host(x)));
    TensorArray<float, D> other;
    StepMap<D> its_map;
    TensorArray<float, D>::unpack(x, 0, true, &other, &its_map);
    CHECK(same_bits(other.pack(0, its_map), to_host(x)));
}

TEMPLATE_TEST_CASE("steps on a device are the host's, and pack to the batch", "[thrust][unpack][pack]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    device::for_batches([]<class T>(T, Lod const& lod, std::size_t width) {
        auto const host = device::some_batch<T>(lod, width, 1);
        auto const x = to_device(D{}, host);
        for (std::size_t level = 0; level < lod.levels(); ++level) {
            for (bool const sorted : {true, false}) {
                rowan::UnpackOptions const options{.level = level, .sort_by_length = sorted};
                auto [steps, map] = TensorArray<T, D>::unpack(D{}, x, options);
                auto [host_steps, host_map] = TensorArray<T>::unpack(host, options);
                CHECK(same_bits(steps, host_steps));
                CHECK(same_bits(steps.pack(D{}, level, map), host));
                CHECK(same_bits(TensorArray<T, D>::unpack(D{}, x, map), host_steps));
                TensorArray<T, D> written;
                for (std::size_t t = 0; t < steps.size(); ++t) written.write(t, steps.read(t), t % 2 == 0);
                auto const packed = written.pack(level, map);
                // an array without steps has no width
                if (steps.size() != 0) CHECK(same_bits(packed, host));
            }
        }
    });
}

TEMPLATE_TEST_CASE("steps of single rows written one by one pack on a device", "[thrust][pack]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const lod = Lod::from_lengths({{2, 1}, {1, 0, 2}});
    LoDTensor<float> const host({{1}, {2}, {3}}, lod);
    auto [steps, map] = TensorArray<float, D>::unpack(to_device(D{}, host), {.level = 0});
    TensorArray<float, D> states;
    TensorArray<float> host_states;
    for (std::size_t t = 0; t < steps.size(); ++t) {
        auto const rows = device::filled<float>({map.step_size(t), 4}, static_cast<unsigned>(t));
        states.write(t, to_device(D{}, rows));
        host_states.write(t, rows);
    }
    CHECK(same_bits(states.pack(0, map), host_states.pack(0, StepMap<>(lod, 0))));
}

TEMPLATE_TEST_CASE("unpack and pack on a device throw like the host's", "[thrust][unpack][pack][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<float> const host({{0}, {1}, {2}}, Lod::from_lengths({{1, 2}}));
    auto const x = to_device(D{}, host);
    auto [steps, map] = TensorArray<float, D>::unpack(x);
    auto [host_steps, host_map] = TensorArray<float>::unpack(host);
    CHECK(refused_alike([&] { TensorArray<float>::unpack(host, {.level = 1}); }, [&] { TensorArray<float, D>::unpack(x, {.level = 1}); }));
    CHECK(refused_alike([&, &s = host_steps, &m = host_map] { s.pack(1, m); }, [&, &s = steps, &m = map] { s.pack(1, m); }));
    auto const other = Lod::from_lengths({{2, 1}});
    CHECK(refused_alike([&, &s = host_steps] { s.pack(0, StepMap<>(other, 0)); }, [&, &s = steps] { s.pack(0, StepMap<D>(other, 0)); }));
    CHECK(refused_alike([&] { TensorArray<float>::unpack(host, StepMap<>(other, 0)); }, [&] { TensorArray<float, D>::unpack(x, StepMap<D>(other, 0)); }));
    TensorArray<float, D> few = steps;
    TensorArray<float> host_few = host_steps;
    few.erase(1);
    host_few.erase(1);
    CHECK(refused_alike([&, &m = host_map] { host_few.pack(0, m); }, [&, &m = map] { few.pack(0, m); }));
    CHECK(refused_alike([&] { TensorArray<float>::unpack(host, 0, true, nullptr, nullptr); }, [&] { TensorArray<float, D>::unpack(x, 0, true, nullptr, nullptr); }));
    CHECK(same_bits(steps.pack(0, map), host));
}

}  // namespace test_unpack
