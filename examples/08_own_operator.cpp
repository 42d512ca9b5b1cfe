// A custom operator with its gradient, in a net: arctan(x), whose derivative is 1 / (1 + x²).
//
//     x  -2     -1     0     1     2           x --fc (w, b)--> arctan --> predict      cost = mean of (predict - y)²
//     y  -1.43  -1.33 -0.79  1.11  1.37        y = arctan(3 x - 1): it finds w = 3 and b = -1
#include <rowan/own_operator.hpp>
#include <rowan/rowan.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using rowan::Tensor, rowan::VarSpec;
namespace slot = rowan::slot;

struct arctan_grad_op {
    static constexpr std::string_view name = "arctan_grad";
    using inputs = rowan::slots<slot::x, rowan::grad_of<slot::out>>;  // the inputs of run
    using outputs = rowan::slots<rowan::grad_of<slot::x>>;            // its results
    using grad = rowan::no_grad;
    static constexpr VarSpec infer(VarSpec const& x, VarSpec const&) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, Tensor<T, D> const& out_grad) {
        return out_grad / (T{1} + x * x);
    }
};

struct arctan_op {
    static constexpr std::string_view name = "arctan";
    using inputs = rowan::slots<slot::x>;
    using outputs = rowan::slots<slot::out>;
    using grad = rowan::grad_rule<arctan_grad_op>;
    static constexpr VarSpec infer(VarSpec const& x) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x) {
        return xt::atan(x);
    }
};

using my_ops = rowan::builtin_ops::with<arctan_op, arctan_grad_op>;
static_assert(my_ops::has<arctan_op> && !rowan::builtin_ops::has<arctan_op>);

int main() {
    namespace layer = rowan::layer;
    auto predict = layer::apply<arctan_op>({}, layer::fc(layer::data("x", {rowan::UNK, 1}), {.output_size = 1}));
    auto cost = layer::mse(predict, layer::data("y", {rowan::UNK, 1}));

    Tensor<float> x{{-2}, {-1}, {0}, {1}, {2}}, y = xt::atan(3.0f * x - 1.0f);  // training finds 3 and -1
    std::vector<rowan::Feeds> batch{{{"x", x}, {"y", y}}};
    auto parameters = rowan::train(cost, [&](std::int64_t) { return batch; },
                                   {.optimizer = layer::Adam{.learning_rate = 0.05}, .epochs = 2000});
    std::printf("w %.2f  b %.2f\n", static_cast<double>(parameters.get<float>("fc_0.w_0")(0, 0)),
                static_cast<double>(parameters.get<float>("fc_0.b_0")(0)));
}
