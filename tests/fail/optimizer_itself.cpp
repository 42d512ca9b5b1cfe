// expect: rowan::kernel_of: .itself. and detail::builtin_op are for rowan.s own operators
// flags: -fexceptions -DROWAN_COMPILED
#include <rowan/layer.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train.hpp>
struct my_adagrad_op : rowan::detail::optimizer_op<rowan::AdaGradOptions, rowan::slot::moment> {
    using itself = my_adagrad_op;
    static constexpr std::string_view name = "my_adagrad", brief = "AdaGrad once more";
    template <class P, class S, class D, rowan::detail::gradient_on<D> G>
    static void run(D exec, rowan::Tensor<P, D>& param, rowan::Tensor<S, D>& moment, G const& grad, rowan::AdaGradOptions const& options = {}) {
        rowan::adagrad(exec, param, moment, grad, options);
    }
};
struct MyAdaGrad : rowan::layer::AdaGrad {
    using op = my_adagrad_op;
};
rowan::layer::Optimizer const mine = MyAdaGrad{};
