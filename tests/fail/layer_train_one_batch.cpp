// expect: rowan::train: the reader returns several batches, such as a std::vector<rowan::Feeds>
#include <rowan/train/train.hpp>

auto use(rowan::layer::Var<float> cost, rowan::Feeds const& batch) {
    return rowan::train(cost, [&](std::int64_t) { return batch; });
}
