// rowan/io/paddle_inl.hpp: definitions of rowan/io/paddle.hpp.
#pragma once

#include <rowan/io/paddle.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0 {

ROWAN_FUNCTION std::vector<std::byte> to_paddle(PaddleValue const& value) {
    std::vector<std::byte> bytes(value.head().size() + value.elements().size());
    std::ranges::copy(value.elements(), std::ranges::copy(value.head(), bytes.begin()).out);
    return bytes;
}

ROWAN_FUNCTION void save_paddle_combined(std::string const& path, std::vector<PaddleValue> const& values) {
    detail::AtomicFile<> file(path);
    for (PaddleValue const& value : values) {
        file.write(value.head());
        file.write(value.elements());
    }
    file.commit();
}

ROWAN_FUNCTION void save_paddle(std::string const& path, PaddleValue const& value) {
    detail::AtomicFile<> file(path);
    file.write(value.head());
    file.write(value.elements());
    file.commit();
}

}  // namespace rowan::inline v0

#endif
