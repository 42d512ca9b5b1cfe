// expect: rowan: an operator has a name, inputs, outputs and grad, see rowan::operation
#include <rowan/graph/scope.hpp>

struct my_op {
    using inputs = rowan::slots<rowan::slot::x>;
    using outputs = rowan::slots<rowan::slot::out>;
    using grad = rowan::no_grad;
    static constexpr rowan::VarSpec infer(rowan::VarSpec const& x) { return x; }
    static rowan::Tensor<float> run(rowan::Cpu, rowan::Tensor<float> const& x) { return x; }
};

void use(rowan::Scope& scope, rowan::Variable& x) { scope.new_op<my_op, rowan::Cpu, float>({&x}); }
