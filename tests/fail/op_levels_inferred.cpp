// expect: there_are_too_few_levels
#include <rowan/op/sequence_pool.hpp>

#ifdef ROWAN_VALID_TWIN
constexpr std::size_t levels = 1;
#else
constexpr std::size_t levels = 0;
#endif
inline constexpr auto out = rowan::sequence_pool_op::infer(rowan::tensor_spec<float>({rowan::UNK, 3}, levels));
