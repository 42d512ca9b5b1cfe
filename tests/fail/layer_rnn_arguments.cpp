// expect: rowan::layer::rnn: the step takes its input and the state before it: .*auto x_t, auto state
#include <rowan/layer/rnn.hpp>

auto use(rowan::layer::Var<float> x) { return rowan::layer::rnn(x, 16, [](auto x_t) { return rowan::layer::Step{x_t, x_t}; }); }
