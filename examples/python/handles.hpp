// examples/python/handles.hpp: the types of Python's objects. A variable or an operator keeps the outermost scope
// alive, and so everything in it.
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

/// The scope to which layers are added: a scope of the thread, or that of a ScopeGuard.
inline ScopePtr& default_scope() {
    thread_local ScopePtr scope = std::make_shared<rowan::Scope>();
    return scope;
}

/// The default scope, for an operator that reads this variable.
/// errors   GraphError if the variable is in neither the default scope nor a parent: the operator could outlive it
inline rowan::Scope& scope_for(rowan::Variable const& v) {
    for (rowan::Scope const* s = default_scope().get(); s != nullptr; s = s->parent()) {
        if (s == &v.scope()) return *default_scope();
    }
    throw rowan::GraphError("the variable \"" + v.name() +
                            "\" is of another scope than the default scope and those around it");
}

/// The variable as an argument of layers.
/// errors   TypeError if its elements are not float32
inline rowan::layer::Var<float> var_of(rowan::Variable& v, char const* what) {
    if (v.spec().dtype != rowan::dtype<float>::wire) throw rowan::TypeError(what, "of other elements", "of float32");
    return rowan::layer::Var<float>(v);
}

void bind_operators(pybind11::module_& m);  // operators.cpp
void bind_training(pybind11::module_& m);   // training.cpp

}  // namespace python
