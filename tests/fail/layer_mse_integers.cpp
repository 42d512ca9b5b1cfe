// expect: rowan::mse: x and y must have a floating-point type: convert them
#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>

using number = std::int64_t;

void use() {
    auto const x = rowan::layer::data<number>("x", {rowan::UNK, 2});
    static_cast<void>(rowan::layer::mse(x, x));
}
