// examples/python/operators.cpp: operators by name, in nets and on values, and recurrent layers whose step is an
// expression.
#include "arrays.hpp"
#include "handles.hpp"
#include "operator_table.hpp"
#include "values.hpp"

#include <pybind11/stl.h>

#include <rowan/detail/rethrow_in.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/rnn_program.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>
#include <rowan/sequence/sequence_pool.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

using rowan::GraphError, rowan::Scope, rowan::UNK, rowan::Variable, rowan::VarSpec, rowan::layer::Initializer;

// ---- fc, which knows the dims of its parameters

bool is_bare(Variable const& v) { return v.role() == rowan::Role::parameter && !v.initialize && !v.set_width; }

/// The options of an fc whose parameters have no shape yet.
struct FcShape {
    std::optional<std::int64_t> output_size;
    Initializer weight = rowan::layer::XavierUniform{}, bias = {};

    /// The number of outputs.
    std::int64_t size_for(VarSpec const& x) const {
        rowan::spec::matrix("fc: x", x);
        std::int64_t const size = output_size.value_or(x.dims[1]);
        if (output_size && size < 0) throw rowan::ValueError("fc: output_size", static_cast<double>(size), "0 or more");
        if (size == UNK) throw rowan::ShapeError("fc: output_size", "None", "a size, as the width of x is unknown");
        return size;
    }
    /// Sets the shapes of w and b; the width of x may be known later.
    void set(Variable const& x, Variable& w, Variable& b) const {
        std::int64_t const size = size_for(x.spec()), width = x.spec().dims[1];
        begin_parameter(b, {size}, bias);
        if (width != UNK) return begin_parameter(w, {width, size}, weight);
        VarSpec spec = w.spec();
        spec.dims = {UNK, size};
        w.settle(spec);
        w.set_width = [size, first = weight](Variable& self, std::int64_t known) {
            begin_parameter(self, {known, size}, first);
        };
    }
};

/// Takes the options of FcShape out of the attributes.
FcShape take_shape(py::dict& attributes) {
    FcShape shape;
    auto const take = [&](char const* name) -> py::object {
        if (!attributes.contains(name)) return py::none();
        return attributes.attr("pop")(name);
    };
    if (py::object const given = take("output_size"); !given.is_none())
        shape.output_size = whole_number_of("fc: output_size", given, "a whole number");
    if (py::object const given = take("weight"); !given.is_none()) shape.weight = given.cast<Initializer>();
    if (py::object const given = take("bias"); !given.is_none()) shape.bias = given.cast<Initializer>();
    return shape;
}

// ---- operators

void check_written(std::string const& name, std::vector<VariablePtr> const& write, Scope const& scope) {
    for (VariablePtr const& v : write) {
        auto const refuse = [&](char const* what) {
            throw GraphError({"operator ", name, ": the variable \"", v->name(), "\" that it writes ", what});
        };
        if (&v->scope() != &scope) refuse("is not of the default scope");
        if (v->role() != rowan::Role::temporary || !v->writers().empty()) refuse("has a value from elsewhere");
        if (std::ranges::count(write, v) > 1) refuse("is written twice");
    }
}

