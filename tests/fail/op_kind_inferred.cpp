// expect: the_kinds_do_not_match
#include <rowan/op/matrix/fc.hpp>

constexpr rowan::VarSpec weight = rowan::selected_rows_spec<float>({784, 100});
inline constexpr auto out = rowan::fc_op::infer(rowan::tensor_spec<float>({rowan::UNK, 784}), weight, rowan::tensor_spec<float>({100}));
