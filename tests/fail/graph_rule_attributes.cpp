// expect: rowan: the operator of a gradient rule must have no attributes, or those of the operator itself
#include <rowan/graph/scope.hpp>
#include <rowan/op/elementwise/scale.hpp>

struct options {
    double limit = 1;
};

struct my_op {
    static constexpr std::string_view name = "my_op";
    using inputs = rowan::slots<rowan::slot::x>;
    using outputs = rowan::slots<rowan::slot::out>;
    using attributes = options;
    using grad = rowan::grad_rule<rowan::scale_op, rowan::uses<rowan::grad_of<rowan::slot::out>>,
                                  rowan::makes<rowan::grad_of<rowan::slot::x>>>;
    static constexpr rowan::VarSpec infer(rowan::VarSpec const& x) { return x; }
    static rowan::Tensor<float> run(rowan::Cpu, rowan::Tensor<float> const& x, attributes const&) { return x; }
};

void use(rowan::Scope& scope, rowan::Variable& x) { scope.new_op<my_op, rowan::Cpu, float>({&x}); }
