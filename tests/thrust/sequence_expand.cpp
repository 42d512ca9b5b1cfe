// tests/thrust/sequence_expand.cpp: sequence_expand and its gradient on a device.
#include "sequences.hpp"

namespace test_sequence_expand_on_device {

using device::Lengths, device::same_bits, device::Shape;
using rowan::Lod, rowan::LoDTensor, rowan::sequence_expand, rowan::sequence_expand_grad, rowan::Tensor, rowan::to_device;

namespace {

template <class D, class T>
void check(LoDTensor<T> const& x, Lengths const& times) {
    auto const lod = Lod::from_lengths({times});
    auto const out = sequence_expand(x, lod);
    auto const on_device = to_device(D{}, x);
    CHECK(same_bits(sequence_expand(on_device, lod), out));
    auto const grad = device::filled<T>(out.value().shape(), 9);
    CHECK(same_bits(sequence_expand_grad(to_device(D{}, grad), on_device, lod), sequence_expand_grad(grad, x, lod)));
}

}  // namespace

TEMPLATE_TEST_CASE("sequence_expand on a device and its gradient give the bits of Cpu", "[thrust][sequence_expand]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (auto const& times : {Lengths{}, {0}, {0, 0, 3}, {1, 0, 2, 0}, {63, 0, 64, 65}, {1, 128, 129, 0}, {4096, 3, 4097}, {300'000}}) {
        for (std::size_t const width : {0U, 1U, 3U, 4U, 8U}) {
            CAPTURE(times, width);
            auto const rows = [&]<class T>(T) { check<D, T>(LoDTensor<T>(device::filled<T>({times.size(), width}, 3)), times); };
            rows(float());
            if (width < 8 && times != Lengths{300'000}) {
                rows(double());
                rows(rowan::bfloat16());
                rows(std::int32_t());
            }
        }
    }
}

TEMPLATE_TEST_CASE("sequences and nested ones are summed over their repeats on a device", "[thrust][sequence_expand]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    for (auto const& lod : device::some_lods()) {
        if (lod.rows() > 1000) continue;
        for (std::size_t const width : {1U, 4U}) {
            check<D>(device::some_batch<float>(lod, width, 3), device::some_lengths(lod[0].size() - 1, 3, 4));
            check<D>(device::some_batch<rowan::bfloat16>(lod, width, 3), device::some_lengths(lod[0].size() - 1, 150, 5));
        }
    }
    check<D>(device::some_batch<float>(Lod::from_lengths({{2, 0, 3}}), 4, 3), {5000, 7, 64});
    check<D>(device::some_batch<float>(Lod::from_lengths({{0, 0}}), 4, 3), {5000, 7});
}

}  // namespace test_sequence_expand_on_device
