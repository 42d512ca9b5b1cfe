// expect: rowan::layer::Var<T>: specialize rowan::dtype<T> for this element type
#include <rowan/layer/data.hpp>

struct mine {
    short bits;
};

void use() { static_cast<void>(rowan::layer::data<mine>("x", {rowan::UNK, 2})); }
