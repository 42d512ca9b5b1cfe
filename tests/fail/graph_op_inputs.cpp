// expect: rowan::kernel_of: as many element types as the operator has inputs
#include <rowan/graph/scope.hpp>
#include <rowan/op/add.hpp>

void use(rowan::Scope& scope, rowan::Variable& x) {
    scope.new_op<rowan::add_op, rowan::Cpu, float>({&x});
}
