// rowan/compiled/training.cpp: optimizers, clippings and averages of the compiled library, for float, double and bfloat16.
#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/op.hpp>
#include <rowan/rowan.hpp>

#include <rowan/compiled/define.hpp>
#include <rowan/train/detail/make_clip.hpp>
#include <rowan/train/detail/make_update.hpp>

namespace rowan::inline v0::detail {

template AnyOptimizer make_optimizer<Cpu>(layer::MovingAverage const&, dtypes<float, double, bfloat16>);

}  // namespace rowan::inline v0::detail
