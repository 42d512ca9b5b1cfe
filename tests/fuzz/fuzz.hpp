// tests/fuzz/fuzz.hpp: the entry of fuzz targets. A target is a file x.cpp here, which defines the entry, and a folder
// corpus/x. ctest runs the corpus through replay.cpp; `tests/run.sh fuzz` runs libFuzzer on it.
#pragma once

#include <rowan/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

/// Accepts any bytes. Returns 0, or ends the program if a check fails.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

/// Mutates bytes in place, within `most`, and returns their new number. Defined by libFuzzer.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace fuzz {

inline std::span<std::byte const> bytes(std::uint8_t const* data, std::size_t size) {
    return std::as_bytes(std::span<std::uint8_t const>(data, size));
}

/// Ends the program, so that the fuzzer keeps the input, unless `good`.
inline void require(bool good, char const* what) {
    if (good) return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::abort();
}

}  // namespace fuzz
