// expect: rowan::layer::Optimizer: specialize rowan::dtype<T> for each of these element types
#include <rowan/train/optimizer.hpp>

struct mine {
    short bits;
};

using number = mine;

rowan::layer::Optimizer optimizer(rowan::layer::AdaGrad{.learning_rate = 0.1}, rowan::dtypes<float, number>{});
