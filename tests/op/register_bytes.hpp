// tests/op/register_bytes.hpp: the same bits with registers of 16, 32 and 64 bytes.
#pragma once

#include "op/any_threads.hpp"

#include <rowan/detail/lane_targets.hpp>

namespace test {

/// Loops over lanes have registers of at most `bytes` until it ends.
class RegisterBytes {
public:
#ifdef __x86_64__
    explicit RegisterBytes(std::size_t bytes) : before_(rowan::detail::processor_bytes()) {
        if (bytes < before_) rowan::detail::known_register_bytes = bytes;
    }
    ~RegisterBytes() { rowan::detail::known_register_bytes = before_; }
    RegisterBytes(RegisterBytes const&) = delete;
    RegisterBytes& operator=(RegisterBytes const&) = delete;

private:
    std::size_t before_;
#else
    explicit RegisterBytes(std::size_t) {}
#endif
};

/// Calls f, which loops over lanes, with registers of 16, 32 and 64 bytes and compares the results. Without optimisation there is one kind.
template <class F>
void check_any_registers(F const& f) {
    if (rowan::detail::widest_bytes == rowan::detail::native_bytes) return;
    auto const with = [&](std::size_t bytes) {
        RegisterBytes const registers(bytes);
        return f();
    };
    auto const want = with(16);
    CHECK(same_bits(with(32), want));
    CHECK(same_bits(with(64), want));
}

}  // namespace test
