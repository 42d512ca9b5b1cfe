// expect: rowan::layer::apply: for an operator of your own, #include <rowan/own_operator.hpp>
// flags: -fexceptions -DROWAN_COMPILED
#include <rowan/layer/data.hpp>

struct my_op {
    static constexpr std::string_view name = "my_op";
    using inputs = rowan::slots<rowan::slot::x>;
    using outputs = rowan::slots<rowan::slot::out>;
    using grad = rowan::no_grad;
    static constexpr rowan::VarSpec infer(rowan::VarSpec const& x) { return x; }
    static rowan::Tensor<float> run(rowan::Cpu, rowan::Tensor<float> const& x) { return x; }
};

void use() { static_cast<void>(rowan::layer::apply<my_op>({}, rowan::layer::data("x", {1, 2}))); }
