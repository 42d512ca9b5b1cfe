// expect: rowan::dtype<T>: T must be default constructible
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
    mine(short b) : bits(b) {}
};

template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 1000;
    static sum widen(mine x) { return x.bits; }
    static mine narrow(sum x) { return {static_cast<short>(x)}; }
};

rowan::Tensor<mine> tensor;
