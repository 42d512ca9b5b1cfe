// examples/python/operators.cpp: operators by name, the recurrent layer, and files that name operators.
#include "arrays.hpp"
#include "handles.hpp"
#include "settle.hpp"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <rowan/io/model.hpp>
#include <rowan/io/operator_maker.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/rnn_program.hpp>
#include <rowan/op/cross_entropy.hpp>
#include <rowan/op/forward_ops.hpp>
#include <rowan/op/full.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/sequence/sequence_pool.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

using rowan::GraphError, rowan::Parameters, rowan::Scope, rowan::UNK, rowan::Variable;

/// The type in a descriptor of an attribute of type M.
template <class M>
rowan::AttributeValue attribute_of(std::type_identity<M>, std::string const& name, py::handle given) {
    auto const refuse = [&](std::string const& expected) {
        throw rowan::TypeError(name, py::str(py::type::of(given)), expected);
    };
    if constexpr (std::is_enum_v<M>) {
        if (!py::isinstance<M>(given)) refuse(py::str(py::detail::get_type_handle(typeid(M), true)));
        return static_cast<std::int32_t>(given.cast<M>());
    } else if constexpr (std::is_floating_point_v<M>) {
        return static_cast<M>(number_of(name, given));
    } else if constexpr (std::is_same_v<M, bool>) {
        if (!py::isinstance<py::bool_>(given)) refuse("a bool");
        return given.cast<bool>();
    } else if constexpr (std::is_integral_v<M>) {
        return whole_number_of(name, given, "a whole number");
    } else if constexpr (std::is_same_v<M, std::vector<double>>) {
        return numbers_of(name, given, "a list of numbers");
    } else {
        return whole_numbers_of(name, given, "a list of whole numbers");
    }
}
template <class M>
rowan::AttributeValue attribute_of(std::type_identity<std::optional<M>>, std::string const& name, py::handle given) {
    return attribute_of(std::type_identity<M>(), name, given);
}

using operators = rowan::forward_ops::with<rowan::full_op<float>, rowan::full_op<std::int64_t>>;

/// The attribute in the operator's type. If the operator has no such attribute, make_operator throws for the result.
rowan::AttributeValue attribute_of(std::string const& type, std::string const& name, py::handle given) {
    rowan::AttributeValue value;
    operators::dispatch(type, [&](auto op) {
        using A = rowan::attributes_of<decltype(op)>;
        if constexpr (rowan::has_fields<A>) {
            rowan::each_field<A>([&]<class M>(rowan::field<A, M> const& field) {
                if (field.name == name) value = attribute_of(std::type_identity<M>(), name, given);
            });
        }
    });
    return value;
}

// ---- fc, which knows the dims of its parameters

bool is_bare(Variable const& v) { return v.role() == rowan::Role::parameter && !v.initialize && !v.set_width; }

void begin_weight(Variable& w, std::int64_t width, std::int64_t size) {
    rowan::layer::begin_with<float>(w, {width, size}, rowan::layer::XavierUniform{});
}

/// Sets the shapes of w and b, created without one, for this number of outputs; the width of x may be known later.
void shape_fc(Variable const& x, Variable& w, Variable& b, std::optional<std::int64_t> output_size) {
    rowan::spec::matrix("fc: x", x.spec());
    std::int64_t const width = x.spec().dims[1], size = output_size.value_or(width);
    if (output_size && size < 0) throw rowan::ValueError("fc: output_size", static_cast<double>(size), "0 or more");
    if (size == UNK) throw rowan::ShapeError("fc: output_size", "None", "a size, as the width of x is unknown");
    rowan::layer::begin_with<float>(b, {size}, {});
    if (width != UNK) return begin_weight(w, width, size);
    w.settle(rowan::tensor_spec<float>({UNK, size}));
    w.set_width = [size](Variable& self, std::int64_t known) { begin_weight(self, known, size); };
}

// ---- operators

