// rowan/layer/dropout.hpp: layer::dropout, sets random elements to 0 during training.
#pragma once

#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/elementwise/declared.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// Creates a seed variable. train sets it for every batch; otherwise it is empty.
/// errors   none
/// cost     one variable in the net
template <class Device = Cpu>
Variable& new_seed() {
    Variable& seed = rowan::detail::outermost_scope().new_var("", tensor_spec<std::int64_t>({UNK}), Role::seed);
    seed.value().set(LoDTensor<std::int64_t, Device>(Tensor<std::int64_t, Device>::from_shape({0})));
    return seed;
}

/// In train, every element is 0 with the given probability, else x / (1 - probability). Elsewhere, such as in infer,
/// the result is x.
///     auto h = layer::dropout(layer::relu(layer::fc(x, {.output_size = 100})), {.probability = 0.2});
/// Every batch has a different mask. The mask depends only on train's seed, the number of the batch (a resumed training
/// continues the count) and the layer's position in the net, so it is the same for any number of threads. In a
/// recurrent layer, each sequence has one mask for all its steps (Gal and Ghahramani: A Theoretically Grounded
/// Application of Dropout in Recurrent Neural Networks, 2016).
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError unless probability is in [0, 1]
/// cost     one read of x, one write of the result and of a byte mask
template <class T, class Device>
Var<T, Device> dropout(Var<T, Device> const& x, DropoutOptions const& options = {}) {
    rowan::detail::LayerRollback added;
    Var<std::int64_t, Device> const seed(new_seed<Device>());
    auto const y = apply<dropout_op>(options, x, seed);
    added.keep();
    return y;
}
template <class T, class Device>
Var<T, Device> dropout(Var<T, Device> const& x, double probability) {
    return dropout(x, {.probability = probability});
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/elementwise/dropout.hpp>
#endif
