// expect: there_is_no_operator_of_that_name
#include <rowan/op/fc.hpp>
#include <rowan/op/sgd.hpp>

using ops = rowan::registry<rowan::fc_op, rowan::mul_op, rowan::sgd_op>;

#ifdef ROWAN_VALID_TWIN
constexpr std::string_view name = "sgd";
#else
constexpr std::string_view name = "sdg";
#endif

constexpr bool trains = ops::dispatch(name, [](auto op) { return !rowan::differentiable<decltype(op)>; });
static_assert(trains);
