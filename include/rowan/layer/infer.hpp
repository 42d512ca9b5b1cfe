// rowan/layer/infer.hpp: infer, what a net gives for a batch.
#pragma once

#include <rowan/graph/net.hpp>
#include <rowan/layer/detail/trainer.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/var.hpp>

#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// The value of a layer for a batch and parameters that training gave.
///     auto y = infer(predict, {{"x", batch}}, parameters);
/// A batch may bring data that only other layers need, such as the labels of a cost. Dropout changes nothing. On a device the result
/// is waited for; parameters in the memory of the host are copied there, every time.
/// shapes   those of predict, with the dims of the batch
/// errors   GraphError if no operator makes predict, the batch or the parameters lack a variable, or the batch brings one that no
///          layer::data has declared; TypeError and ShapeError if the batch brings another element type, rank, dim or number of levels than
///          declared, or the parameters are of another net; else as Net::run
/// cost     that of the operators that predict needs, and of tracing the net
template <class T, class Device>
LoDTensor<T, Device> infer(layer::Var<T, Device> const& predict, Feeds const& feeds, Parameters const& parameters,
                           Device exec = {}) {
    auto const net = Net<Device>::trace_and_build(*predict);
    if (predict->writers().empty()) throw GraphError(predict->name() + " is written by no operator");
    std::vector<Variable*> inputs;  // but not what a program gave a value
    for (Variable* const v : net.inputs()) {
        if (v->role() == Role::parameter) detail::check_fits(*v, parameters.find(v->name()));
        if (v->role() == Role::parameter || v->role() == Role::data) inputs.push_back(v);
    }
    detail::KeptValues const kept(inputs);  // training may be under way
    detail::feed(inputs, feeds, predict->scope(), exec);
    for (Variable* const v : inputs) {
        if (v->role() != Role::parameter) continue;
        v->value() = parameters.find(v->name()).share();
        if (v->bring != nullptr) v->bring(v->value(), &exec, false);
    }
    detail::in_order(exec, [&] { net.run(predict->scope(), exec); });
    detail::wait_for(exec);
    return std::move(predict->value().template get<LoDTensor<T, Device>>());
}

ROWAN_TEMPLATE(LoDTensor<float> infer(layer::Var<float> const&, Feeds const&, Parameters const&, Cpu))
ROWAN_TEMPLATE(LoDTensor<double> infer(layer::Var<double> const&, Feeds const&, Parameters const&, Cpu))

}  // namespace rowan::inline v0
