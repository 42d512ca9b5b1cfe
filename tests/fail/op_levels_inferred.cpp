// expect: there_are_too_few_levels
#include <rowan/op/sequence/sequence_pool.hpp>

constexpr std::size_t levels = 0;
inline constexpr auto out = rowan::sequence_pool_op::infer(rowan::tensor_spec<float>({rowan::UNK, 3}, levels));
