// tests/fuzz/desc.cpp: bytes as a descriptor, whose kind the first one chooses. What is taken is encoded, decoded and encoded again.
#include <rowan/io/desc.hpp>

#include "fuzz.hpp"

namespace {

template <class Desc>
void run(std::span<std::byte const> bytes) {
    Desc desc;
    try {
        desc = rowan::decode<Desc>(bytes);
    } catch (rowan::FormatError const&) {  // and nothing else: if nanopb did not take what the check takes, it would be std::bad_alloc
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
