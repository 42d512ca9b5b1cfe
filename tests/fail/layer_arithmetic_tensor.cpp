// expect: rowan::layer: . - . / take two Vars of one element type and device, or a Var and a number
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>

auto const sum = rowan::layer::data("x", {1, 2}) + rowan::Tensor<float>{{1, 2}};
