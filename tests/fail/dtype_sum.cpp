// expect: rowan::dtype<T>: using sum = ... is missing: the type in which sums of T are formed
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
};

template <>
struct rowan::dtype<mine> {
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 1000;
    static constexpr float widen(mine x) { return x.bits; }
    static constexpr mine narrow(float x) { return {static_cast<short>(x)}; }
};

rowan::Tensor<mine> tensor;
