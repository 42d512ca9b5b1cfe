// rowan/train/deferred.hpp: layer::Deferred, optimizers of tables with the bits of dense updates, at sparse cost.
#pragma once

#include <rowan/op/declared.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/train/optimizer.hpp>
#include <rowan/train/optimizers.hpp>

#include <memory>
#include <vector>

namespace rowan::inline v0::detail {

template <class Options>
struct DeferredState;
template <class Options>
std::shared_ptr<DeferredState<Options>> new_deferred_state();

/// The attributes of deferred_op.
template <class Options>
struct DeferredAttributes : Options {
    std::shared_ptr<DeferredState<Options>> state;
};

template <class Op>
struct deferred_op;
template <class Op>
struct declared<deferred_op<Op>> : declaration_of<Op> {
    using itself = deferred_op<Op>;
    static constexpr bool compiled = false;
    using attributes = DeferredAttributes<attributes_of<Op>>;
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// An optimizer that is not lazy, at the cost of one that is: rows of a table without a gradient miss the step, and make
/// up for it before the net next reads them, see rowan::Deferred. Parameters and states have the bits that the optimizer
/// gives with dense gradients, as Adam{.lazy = false} does.
///     train(cost, reader, {.optimizer = layer::Deferred{layer::Adam{.learning_rate = 0.01}}});
/// For Sgd and AdaGrad with a decay, Momentum, Adam, AdamW and RmsProp; what they say of `lazy` does not matter here.
/// Parameters with a dense gradient are updated as without it. The states have the names of the optimizer's, so that a
/// training may be resumed with the one or the other. Trainer::parameters, and with it all that is saved, measured or
/// inferred, brings all rows up to date first, as do the end of a trainer and the steps of another one that reads the
/// table. The scope's own values are behind until then. Of a table in a file, checkpoints within a training tell instead which
/// steps rows have missed: only it goes on with them, and its end brings the rows up to date.
///
/// Rows are brought up to date by the ids of a batch where the net reads the table by layer::embedding,
/// layer::embedding_bag, layer::negative_sampling, or as w or b of layer::sampled_softmax and layer::nce, with ids and
/// labels that are all layer::data. If it reads the table in another way, such as with ids that it computes, those of
/// layer::sample_classes too, or in steps, or if options.average is given, each step brings all rows up to date, which
/// costs what a dense update does. The compiled library does not have these optimizers: with it, include
/// <rowan/own_operator.hpp>, too. On a device other than the host, updates are dense, and tables of which only some rows
/// exist are refused.
template <class O>
struct Deferred {
    O optimizer;  ///< the optimizer and its settings

    using deferred = O;  ///< the type of the optimizer
    using op = rowan::detail::deferred_op<typename O::op>;
    /// Attributes of the operator.
    /// errors   std::bad_alloc
    /// cost     O(1)
    attributes_of<op> options() const {
        return {rowan::detail::operator_options(optimizer),
                rowan::detail::new_deferred_state<attributes_of<typename O::op>>()};
    }
};
template <class O>
Deferred(O) -> Deferred<O>;

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/train/detail/deferred_op.hpp>
#endif
