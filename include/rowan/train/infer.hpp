// rowan/train/infer.hpp: infer, the value of a layer for a batch.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/predictor.hpp>

namespace rowan::inline v0 {

/// Returns the value of a layer for a batch and trained parameters.
///     auto y = infer(predict, {{"x", batch}}, parameters);
/// A batch may contain data that only other layers need, such as the labels of a cost. Dropout returns its input. On a
/// device, the call blocks until the result is ready, and parameters in host memory are copied to the device in every
/// call. Threads may call it for the same net at the same time; a Predictor does not trace the net in every call. The
/// result may be an alias of a value of the batch or of a parameter that it equals, as with layer::reshape or a branch
/// that returns a parameter: copy it before you write to it.
/// shapes   that of predict, with the dims of the batch
/// errors   GraphError if no operator writes predict, the batch or the parameters lack a variable, or the batch
///          contains a name that no layer::data declared; TypeError or ShapeError if the element type, rank, a dim or
///          the number of levels of a value in the batch or the parameters differs from the variable's; else as
///          Net::run
///          as Predictor
/// cost     that of the operators that predict depends on, plus tracing the net, and, of tables by keys, one copy of the keys
template <class T, class Device>
LoDTensor<T, Device> infer(layer::Var<T, Device> const& predict, Feeds const& feeds, Parameters const& parameters,
                           Device exec = {}) {
    Predictor<T, Device> const predictor(predict, parameters, {}, exec);
    for (auto const& feed : feeds) detail::check_declared(predict->scope(), feed.first);
    return predictor(feeds, exec);
}

ROWAN_TEMPLATE(LoDTensor<float> infer(layer::Var<float> const&, Feeds const&, Parameters const&, Cpu))
ROWAN_TEMPLATE(LoDTensor<double> infer(layer::Var<double> const&, Feeds const&, Parameters const&, Cpu))

}  // namespace rowan::inline v0
