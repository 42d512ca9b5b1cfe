// expect: rowan::layer: labels are numbers of classes: declare them with layer::data<std::int64_t>.name, dims.
#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>

using label = float;

auto use() {
    return rowan::layer::cross_entropy(rowan::layer::data("x", {rowan::UNK, 3}), rowan::layer::data<label>("y", {rowan::UNK}));
}
