// expect: rowan::layer::rnn: the step returns layer::Step.output, state.
#include <rowan/layer/rnn.hpp>

auto use(rowan::layer::Var<float> x) { return rowan::layer::rnn(x, 16, [](auto, auto state) { return state; }); }
