// expect: rowan::dtype<T>::wire: numbers below 1000 are those of rowan.s own types
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
};

template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 5;
    static constexpr sum widen(mine x) { return x.bits; }
    static constexpr mine narrow(sum x) { return {static_cast<short>(x)}; }
};

rowan::Tensor<mine> tensor;
