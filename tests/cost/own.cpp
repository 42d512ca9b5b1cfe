// tests/cost/own.cpp: an own element type and an own operator in a net, which is trained, saved and loaded.
//
//     x  --fc (w, b)-->  arctan  -->  predict      cost = mean of (predict - y)²,  y = arctan(3 x - 1)
#include <rowan/io/model.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/rowan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

using rowan::Feeds, rowan::Tensor, rowan::UNK, rowan::VarSpec;
namespace slot = rowan::slot;
namespace layer = rowan::layer;

/// A float of its own type, whose sums are formed in double.
struct real {
    float x;
    friend bool operator==(real, real) = default;
};

template <>
struct rowan::dtype<real> {
    using sum = double;
    static constexpr std::string_view name = "real";
    static constexpr std::int32_t wire = 1000;
    static sum widen(real r) { return static_cast<double>(r.x); }
    static real narrow(sum x) { return {static_cast<float>(x)}; }
};

struct arctan_grad_op {
    static constexpr std::string_view name = "arctan_grad";
    using inputs = rowan::slots<slot::x, rowan::grad_of<slot::out>>;
    using outputs = rowan::slots<rowan::grad_of<slot::x>>;
    using grad = rowan::no_grad;
    static constexpr VarSpec infer(VarSpec const& x, VarSpec const&) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, Tensor<T, D> const& out_grad) {
        auto result = Tensor<T, D>::from_shape(x.shape());
        std::transform(x.begin(), x.end(), out_grad.begin(), result.begin(), [](T e, T g) {
            auto const wide = rowan::dtype<T>::widen(e);
            return rowan::dtype<T>::narrow(rowan::dtype<T>::widen(g) / (1 + wide * wide));
        });
        return result;
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
        auto result = Tensor<T, D>::from_shape(x.shape());
        std::transform(x.begin(), x.end(), result.begin(),
                       [](T e) { return rowan::dtype<T>::narrow(std::atan(rowan::dtype<T>::widen(e))); });
        return result;
    }
};

using my_ops = rowan::registry<rowan::fc_op, arctan_op>;  // those of the net: forward_ops::with would compile all for real

int main() {
    auto predict = layer::apply<arctan_op>({}, layer::fc(layer::data<real>("x", {UNK, 1}), {.output_size = 1}));
    auto cost = layer::mse(predict, layer::data<real>("y", {UNK, 1}));

    auto x = Tensor<real>::from_shape({5, 1}), y = Tensor<real>::from_shape({5, 1});
    for (std::size_t i = 0; i < 5; ++i) {
        x(i, 0) = {static_cast<float>(i) - 2};
        y(i, 0) = {std::atan(3 * x(i, 0).x - 1)};
    }
    Feeds const batch{{"x", x}, {"y", y}}, asked{{"x", x}};
    layer::Optimizer const adam(layer::Adam{.learning_rate = 0.05}, rowan::dtypes<real>{});
    auto parameters =
        rowan::train(cost, [&](std::int64_t) { return std::vector{batch}; }, {.optimizer = adam, .epochs = 2000});
    float const w = parameters.get<real>("fc_0.w_0")(0, 0).x, b = parameters.get<real>("fc_0.b_0")(0).x;
    if (std::abs(w - 3) > 0.01F || std::abs(b + 1) > 0.01F) return std::printf("w %g, b %g\n", double{w}, double{b}), 1;

    rowan::save_model<my_ops>(predict, parameters, "own.rowan");
    auto const model = rowan::load_model<my_ops, rowan::dtypes<real>>("own.rowan");
    std::remove("own.rowan");
    return rowan::infer(model.predict, asked, model.parameters) == rowan::infer(predict, asked, parameters) ? 0 : 2;
}
