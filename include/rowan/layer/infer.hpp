// rowan/layer/infer.hpp: infer, the value of a layer for a batch.
#pragma once

#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/detail/feed.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/var.hpp>

#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// Returns the value of a layer for a batch and trained parameters.
///     auto y = infer(predict, {{"x", batch}}, parameters);
/// A batch may contain data that only other layers need, such as the labels of a cost. Dropout returns its input. On a
/// device, the call blocks until the result is ready, and parameters in host memory are copied to the device in every
/// call.
/// shapes   that of predict, with the dims of the batch
/// errors   GraphError if no operator writes predict, the batch or the parameters lack a variable, or the batch
///          contains a name that no layer::data declared; TypeError or ShapeError if the element type, rank, a dim or
///          the number of levels of a value in the batch or the parameters differs from the variable's; else as
///          Net::run
/// cost     that of the operators that predict depends on, plus tracing the net
template <class T, class Device>
LoDTensor<T, Device> infer(layer::Var<T, Device> const& predict, Feeds const& feeds, Parameters const& parameters,
                           Device exec = {}) {
    auto const net = Net<Device>::trace_and_build(*predict);
    if (predict->writers().empty()) throw GraphError(predict->name() + " is written by no operator");
    std::vector<Variable*> inputs;  // without variables that the program sets itself
    for (Variable* const v : net.inputs()) {
        if (v->role() == Role::parameter) detail::check_fits(*v, parameters.find(v->name()));
        if (v->role() == Role::parameter || v->role() == Role::data) inputs.push_back(v);
    }
    detail::KeptValues const kept(inputs);  // the values of a training in progress are restored
    detail::feed(inputs, feeds, predict->scope(), exec);
    for (Variable* const v : inputs) {
        if (v->role() != Role::parameter) continue;
        v->value() = parameters.find(v->name()).share();
        if (v->bring != nullptr) v->bring(v->value(), exec, false);
    }
    detail::in_order(exec, [&] { net.run(predict->scope(), exec); });
    synchronize(exec);
    return std::move(predict->value().template get<LoDTensor<T, Device>>());
}

ROWAN_TEMPLATE(LoDTensor<float> infer(layer::Var<float> const&, Feeds const&, Parameters const&, Cpu))
ROWAN_TEMPLATE(LoDTensor<double> infer(layer::Var<double> const&, Feeds const&, Parameters const&, Cpu))

}  // namespace rowan::inline v0
