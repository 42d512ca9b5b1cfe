// expect: DLPack has no such element type
#include <rowan/io/dlpack.hpp>

struct mine {
    std::uint16_t bits;
};

template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 1000;
    static sum widen(mine x) { return static_cast<float>(x.bits); }
    static mine narrow(sum x) { return {static_cast<std::uint16_t>(x)}; }
};

using T = mine;

auto* share(rowan::Tensor<T> const& tensor) { return rowan::to_dlpack(tensor); }
