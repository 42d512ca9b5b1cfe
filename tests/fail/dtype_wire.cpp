// expect: rowan::dtype<T>: static constexpr std::int32_t wire is missing: the number of T in files, from 1000 on
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
};

template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr sum widen(mine x) { return x.bits; }
    static constexpr mine narrow(sum x) { return {static_cast<short>(x)}; }
};

rowan::Tensor<mine> tensor;