OperatorPtr make_operator(std::string name, std::vector<VariablePtr> const& read, std::vector<VariablePtr> const& write,
                          py::kwargs const& attributes) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (write.empty()) throw GraphError("operator " + name + ": it writes a variable at least");
    for (auto const* list : {&read, &write}) {
        if (std::ranges::count(*list, nullptr) > 0)
            throw rowan::TypeError("operator " + name, "given None", "a variable");
    }
    ScopePtr const& scope = default_scope();
    for (VariablePtr const& v : read) static_cast<void>(scope_for(*v));
    for (VariablePtr const& v : write) {
        auto const refuse = [&](char const* what) {
            throw GraphError("operator " + name + ": the variable \"" + v->name() + "\" that it writes " + what);
        };
        if (&v->scope() != scope.get()) refuse("is not of the default scope");
        if (v->role() != rowan::Role::temporary || !v->writers().empty()) refuse("has a value from elsewhere");
        if (std::ranges::count(write, v) > 1) refuse("is written twice");
    }
    bool const shapes =
        name == "fc" && read.size() == 3 && is_bare(*read[1]) && is_bare(*read[2]) && read[1] != read[2];
    std::optional<std::int64_t> output_size;
    rowan::OpDesc desc{.type = name};
    for (auto const& [key, given] : attributes) {
        std::string const attribute = py::str(key);
        if (given.is_none()) continue;  // as if it were left out
        if (shapes && attribute == "output_size") {
            output_size = whole_number_of("fc: output_size", given, "a whole number");
        } else {
            desc.attrs.push_back({attribute, attribute_of(name, attribute, given)});
        }
    }
    std::vector<Variable*> inputs;
    for (VariablePtr const& v : read) inputs.push_back(v.get());
    auto const make = [&](Scope& in, std::vector<Variable*> variables) -> rowan::Operator& {
        if (shapes) shape_fc(*variables[0], *variables[1], *variables[2], output_size);
        return rowan::make_operator<rowan::forward_ops, rowan::Cpu, float>(in, desc, variables);
    };
    {  // a call that throws leaves nothing, as its scope is temporary
        Scope trial(*scope);
        auto tried = inputs;
        for (std::size_t i = 1; shapes && i < 3; ++i)
            tried[i] = &trial.new_var("", rowan::tensor_spec<float>({}), rowan::Role::parameter);
        std::size_t const results = make(trial, tried).outputs.size();
        trial.forget_readers();
        if (write.size() > results)
            throw GraphError("operator " + name + " has no more than " + std::to_string(results) + " results");
    }
    rowan::Operator& made = make(*scope, inputs);
    for (std::size_t i = 0; i < write.size(); ++i) scope->write_to(made, i, *write[i]);
    return {scope, &made};
}

VariablePtr add_to(VariablePtr const& memory, std::optional<VariablePtr> const& x) {
    rowan::ScopeGuard const guard(scope_for(*memory));
    auto const to = var_of(*memory, "add_to: memory");
    if (!x) return {memory, &*rowan::layer::add_to(to, nullptr)};
    static_cast<void>(scope_for(**x));
    return {memory, &*rowan::layer::add_to(to, var_of(**x, "add_to: x"))};
}

VariablePtr tensor() {
    rowan::ScopeGuard const guard(*default_scope());
    return {default_scope(), &*rowan::layer::tensor()};
}

VariablePtr rnn(VariablePtr const& input, VariablePtr const& step_net, bool concat_output, bool reverse) {
    static_cast<void>(scope_for(*input));
    rowan::ScopeGuard const guard(scope_for(*step_net));
    return {input, &*rowan::layer::rnn({.input = var_of(*input, "rnn: input"),
                                        .step_net = var_of(*step_net, "rnn: step_net"),
                                        .concat_output = concat_output,
                                        .reverse = reverse})};
}

// ---- files

void save_model(VariablePtr const& predict, Parameters const& parameters, std::filesystem::path const& path) {
    rowan::save_model(var_of(*predict, "predict"), parameters, path);
}

std::shared_ptr<Parameters> load_parameters(VariablePtr const& predict, std::filesystem::path const& path) {
    if (auto const program = rowan::CheckpointFile(path).program(); program && !program->blocks.empty()) {
        settle(*predict, [&](std::string const& name) -> std::optional<rowan::Dims> {
            for (rowan::VarDesc const& v : program->blocks[0].vars) {
                if (v.name != name || !v.lod_desc) continue;
                rowan::Dims dims;
                for (std::int64_t const dim : v.lod_desc->tensor.dims) dims.push_back(dim);
                return dims;
            }
            return std::nullopt;
        });
    }
    return std::make_shared<Parameters>(rowan::load_model(var_of(*predict, "predict"), path));
}

std::pair<VariablePtr, std::shared_ptr<Parameters>> load_model(std::filesystem::path const& path) {
    auto model = rowan::load_model(path);
    return {VariablePtr(ScopePtr(std::move(model.scope)), &*model.predict),
            std::make_shared<Parameters>(std::move(model.parameters))};
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
    m.def("operator", &make_operator, py::arg("name"), py::arg("read"), py::arg("write"),
          "Makes an operator of the default scope by its name, with its attributes, and makes it a reader and a writer "
          "of variables.");
    m.def("tensor", &tensor, "A memory of a recurrent step.");
    m.def("add_to", &add_to, py::arg("memory").none(false), py::arg("x"),
          "The memory plus x, or plus the step's input if x is None.");
    m.def("rnn", &rnn, py::arg("input").none(false), py::arg("step_net").none(false), py::arg("concat_output") = true,
          py::arg("reverse") = false);
    m.def("save_model", &save_model, py::arg("predict").none(false), py::arg("parameters"), py::arg("path"));
    m.def(
        "save_model",
        [](VariablePtr const& cost, py::object const&, Parameters const& p, std::filesystem::path const& path) {
            save_model(cost, p, path);
        },
        py::arg("cost").none(false), py::arg("reader"), py::arg("parameters"), py::arg("path"),
        "The design documents' order; of the reader nothing is kept.");
    m.def("load_model", &load_parameters, py::arg("predict").none(false), py::arg("path"),
          "The parameters of a net that is built already.");
    m.def("load_model", &load_model, py::arg("path"), "The net and its parameters.");
}

}  // namespace python