OperatorPtr make_operator(std::string name, std::vector<VariablePtr> const& read,
                          std::optional<std::vector<VariablePtr>> const& written, py::kwargs const& given) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    OperatorInfo const& info = operator_of(name);
    auto const write = written.value_or(std::vector<VariablePtr>());
    if (write.empty() && written && !info.outputs.empty())
        throw GraphError({"operator ", name, ": it writes a variable at least"});
    for (auto const* list : {&read, &write}) {
        if (std::ranges::count(*list, nullptr) > 0)
            throw rowan::TypeError({"operator ", name}, "given None", "a variable");
    }
    ScopePtr const& scope = default_scope();
    std::vector<Variable*> inputs;
    std::vector<VarSpec> specs;
    for (VariablePtr const& v : read) {
        static_cast<void>(scope_for(*v));
        inputs.push_back(v.get());
        specs.push_back(v->spec());
    }
    check_written(name, write, *scope);
    bool const shapes =
        name == "fc" && read.size() == 3 && is_bare(*read[1]) && is_bare(*read[2]) && read[1] != read[2];
    py::dict attributes = py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr()));
    FcShape shape;
    if (shapes) {
        shape = take_shape(attributes);
        specs[2].dims = {shape.size_for(specs[0])};
        specs[1].dims = {specs[0].dims[1], specs[2].dims[0]};
    }
    auto made_attributes = attributes_from(info, attributes);
    auto const& kernel = kernel_for(info, inputs);
    if (kernel.normal != nullptr) made_attributes = kernel.normal(specs, made_attributes);
    std::size_t const results = kernel.infer(specs, made_attributes).size();  // throws before anything is changed
    if (write.size() > results)
        throw GraphError({"operator ", name, " has no more than ", results, " results"});
    if (shapes) shape.set(*read[0], *read[1], *read[2]);
    rowan::Operator& made = scope->new_op(kernel, std::move(inputs), made_attributes);
    for (std::size_t i = 0; i < write.size(); ++i) scope->write_to(made, i, *write[i]);
    return {scope, &made};
}

// ---- operators on values

/// A variable with a value, which is row-sparse, an array, a pair of an array and its lod, or a list.
Variable& operand(Scope& scope, std::string const& name, py::handle given) {
    auto rows = value_of_rows(given);
    if (rows) {
        auto const object = py::reinterpret_borrow<py::object>(given).cast<PyRows const*>();
        return std::visit(
            [&]<class T>(rowan::SelectedRows<T> const& g) -> Variable& {
                rowan::Dims dims;
                for (std::size_t const dim : g.shape()) dims.push_back(static_cast<std::int64_t>(dim));
                Variable& v = scope.new_var(name, rowan::selected_rows_spec<T>(dims));
                v.value() = *std::move(rows);
                return v;
            },
            object->rows);
    }
    py::object array = py::reinterpret_borrow<py::object>(given);
    if (py::isinstance<py::list>(given)) array = py::module_::import("numpy").attr("asarray")(given);
    rowan::Value value = value_of(name, array);
    auto const elements = value.elements();
    VarSpec spec{.dtype = elements.dtype, .dims = {}, .lod_level = value.lod().levels()};
    for (std::int64_t const dim : elements.dims) spec.dims.push_back(dim);
    Variable& v = scope.new_var(name, spec);
    v.value() = std::move(value);
    return v;
}

py::object run_operator(std::string const& name, py::args const& given, int threads, py::kwargs const& attributes) {
    OperatorInfo const& info = operator_of(name);
    auto const made_attributes = attributes_from(info, attributes);
    Scope scope;
    std::vector<Variable*> inputs;
    for (auto const& one : given) {
        std::size_t const i = inputs.size();
        std::string const slot = info.variadic || i >= info.inputs.size() ? "input " + std::to_string(i)
                                                                          : std::string(info.inputs[i]);
        bool const changes = info.outputs.empty() && i + 1 < given.size();  // an optimizer changes all but the gradient
        if (changes && !(py::isinstance<py::array>(one) && py::reinterpret_borrow<py::array>(one).writeable()))
            throw rowan::TypeError({name, ": ", slot}, type_text(one), "an array that may be written");
        try {
            inputs.push_back(&operand(scope, slot, one));
        } catch (rowan::Error const&) {
            rowan::detail::rethrow_in(name);
        }
    }
    rowan::Operator& op = scope.new_op(kernel_for(info, inputs), inputs, made_attributes);
    auto net = rowan::Net<>::trace_and_build(op.outputs);
    if (op.outputs.empty()) net.append(op);
    {
        py::gil_scoped_release const unlocked;
        net.run(scope, {.threads = threads});
    }
    py::list results;
    for (Variable const* v : op.outputs) results.append(object_of(v->value()));
    if (results.empty()) return py::none();
    return results.size() == 1 ? py::object(results[0]) : py::object(py::tuple(results));
}

