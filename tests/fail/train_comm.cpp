// expect: rowan::train: to train on several ranks, include <rowan/distributed/train.hpp>
// alone: without the precompiled header, which includes it
#include <rowan/distributed/self.hpp>
#include <rowan/train/train_options.hpp>

rowan::TrainOptions options{.comm = rowan::Self{}, .parts = 8};
