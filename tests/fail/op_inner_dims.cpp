// expect: the_dims_do_not_match
#include <rowan/op/matrix/fc.hpp>

constexpr std::int64_t width = 13;
inline constexpr auto out = rowan::fc_op::infer(rowan::tensor_spec<float>({rowan::UNK, width}), rowan::tensor_spec<float>({784, 100}),
                                         rowan::tensor_spec<float>({100}));
