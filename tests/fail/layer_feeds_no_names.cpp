// expect: rowan::Feeds: the values of a batch have names: ...x., x., ..label., label..
#include <rowan/train/feeds.hpp>

rowan::Feeds const feeds{rowan::Tensor<float>{{1, 2}}, rowan::Tensor<std::int64_t>{1}};
