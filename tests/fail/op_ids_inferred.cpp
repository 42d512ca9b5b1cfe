// expect: the_element_types_do_not_match
#include <rowan/op/lookup_table.hpp>

#ifdef ROWAN_VALID_TWIN
using id = std::int32_t;
#else
using id = float;
#endif
inline constexpr auto out = rowan::lookup_table_op::infer(rowan::tensor_spec<float>({7, 2}), rowan::tensor_spec<id>({rowan::UNK}));
