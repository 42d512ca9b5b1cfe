// expect: rowan::Trainer: options have names: Trainer.cost, ..optimizer = layer::Adam....
#include <rowan/train/trainer.hpp>

void use(rowan::layer::Var<float> cost) { rowan::Trainer trainer(cost, rowan::layer::Adam{}); }
