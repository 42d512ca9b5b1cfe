// expect: rowan::kernel_of: give one element type for each input of the operator
#include <rowan/graph/scope.hpp>
#include <rowan/op/elementwise/add.hpp>

void use(rowan::Scope& scope, rowan::Variable& x) {
    scope.new_op<rowan::add_op, rowan::Cpu, float>({&x});
}
