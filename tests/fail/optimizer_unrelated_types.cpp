// expect: rowan: these element types do not compute together: their dtype<T>::sum need a common type that converts to each
#include <rowan/sparse/adagrad.hpp>

struct vector2 {
    float x, y;
};
template <>
struct rowan::dtype<vector2> {
    using sum = vector2;
    static constexpr std::string_view name = "vector2";
    static constexpr std::int32_t wire = 1004;
    static constexpr sum widen(vector2 v) { return v; }
    static constexpr vector2 narrow(sum v) { return v; }
};

#ifdef ROWAN_VALID_TWIN
using number = rowan::bfloat16;
#else
using number = vector2;
#endif

void step(rowan::Tensor<float>& param, rowan::Tensor<float>& moment, rowan::SelectedRows<number> const& grad) {
    rowan::adagrad(param, moment, grad);
}
