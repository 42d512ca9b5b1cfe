// expect: rowan::dtype<T>: static T narrow.sum. is missing: it rounds
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
};

template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 1000;
    static constexpr sum widen(mine x) { return x.bits; }
};

rowan::Tensor<mine> tensor;
