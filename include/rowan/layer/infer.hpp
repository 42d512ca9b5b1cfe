// rowan/layer/infer.hpp: infer, what a net gives for a batch.
#pragma once

#include <rowan/detail/run_feeds.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/var.hpp>

namespace rowan::inline v0 {

/// The value of a layer for a batch and parameters that training gave.
///     auto y = infer(predict, {{"x", batch}}, parameters);
/// errors   GraphError if the batch lacks a variable or the parameters lack one; else as Net::run
template <class T, class Device>
LoDTensor<T, Device> infer(layer::Var<T, Device> const& predict, Feeds const& feeds, Parameters const& parameters,
                           Device exec = {}) {
    auto const net = Net<Device>::trace_and_build(*predict);
    auto const inputs = net.inputs();
    if (predict->writers().empty()) throw GraphError(predict->name() + " is written by no operator");
    detail::KeptValues const kept(inputs);  // training may be under way
    for (Variable* const v : inputs) {
        if (v->role() == Role::parameter) v->value() = parameters.find(v->name()).share();
    }
    detail::feed(inputs, feeds);
    net.run(predict->scope(), exec);
    return std::move(predict->value().template get<LoDTensor<T, Device>>());
}

}  // namespace rowan::inline v0
