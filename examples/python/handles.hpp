// examples/python/handles.hpp: what Python holds of a net. Whoever holds a variable or an operator keeps the outermost scope, and so all
// that is in it.
#pragma once

#include <pybind11/pybind11.h>

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/layer/var.hpp>

#include <memory>
#include <string>

namespace python {

using ScopePtr = std::shared_ptr<rowan::Scope>;
using VariablePtr = std::shared_ptr<rowan::Variable>;
using OperatorPtr = std::shared_ptr<rowan::Operator>;

/// The scope that layers are added to: one of each thread's own, or that of a ScopeGuard.
inline ScopePtr& default_scope() {
    thread_local ScopePtr scope = std::make_shared<rowan::Scope>();
    return scope;
}

/// The default scope, for what reads this variable.
/// errors   GraphError if the variable is not of the default scope or of one around it, as it could go before the operator that reads it
inline rowan::Scope& scope_for(rowan::Variable const& v) {
    for (rowan::Scope const* s = default_scope().get(); s != nullptr; s = s->parent()) {
        if (s == &v.scope()) return *default_scope();
    }
    throw rowan::GraphError("the variable \"" + v.name() +
                            "\" is of another scope than the default scope and those around it");
}

/// The variable as layers take it.
/// errors   TypeError if its elements are others than float32
inline rowan::layer::Var<float> var_of(rowan::Variable& v, char const* what) {
    if (v.spec().dtype != rowan::dtype<float>::wire) throw rowan::TypeError(what, "of other elements", "of float32");
    return rowan::layer::Var<float>(v);
}

void bind_operators(pybind11::module_& m);  // operators.cpp
void bind_training(pybind11::module_& m);   // training.cpp

}  // namespace python
