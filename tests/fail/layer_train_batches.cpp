// expect: rowan::train: the reader is a function of the number of the epoch: .&..std::int64_t. . return batches
#include <rowan/train/train.hpp>

#include <vector>

auto use(rowan::layer::Var<float> cost, std::vector<rowan::Feeds> const& batches) { return rowan::train(cost, batches); }
