// expect: rowan::layer::Var<T>: specialize rowan::dtype<T> for this element type
#include <rowan/layer/data.hpp>

struct mine {
    short bits;
};

#ifdef ROWAN_VALID_TWIN
template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 1000;
    static constexpr sum widen(mine x) { return x.bits; }
    static constexpr mine narrow(sum x) { return {static_cast<short>(x)}; }
};
#endif

void use() { static_cast<void>(rowan::layer::data<mine>("x", {rowan::UNK, 2})); }
