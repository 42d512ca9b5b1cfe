// expect: rowan::dtype<T>: static constexpr std::string_view name is missing: the name of T in messages and nets
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
};

template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::int32_t wire = 1000;
    static constexpr sum widen(mine x) { return x.bits; }
    static constexpr mine narrow(sum x) { return {static_cast<short>(x)}; }
};

rowan::Tensor<mine> tensor;
