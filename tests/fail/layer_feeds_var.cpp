// expect: rowan::Feeds: the values of a batch have names: ..x->name.., value..
#include <rowan/train/feeds.hpp>
#include <rowan/layer/var.hpp>

rowan::Feeds batch(rowan::layer::Var<float> x) { return {{x, rowan::Tensor<float>{{1, 2}}}}; }
