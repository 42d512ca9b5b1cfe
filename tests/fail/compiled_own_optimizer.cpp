// expect: rowan::layer::Optimizer: the compiled library has no such optimizer for these element types and this device
// flags: -fexceptions -DROWAN_COMPILED
#include <rowan/core/float16.hpp>
#include <rowan/train/optimizer.hpp>

rowan::layer::Optimizer const half(rowan::layer::AdaGrad{}, rowan::dtypes<rowan::float16>{});
