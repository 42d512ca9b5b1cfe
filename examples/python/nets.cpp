// examples/python/nets.cpp: nets of one or several outputs, and their gradients, for Python.
#include "handles.hpp"

#include <pybind11/stl.h>

#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>

#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

using rowan::Variable;

/// A net, which keeps its scope alive.
class Net {
public:
    explicit Net(std::vector<VariablePtr> outputs) : outputs_(std::move(outputs)) {
        std::vector<Variable*> traced;
        for (VariablePtr const& v : outputs_) {
            if (v == nullptr) throw rowan::TypeError("Net: an output", "None", "a variable");
            traced.push_back(v.get());
        }
        if (traced.empty()) throw rowan::GraphError("Net: it needs an output at least");
        net_ = rowan::Net<>::trace_and_build(traced);
    }

    std::vector<VariablePtr> const& outputs() const { return outputs_; }
    std::vector<OperatorPtr> operators() const {
        std::vector<OperatorPtr> all;
        for (rowan::Operator* const op : net_.operators()) all.emplace_back(outputs_[0], op);
        return all;
    }
    std::vector<VariablePtr> inputs() const {
        std::vector<VariablePtr> all;
        for (Variable* const v : net_.inputs()) all.emplace_back(outputs_[0], v);
        return all;
    }
    void append(OperatorPtr const& op) {
        net_.append(*op);
        appended_.push_back(op);
    }
    void run(ScopePtr const& scope, int threads) const { net_.run(*scope, {.threads = threads}); }
    std::string dot() const { return net_.dot(); }

private:
    std::vector<VariablePtr> outputs_;
    std::vector<OperatorPtr> appended_;
    rowan::Net<> net_;
};

std::vector<std::pair<VariablePtr, VariablePtr>> append_backward(VariablePtr const& cost, ScopePtr const& scope) {
    ScopePtr const& to = scope ? scope : ScopePtr(cost, &cost->scope());
    return with_float(*cost, "cost", [&]<class T>() {
        std::vector<std::pair<VariablePtr, VariablePtr>> gradients;
        for (auto const& g : rowan::append_backward<T>(*cost, *to))
            gradients.emplace_back(VariablePtr(cost, g.parameter), VariablePtr(to, g.gradient));
        return gradients;
    });
}

}  // namespace

void bind_nets(py::module_& m) {
    py::class_<Net>(m, "Net", "The operators that some variables depend on, in the order in which they run.")
        .def(py::init([](py::args const& outputs) {
                 std::vector<VariablePtr> list;
                 for (auto const& given : outputs) {
                     if (py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given)) {
                         for (auto const& one : given) list.push_back(one.cast<VariablePtr>());
                     } else {
                         list.push_back(given.cast<VariablePtr>());
                     }
                 }
                 return Net(std::move(list));
             }),
             "Traces back from variables through the operators that write them.")
        .def_property_readonly("operators", &Net::operators, "In the order in which they run.")
        .def_property_readonly("inputs", &Net::inputs, "The variables that need a value.")
        .def_property_readonly("outputs", &Net::outputs)
        .def("append", &Net::append, py::arg("operator").none(false), "Adds an operator, such as one of an optimizer.")
        .def("run", &Net::run, py::arg("scope").none(false), py::arg("threads") = 0,
             py::call_guard<py::gil_scoped_release>())
        .def("dot", &Net::dot, "The net in Graphviz's language.");
    m.def(
        "append_backward", &append_backward, py::arg("cost").none(false), py::arg("scope") = py::none(),
        "Adds the operators that compute the gradients of all parameters that cost depends on, to its scope or to one "
        "inside it. Returns pairs of a parameter and its gradient, whose value is a SelectedRows for a table.");
}

}  // namespace python
