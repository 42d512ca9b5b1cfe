// expect: rowan::layer::fc: options have names: layer::fc.x, ..output_size = 10..
#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>

void use() { static_cast<void>(rowan::layer::fc(rowan::layer::data("x", {rowan::UNK, 3}), 10)); }
