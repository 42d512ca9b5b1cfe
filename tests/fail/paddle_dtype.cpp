// expect: Paddle has no such element type
#include <rowan/io/paddle.hpp>

#include "number.hpp"

auto bytes(rowan::Tensor<number> const& tensor) { return rowan::to_paddle(tensor); }
