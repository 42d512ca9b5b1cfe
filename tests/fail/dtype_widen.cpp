// expect: rowan::dtype<T>: static sum widen.T. is missing
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
};

template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 1000;
    static constexpr mine narrow(sum x) { return {static_cast<short>(x)}; }
};

rowan::Tensor<mine> tensor;
