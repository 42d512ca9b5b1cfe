// expect: rowan: a gradient rule reads a slot that is not a slot of the operator and that no rule writes
#include <rowan/graph/scope.hpp>
#include <rowan/op/elementwise/identity.hpp>

using reads = rowan::slot::h;

struct my_op {
    static constexpr std::string_view name = "my_op";
    using inputs = rowan::slots<rowan::slot::x>;
    using outputs = rowan::slots<rowan::slot::out>;
    using grad = rowan::grad_rule<rowan::identity_op, rowan::uses<rowan::grad_of<reads>>, rowan::makes<rowan::grad_of<rowan::slot::x>>>;
    static constexpr rowan::VarSpec infer(rowan::VarSpec const& x) { return x; }
    static rowan::Tensor<float> run(rowan::Cpu, rowan::Tensor<float> const& x) { return x; }
};

void use(rowan::Scope& scope, rowan::Variable& x) { scope.new_op<my_op, rowan::Cpu, float>({&x}); }
