// expect: the_element_types_do_not_match
#include <rowan/op/table/lookup_table.hpp>

using id = float;
inline constexpr auto out = rowan::lookup_table_op::infer(rowan::tensor_spec<float>({7, 2}), rowan::tensor_spec<id>({rowan::UNK}));
