// expect: rowan::softmax: x must have a floating-point type: convert it
#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>

using number = std::int64_t;

void use() { static_cast<void>(rowan::layer::softmax(rowan::layer::data<number>("x", {rowan::UNK, 2}))); }
