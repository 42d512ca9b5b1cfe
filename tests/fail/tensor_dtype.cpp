// expect: rowan::Tensor<T>: specialize rowan::dtype<T> for this element type
#include <rowan/core/tensor.hpp>

struct mine {
    short bits;
};

#ifdef ROWAN_VALID_TWIN
using number = short;
template <>
struct rowan::dtype<short> {
    using sum = int;
    static constexpr std::string_view name = "i16";
    static constexpr std::int32_t wire = 1001;
    static constexpr sum widen(short x) { return x; }
    static constexpr short narrow(sum x) { return static_cast<short>(x); }
};
#else
using number = mine;
#endif

template class rowan::Tensor<number>;
