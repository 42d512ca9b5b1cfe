// tests/fuzz/desc.cpp: decodes bytes as a descriptor of the kind in the first byte; encodes and decodes it again.
#include <rowan/io/desc.hpp>

#include "fuzz.hpp"

namespace {

template <class Desc>
void run(std::span<std::byte const> bytes) {
    Desc desc;
    try {
        desc = rowan::decode<Desc>(bytes);
    } catch (rowan::FormatError const&) {  // no other error: nanopb must accept everything that the check accepts
        return;
    }
    auto const again = rowan::encode(desc);
    fuzz::require(rowan::encode(rowan::decode<Desc>(again)) == again, "decode, encode, decode is a fixed point");
    fuzz::require(again.size() <= 32 * bytes.size() + 32, "nothing is written that was not read");
    static_cast<void>(to_string(desc));
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size == 0) return 0;
    auto const bytes = fuzz::bytes(data + 1, size - 1);
    switch (data[0] % 6) {
        case 0: run<rowan::TensorDesc>(bytes); break;
        case 1: run<rowan::LodTensorDesc>(bytes); break;
        case 2: run<rowan::VarDesc>(bytes); break;
        case 3: run<rowan::OpDesc>(bytes); break;
        case 4: run<rowan::BlockDesc>(bytes); break;
        default: run<rowan::ProgramDesc>(bytes); break;
    }
    return 0;
}
