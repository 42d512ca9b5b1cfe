// examples/python/variables.cpp: scopes, variables and operators for Python.
#include "convert.hpp"
#include "handles.hpp"
#include "values.hpp"

#include <pybind11/stl.h>

#include <rowan/layer/data.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/selected_rows.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

using rowan::Role, rowan::Scope, rowan::UNK, rowan::Variable;

rowan::Dims dims_of(std::vector<std::int64_t> const& shape) {
    rowan::Dims dims;
    for (std::int64_t const dim : shape) dims.push_back(dim);
    return dims;
}

/// Calls f<T>() for the named element type.
template <class F>
decltype(auto) with_dtype(std::string const& name, F const& f) {
    std::int32_t const wire = wire_of("dtype", name);
    if (wire == rowan::dtype<float>::wire) return f.template operator()<float>();
    if (wire == rowan::dtype<double>::wire) return f.template operator()<double>();
    if (wire == rowan::dtype<std::int32_t>::wire) return f.template operator()<std::int32_t>();
    if (wire == rowan::dtype<bool>::wire) return f.template operator()<bool>();
    if (wire == rowan::dtype<std::int64_t>::wire) return f.template operator()<std::int64_t>();
    throw rowan::TypeError("dtype", name, "float32, float64, int64, int32 or bool");
}

/// Scope::new_var with a label: "data" is fed, "parameter" is trained, an operator writes "temporary". Without a label,
/// a variable with a name is data, one without is temporary. A parameter without a shape gets it from the "fc" it is
/// in.
VariablePtr variable(ScopePtr const& scope, std::string const& name, std::optional<std::string> label,
                     std::optional<std::vector<std::int64_t>> const& shape, std::string const& dtype,
                     std::size_t lod_level, std::optional<rowan::layer::Initializer> const& init) {
    if (!label && !name.empty()) label = "data";
    bool const is_parameter = label == "parameter";
    if (init && !(is_parameter && shape)) throw rowan::GraphError("variable: init is of a parameter that has a shape");
    rowan::ScopeGuard const guard(*scope);
    Variable& made = with_dtype(dtype, [&]<class T>() -> Variable& {
        rowan::Dims const dims = shape ? dims_of(*shape) : is_parameter ? rowan::Dims{} : rowan::Dims{UNK, UNK};
        if (!label || label == "temporary") return scope->new_var(name, rowan::tensor_spec<T>(dims, lod_level));
        if (label == "data") return *rowan::layer::data<T>(name, dims, lod_level);
        if (!is_parameter)
            throw rowan::GraphError({"variable: there is no label \"", *label, "\", only data, parameter and temporary"});
        if (!std::is_floating_point_v<T>)
            throw rowan::TypeError("variable: dtype of a parameter", dtype, "float32 or float64");
        if (lod_level != 0)
            throw rowan::ShapeError("variable: lod_level of a parameter", lod_level, "0");
        if (std::ranges::find(dims, UNK) != dims.end())
            throw rowan::ShapeError("variable: a dim of a parameter", "UNK", "known");
        rowan::detail::check_parameter_name(name);
        auto const first = init.value_or(rowan::layer::Initializer());
        static_cast<void>(first.of(dims));  // throws before anything is created
        Variable& v = scope->new_var(name, rowan::tensor_spec<T>(dims), Role::parameter);
        if (shape) begin_parameter(v, dims, first);
        return v;
    });
    return {scope, &made};
}

/// Data that is a SelectedRows, or with `rows` a parameter that begins with these rows.
VariablePtr selected_rows(std::string const& name, std::vector<std::int64_t> const& shape, std::string const& dtype,
                          py::object const& rows, std::optional<rowan::layer::Initializer> const& init) {
    ScopePtr const& scope = default_scope();
    rowan::ScopeGuard const guard(*scope);
    if (rows.is_none() && init) throw rowan::GraphError("selected_rows: init is of a parameter, which has rows");
    auto const dims = dims_of(shape);
    auto const made = [&]<class T>() -> Variable& {
        if (rows.is_none()) return *rowan::layer::selected_rows<T>(name, dims);
        return *rowan::layer::selected_rows<T>(whole_numbers_of("rows", rows, "a list of row numbers"), dims,
                                               init.value_or(rowan::layer::Initializer()), name);
    };
    if (dtype != "float32" && dtype != "float64")
        throw rowan::TypeError("selected_rows: dtype", dtype, "float32 or float64");
    Variable& v = dtype == "float32" ? made.operator()<float>() : made.operator()<double>();
    ScopePtr holder = scope;
    while (&v.scope() != holder.get()) holder = ScopePtr(holder, holder->parent());
    return {holder, &v};
}

py::object label_of(Variable const& v) {
    switch (v.role()) {
        case Role::data:
            return py::str("data");
        case Role::parameter:
            return py::str("parameter");
        case Role::state:
            return py::str("state");
        case Role::seed:
            return py::str("seed");
        default:
            return py::none();
    }
}

char const* kind_of(Variable const& v) {
    switch (v.spec().type) {
        case rowan::VarType::SELECTED_ROWS:
            return "selected_rows";
        case rowan::VarType::TENSOR_ARRAY:
            return "tensor_array";
        case rowan::VarType::STEP_SCOPES:
            return "step_scopes";
        case rowan::VarType::STRINGS:
            return "strings";
        default:
            return "tensor";
    }
}

