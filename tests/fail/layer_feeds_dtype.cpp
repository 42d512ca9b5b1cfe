// expect: rowan::Feed: a batch takes tensors, xtensor expressions, flat ranges and numbers, of element types
#include <rowan/train/feeds.hpp>

#include <vector>

rowan::Feeds const feeds{{"words", std::vector<std::vector<long>>{{1, 2}, {3}}}};
