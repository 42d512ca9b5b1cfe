// tests/fuzz/npy.cpp: reads bytes as a .npy file of the element type in the first byte; writes and reads it again.
#include <rowan/io/npy.hpp>

#include <rowan/core/bfloat16.hpp>

#include "fuzz.hpp"

#include <cstdint>

namespace {

template <class T>
void run(std::span<std::byte const> bytes) {
    rowan::Tensor<T> tensor;
    try {
        tensor = rowan::from_npy<T>(bytes);
    } catch (rowan::Error const&) {
        return;
    }
    fuzz::require(tensor.size() * sizeof(T) < bytes.size(), "every element was read");
    auto const again = rowan::to_npy(tensor);
    auto const same = rowan::from_npy<T>(again);
    fuzz::require(same.shape() == tensor.shape() && rowan::to_npy(same) == again, "what is written reads the same");
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size == 0) return 0;
    auto const bytes = fuzz::bytes(data + 1, size - 1);
    switch (data[0] % 4) {
        case 0: run<float>(bytes); break;
        case 1: run<std::int64_t>(bytes); break;
        case 2: run<bool>(bytes); break;
        default: run<rowan::bfloat16>(bytes); break;
    }
    return 0;
}
