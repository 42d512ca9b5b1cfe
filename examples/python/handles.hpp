// examples/python/handles.hpp: the types of Python's objects. A variable or an operator keeps the outermost scope
// alive, and so everything in it.
#pragma once

#include <pybind11/pybind11.h>

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/layer/initializer.hpp>
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
    throw rowan::GraphError({"the variable \"", v.name(), "\" is of another scope than the default scope and those around it"});
}

/// Calls f<float>() or f<double>(), by the elements of a variable.
/// errors   TypeError, which names `what`, for other elements
template <class F>
decltype(auto) with_float(rowan::Variable const& v, char const* what, F const& f) {
    if (v.spec().dtype == rowan::dtype<float>::wire) return f.template operator()<float>();
    if (v.spec().dtype != rowan::dtype<double>::wire)
        throw rowan::TypeError(what, "of other elements", "of float32 or float64");
    return f.template operator()<double>();
}

/// The variable as an argument of layers.
/// errors   TypeError, which names `what`, if its elements are not of T
template <class T>
rowan::layer::Var<T> var_of(rowan::Variable& v, char const* what) {
    if (v.spec().dtype != rowan::dtype<T>::wire)
        throw rowan::TypeError(what, "of other elements",
                               {"of ", (sizeof(T) == 4 ? "float32" : "float64")});
    return rowan::layer::Var<T>(v);
}

/// Sets the dims and the first values of a parameter.
void begin_parameter(rowan::Variable& v, rowan::Dims const& dims, rowan::layer::Initializer const& first);

void bind_variables(pybind11::module_& m);      // variables.cpp
void bind_nets(pybind11::module_& m);           // nets.cpp
void bind_operators(pybind11::module_& m);      // operators.cpp
void bind_steps(pybind11::module_& m);          // steps.cpp
void bind_selected_rows(pybind11::module_& m);  // selected_rows.cpp
void bind_tensor_arrays(pybind11::module_& m);  // tensor_arrays.cpp
void bind_initializer(pybind11::module_& m);   // initializer.cpp
void bind_optimizers(pybind11::module_& m);     // optimizers.cpp
void bind_training(pybind11::module_& m);       // training.cpp
void bind_models(pybind11::module_& m);         // models.cpp
void bind_metrics(pybind11::module_& m);        // metrics.cpp

}  // namespace python
