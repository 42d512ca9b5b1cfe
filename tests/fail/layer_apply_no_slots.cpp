// expect: rowan::layer::apply: an operator has a name, inputs, outputs and grad, see rowan::operation
#include <rowan/layer/data.hpp>

struct my_op {
    static constexpr std::string_view name = "my_op";
    using outputs = rowan::slots<rowan::slot::out>;
    using grad = rowan::no_grad;
    static constexpr rowan::VarSpec infer(rowan::VarSpec const& x) { return x; }
    static rowan::Tensor<float> run(rowan::Cpu, rowan::Tensor<float> const& x) { return x; }
};

void use() { static_cast<void>(rowan::layer::apply<my_op>({}, rowan::layer::data("x", {1, 2}))); }