py::dict described(OperatorInfo const& op) {
    auto const names = [](std::span<std::string_view const> list) {
        py::list all;
        for (std::string_view const name : list) all.append(std::string(name));
        return py::tuple(all);
    };
    py::dict attributes;
    for (AttributeInfo const& a : op.attributes()) attributes[py::str(a.name)] = py::make_tuple(a.type, a.first);
    py::dict result;
    result["brief"] = std::string(op.brief);
    result["inputs"] = names(op.inputs);
    result["outputs"] = names(op.outputs);
    result["variadic"] = op.variadic;
    result["attributes"] = attributes;
    return result;
}

// ---- recurrent layers whose step is an expression

VariablePtr add_to(VariablePtr const& memory, std::optional<VariablePtr> const& x) {
    rowan::ScopeGuard const guard(scope_for(*memory));
    if (x) static_cast<void>(scope_for(**x));
    return with_float(*memory, "add_to: memory", [&]<class T>() -> VariablePtr {
        rowan::layer::Var<T> const to(*memory);
        if (!x) return {memory, &*rowan::layer::add_to(to, nullptr)};
        return {memory, &*rowan::layer::add_to(to, var_of<T>(**x, "add_to: x"))};
    });
}

VariablePtr tensor(std::string const& dtype) {
    rowan::ScopeGuard const guard(*default_scope());
    if (dtype == "float64") return {default_scope(), &*rowan::layer::tensor<double>()};
    if (dtype != "float32") throw rowan::TypeError("tensor: dtype", dtype, "float32 or float64");
    return {default_scope(), &*rowan::layer::tensor()};
}

VariablePtr rnn(VariablePtr const& input, VariablePtr const& step_net, bool concat_output, bool reverse) {
    static_cast<void>(scope_for(*input));
    rowan::ScopeGuard const guard(scope_for(*step_net));
    return with_float(*input, "rnn: input", [&]<class T>() -> VariablePtr {
        return {input,
                &*rowan::layer::rnn(rowan::layer::RnnProgram<T>{.input = rowan::layer::Var<T>(*input),
                                                                .step_net = var_of<T>(*step_net, "rnn: step_net"),
                                                                .concat_output = concat_output,
                                                                .reverse = reverse})};
    });
}

}  // namespace

void bind_operators(py::module_& m) {
    py::enum_<rowan::Pooling>(m, "Pooling")
        .value("sum", rowan::Pooling::sum)
        .value("mean", rowan::Pooling::mean)
        .value("sqrt", rowan::Pooling::sqrt)
        .value("max", rowan::Pooling::max)
        .value("min", rowan::Pooling::min)
        .value("first", rowan::Pooling::first)
        .value("last", rowan::Pooling::last);
    py::enum_<rowan::Reduction>(m, "Reduction")
        .value("none", rowan::Reduction::none)
        .value("mean", rowan::Reduction::mean)
        .value("sum", rowan::Reduction::sum);
    m.def("operator", &make_operator, py::arg("name"), py::arg("read"), py::arg("write") = py::none(),
          "Makes an operator of the default scope by its name, with its attributes, and makes it a reader and a writer "
          "of variables. Attributes that are left out have their defaults. Without `write`, its results are new "
          "variables.");
    m.def("run", &run_operator, py::arg("name"), py::arg("threads") = 0,
          "The results of an operator for arrays, pairs of an array and its lod, or SelectedRows, without a net. "
          "Operators of optimizers change the arrays of the parameter and its states.");
    m.def(
        "operators",
        [] {
            py::dict all;
            for (OperatorInfo const& op : operator_table()) all[py::str(std::string(op.name))] = described(op);
            return all;
        },
        "All operators by name: what they do, their slots, and the types and defaults of their attributes.");
    m.def("current_name", &current_name, py::arg("former"),
          "The name that an operator of an earlier version has now; None if there was none, or if it has the name "
          "still.");
    m.def("tensor", &tensor, py::arg("dtype") = "float32", "A memory of a recurrent step.");
    m.def("add_to", &add_to, py::arg("memory").none(false), py::arg("x"),
          "The memory plus x, or plus the step's input if x is None.");
    m.def("rnn", &rnn, py::arg("input").none(false), py::arg("step_net").none(false), py::arg("concat_output") = true,
          py::arg("reverse") = false,
          "A recurrent layer whose step is an expression of memories and the step's input.");
}

}  // namespace python
