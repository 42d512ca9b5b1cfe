// expect: rowan::train: options have names and come last: train.cost, reader, ..optimizer = layer::Adam.., .epochs = 20..
#include <rowan/train/train.hpp>

#include <vector>

auto use(rowan::layer::Var<float> cost, std::vector<rowan::Feeds> const& batches) {
    return rowan::train(cost, [&](std::int64_t) { return batches; }, rowan::layer::Adam{});
}
