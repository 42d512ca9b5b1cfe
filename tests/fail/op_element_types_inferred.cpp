// expect: the_element_types_do_not_match
#include <rowan/op/elementwise/add.hpp>

using number = double;
inline constexpr auto out = rowan::add_op::infer(rowan::tensor_spec<float>({rowan::UNK, 3}), rowan::tensor_spec<number>({rowan::UNK, 3}));
