// expect: there_is_no_operator_of_that_name
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/optimizer/optimizers.hpp>

using ops = rowan::registry<rowan::fc_op, rowan::matmul_op, rowan::sgd_op>;

constexpr std::string_view name = "sdg";

constexpr bool trains = ops::dispatch(name, [](auto op) { return !rowan::differentiable<decltype(op)>; });
static_assert(trains);