std::string text_of(Variable const& v) {
    std::ostringstream text;
    text << "<variable \"" << v.name() << "\": " << dtype_name(v.spec().dtype) << ' ' << v.spec().dims;
    if (v.spec().lod_level > 0) text << ", levels " << v.spec().lod_level;
    text << '>';
    return text.str();
}

/// Only the operators of the variable's own scope, without those that training adds temporarily.
std::vector<OperatorPtr> own_operators(VariablePtr const& v, std::span<rowan::Operator* const> operators) {
    std::vector<OperatorPtr> own;
    for (rowan::Operator* const op : operators) {
        if (std::ranges::any_of(v->scope().operators(), [&](auto const& one) { return one.get() == op; }))
            own.emplace_back(v, op);
    }
    return own;
}

std::vector<VariablePtr> all_of(OperatorPtr const& op, std::vector<Variable*> const& variables) {
    std::vector<VariablePtr> all;
    for (Variable* const v : variables) all.emplace_back(op, v);
    return all;
}

/// A context manager: inside it, another scope is this thread's default scope.
struct ScopeGuard {
    ScopePtr scope;
    std::vector<ScopePtr> before{};  // one for each entry

    void enter() { before.push_back(std::exchange(default_scope(), scope)); }
    void exit() {
        if (before.empty()) throw rowan::GraphError("ScopeGuard: it is left more often than entered");
        default_scope() = std::move(before.back());
        before.pop_back();
    }
};

}  // namespace

void begin_parameter(Variable& v, rowan::Dims const& dims, rowan::layer::Initializer const& first) {
    with_float(v, "a parameter", [&]<class T>() { rowan::layer::begin_with<T>(v, dims, first); });
}

void bind_variables(py::module_& m) {
    py::class_<Variable, VariablePtr>(m, "Variable")
        .def_property_readonly("name", &Variable::name)
        .def_property_readonly("label", &label_of)
        .def_property_readonly("persistable",
                               [](Variable const& v) { return v.role() == Role::parameter || v.role() == Role::state; })
        .def_property_readonly("dtype", [](Variable const& v) { return dtype_name(v.spec().dtype); })
        .def_property_readonly("shape",
                               [](Variable const& v) {
                                   return py::tuple(py::cast(std::vector(v.spec().dims.begin(), v.spec().dims.end())));
                               })
        .def_property_readonly("kind", &kind_of)
        .def_property_readonly("lod_level", [](Variable const& v) { return v.spec().lod_level; })
        .def_property_readonly("readers", [](VariablePtr const& v) { return own_operators(v, v->readers()); })
        .def_property_readonly("writers", [](VariablePtr const& v) { return own_operators(v, v->writers()); })
        .def_property(
            "value", [](Variable const& v) { return object_of(v.value()); },
            [](Variable& v, py::object const& given) {
                v.value() = given.is_none() ? rowan::Value() : held_by(v.name(), given, v.spec());
            })
        .def("__repr__", &text_of);

    py::class_<rowan::Operator, OperatorPtr>(m, "Operator")
        .def_property_readonly("name", [](rowan::Operator const& op) { return std::string(op.kernel->name); })
        .def_property_readonly("reads", [](OperatorPtr const& op) { return all_of(op, op->inputs); })
        .def_property_readonly("writes", [](OperatorPtr const& op) { return all_of(op, op->outputs); })
        .def("__repr__", [](rowan::Operator const& op) { return "<operator " + std::string(op.kernel->name) + ">"; });

    py::class_<Scope, ScopePtr>(m, "Scope")
        .def(py::init<>())
        .def("new_var", &variable, py::arg("name") = "", py::arg("label") = py::none(), py::arg("shape") = py::none(),
             py::arg("dtype") = "float32", py::arg("lod_level") = 0, py::arg("init") = py::none())
        .def(
            "find", [](ScopePtr const& s, std::string const& name) { return VariablePtr(s, s->find(name)); },
            "The variable of that name here or in the scopes around this one, or None.")
        .def(
            "new_scope", [](ScopePtr const& s) { return ScopePtr(s, &s->new_scope()); }, "An inner scope.")
        .def_property_readonly("parent", [](ScopePtr const& s) { return ScopePtr(s, s->parent()); });
    m.def("default_scope", [] { return default_scope(); });
    py::class_<ScopeGuard>(m, "ScopeGuard")
        .def(py::init([](ScopePtr const& scope) { return ScopeGuard{scope}; }), py::arg("scope").none(false))
        .def("__enter__", &ScopeGuard::enter)
        .def("__exit__", [](ScopeGuard& guard, py::args const&) { guard.exit(); });
    m.def("variable", &variable, py::arg("scope").none(false), py::arg("name") = "", py::arg("label") = py::none(),
          py::arg("shape") = py::none(), py::arg("dtype") = "float32", py::arg("lod_level") = 0,
          py::arg("init") = py::none());
    m.def("selected_rows", &selected_rows, py::arg("name"), py::arg("shape"), py::arg("dtype") = "float32",
          py::arg("rows") = py::none(), py::arg("init") = py::none(),
          "Data that is a SelectedRows, or with `rows` a parameter that begins with these rows.");
}

}  // namespace python
