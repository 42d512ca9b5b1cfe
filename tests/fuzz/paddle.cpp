// tests/fuzz/paddle.cpp: reads bytes as a Paddle stream; the first byte is its kind. A valid stream is written, read
// and written again.
#include <rowan/io/paddle.hpp>

#include <rowan/core/bfloat16.hpp>

#include "fuzz.hpp"

#include <cstdint>

namespace {

template <class V>
void run(std::span<std::byte const> bytes) {
    V value;
    try {
        value = rowan::from_paddle<V>(bytes);
    } catch (rowan::Error const&) {
        return;
    }
    auto const again = rowan::to_paddle(value);
    fuzz::require(again.size() <= bytes.size() + 8, "nothing is written that was not read");  // packed dims are shorter
    fuzz::require(rowan::to_paddle(rowan::from_paddle<V>(again)) == again, "what is written reads the same");
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size == 0) return 0;
    auto const bytes = fuzz::bytes(data + 1, size - 1);
    switch (data[0] % 5) {
        case 0: run<rowan::LoDTensor<float>>(bytes); break;
        case 1: run<rowan::LoDTensor<std::int64_t>>(bytes); break;
        case 2: run<rowan::LoDTensor<bool>>(bytes); break;
        case 3: run<rowan::SelectedRows<float>>(bytes); break;
        default: run<rowan::SelectedRows<rowan::bfloat16>>(bytes); break;
    }
    return 0;
}
