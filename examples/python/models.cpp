// examples/python/models.cpp: files of nets and their parameters for Python.
#include "handles.hpp"
#include "settle.hpp"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/model.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace py = pybind11;

namespace python {

namespace {

using rowan::Parameters;

/// The element type and the dims of a tensor or a SelectedRows.
rowan::TensorDesc const* elements_of(rowan::VarDesc const& v) {
    if (v.lod_desc) return &v.lod_desc->tensor;
    return v.selected_rows_desc ? &*v.selected_rows_desc : nullptr;
}

// rowan's functions of files use only the variable of a Var, so that one of any element type will do.
void save_model(VariablePtr const& predict, Parameters const& parameters, std::filesystem::path const& path) {
    rowan::save_model(rowan::layer::Var<float>(*predict), parameters, path);
}

std::shared_ptr<Parameters> load_parameters(VariablePtr const& predict, std::filesystem::path const& path) {
    if (auto const program = rowan::CheckpointFile(path).program(); program && !program->blocks.empty()) {
        settle(*predict, [&](std::string const& name) -> std::optional<rowan::Dims> {
            for (rowan::VarDesc const& v : program->blocks[0].vars) {
                auto const* const desc = elements_of(v);
                if (v.name != name || desc == nullptr) continue;
                rowan::Dims dims;
                for (std::int64_t const dim : desc->dims) dims.push_back(dim);
                return dims;
            }
            return std::nullopt;
        });
    }
    return std::make_shared<Parameters>(rowan::load_model(rowan::layer::Var<float>(*predict), path));
}

/// Whether the program of a file has a parameter of float64.
bool has_doubles(rowan::CheckpointFile const& file) {
    return std::ranges::any_of(file.names(), [&](std::string const& name) {
        auto const v = file.desc(name);
        auto const* const desc = elements_of(v);
        return desc != nullptr && desc->data_type == rowan::dtype<double>::wire;
    });
}

/// The net may have any number of outputs of any types.
std::pair<py::object, std::shared_ptr<Parameters>> load_model(std::filesystem::path const& path) {
    auto* const load = has_doubles(rowan::CheckpointFile(path))
                           ? &rowan::detail::load_net<rowan::with_gradients<rowan::forward_ops>, rowan::dtypes<double>, rowan::Cpu>
                           : &rowan::detail::load_net<rowan::with_gradients<rowan::forward_ops>, rowan::dtypes<float>, rowan::Cpu>;
    auto net = load({}, path, {}, nullptr);
    ScopePtr const scope(std::move(net.scope));
    py::list outputs;
    for (rowan::Variable* const v : net.outputs) outputs.append(VariablePtr(scope, v));
    py::object const predict = outputs.size() == 1 ? py::object(outputs[0]) : py::object(py::tuple(outputs));
    return {predict, std::make_shared<Parameters>(std::move(net.parameters))};
}

}  // namespace

void bind_models(py::module_& m) {
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
    m.def("load_model", &load_model, py::arg("path"),
          "The output of the net, or a tuple of its outputs, and its parameters.");
    m.def(
        "save_parameters",
        [](Parameters const& p, std::filesystem::path const& path) { rowan::save_parameters(p, path); },
        py::arg("parameters"), py::arg("path"), "All values, with those of optimizers, to resume a training.");
    m.def(
        "load_parameters",
        [](std::filesystem::path const& path) { return std::make_shared<Parameters>(rowan::load_parameters<>(path)); },
        py::arg("path"), "What save_parameters wrote.");
}

}  // namespace python
