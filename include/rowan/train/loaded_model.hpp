// rowan/train/loaded_model.hpp: LoadedModel, a net with its parameters.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/train/parameters.hpp>

#include <memory>

namespace rowan::inline v0 {

/// A net and its parameters, loaded from a file.
///     auto const model = load_model("model.rowan");
///     auto y = infer(model.predict, {{"x", batch}}, model.parameters);
template <class T = float, class Device = Cpu>
struct LoadedModel {
    std::unique_ptr<Scope> scope;   ///< owns the variables
    layer::Var<T, Device> predict;  ///< the output of the net
    Parameters parameters;          ///< by the names of the variables
};

}  // namespace rowan::inline v0
