// expect: rowan::layer: x and y have one element type: convert with layer::cast
#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>

int main() {
    auto const y = rowan::layer::data<double>("y", {1, 2});
    static_cast<void>(rowan::layer::mse(rowan::layer::data("x", {1, 2}), y));
}
