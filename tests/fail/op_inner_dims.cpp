// expect: the_dims_do_not_match
#include <rowan/op/fc.hpp>

#ifdef ROWAN_VALID_TWIN
constexpr std::int64_t width = 784;
#else
constexpr std::int64_t width = 13;
#endif
inline constexpr auto out = rowan::fc_op::infer(rowan::tensor_spec<float>({rowan::UNK, width}), rowan::tensor_spec<float>({784, 100}),
                                         rowan::tensor_spec<float>({100}));
