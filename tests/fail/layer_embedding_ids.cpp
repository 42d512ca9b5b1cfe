// expect: rowan::layer::embedding: ids are integers: declare them with layer::data<std::int64_t>.name, dims.
#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>

using id = float;

auto use() { return rowan::layer::embedding(rowan::layer::data<id>("words", {rowan::UNK}), {.height = 5, .width = 8}); }
