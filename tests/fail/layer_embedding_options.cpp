// expect: rowan::layer::embedding: options have names: layer::embedding.ids, ..height = 100, .width = 8..
#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>

void use() { static_cast<void>(rowan::layer::embedding(rowan::layer::data<std::int64_t>("words", {rowan::UNK}), 100, 8)); }
