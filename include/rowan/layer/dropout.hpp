// rowan/layer/dropout.hpp: layer::dropout, which while a net is trained puts 0 in place of elements chosen by chance.
#pragma once

#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/dropout.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// A seed that train sets for every batch, and which is empty everywhere else.
/// errors   none
/// cost     a variable in the net
template <class Device = Cpu>
Variable& new_seed() {
    Variable& seed = rowan::detail::outermost_scope().new_var("", tensor_spec<std::int64_t>({UNK}), Role::seed);
    seed.value().set(LoDTensor<std::int64_t, Device>(Tensor<std::int64_t, Device>::from_shape({0})));
    return seed;
}

/// Within train every element is 0 with the given probability and else x / (1 - probability); everywhere else, such as in infer, the
/// result is x.
///     auto h = layer::dropout(layer::relu(layer::fc(x, {.output_size = 100})), 0.2);
/// Every batch has another mask. It follows from the seed of train, the number of the batch, counted since the first training where one is
/// resumed, and the place of the layer in the net, so it is the same for any number of threads. Within a recurrent step each sequence has
/// one mask for all its steps (Gal and Ghahramani: A Theoretically Grounded Application of Dropout in Recurrent Neural Networks, 2016).
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError unless probability is in [0, 1)
/// cost     one read of x, one write of the result and of a mask of bytes
template <class T, class Device>
Var<T, Device> dropout(Var<T, Device> const& x, double probability = 0.5) {
    static_cast<void>(dropout_op::infer(x->spec(), tensor_spec<std::int64_t>({UNK}),
                                        {probability}));  // throws before anything is added
    Var<std::int64_t, Device> const seed(new_seed<Device>());
    return apply<dropout_op>({probability}, x, seed);
}

}  // namespace rowan::inline v0::layer
