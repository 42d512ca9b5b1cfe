// expect: rowan::Trainer: options have names: Trainer.cost, ..optimizer = layer::Adam....
#include <rowan/layer/trainer.hpp>

void use(rowan::layer::Var<float> cost) { rowan::Trainer trainer(cost, rowan::layer::Adam{}); }
