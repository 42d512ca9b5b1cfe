// examples/python/selected_rows.cpp: row-sparse tensors for Python.
#include "convert.hpp"
#include "handles.hpp"
#include "values.hpp"

#include <pybind11/stl.h>

#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/to_dense.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

using rowan::SelectedRows;

template <class T>
SelectedRows<T> rows_of(std::int64_t height, std::vector<std::int64_t> const& rows, py::handle given) {
    auto value = value_of("value", given);
    return SelectedRows<T>(height, rows, value.get<rowan::LoDTensor<T>>().value().share());
}

PyRows make_rows(std::int64_t height, py::handle rows, py::handle given) {
    auto const list = whole_numbers_of("rows", rows, "a list of row numbers");
    auto array = py::reinterpret_borrow<py::object>(given);
    if (!py::isinstance<py::array>(given)) array = converted("value", given, rowan::dtype<double>::wire);
    if (py::isinstance<py::array_t<float, 0>>(array)) return {rows_of<float>(height, list, array)};
    if (py::isinstance<py::array_t<double, 0>>(array)) return {rows_of<double>(height, list, array)};
    throw rowan::TypeError("value", {"an array of ", std::string(py::str(array.attr("dtype")))},
                           "an array of float32 or float64");
}

template <class T>
py::object array_of(rowan::Tensor<T>&& tensor) {
    rowan::Value value;
    value.set(rowan::LoDTensor<T>(std::move(tensor)));
    return numpy_of(value, true);
}

template <class F>
auto visit(PyRows const& rows, F const& f) {
    return std::visit(f, rows.rows);
}

py::object shape_of(PyRows const& rows) {
    py::list shape;
    visit(rows, [&](auto const& g) {
        for (std::size_t const dim : g.shape()) shape.append(dim);
    });
    return py::tuple(shape);
}

std::string dtype_of(PyRows const& rows) { return rows.rows.index() == 0 ? "float32" : "float64"; }

}  // namespace

std::optional<py::object> rows_object(rowan::Value const& value) {
    if (value.is<SelectedRows<float>>()) return py::cast(PyRows{value.get<SelectedRows<float>>().share()});
    if (value.is<SelectedRows<double>>()) return py::cast(PyRows{value.get<SelectedRows<double>>().share()});
    return std::nullopt;
}

std::optional<rowan::Value> value_of_rows(py::handle given) {
    if (!py::isinstance<PyRows>(given)) return std::nullopt;
    rowan::Value value;
    visit(*given.cast<PyRows const*>(), [&](auto const& g) { value.set(g.share()); });
    return value;
}

void bind_selected_rows(py::module_& m) {
    py::class_<PyRows>(m, "SelectedRows",
                       "A row-sparse tensor: row rows[i] of a table of `height` rows has the value value[i]; rows may "
                       "repeat. The value shares the elements of the array.")
        .def(py::init(&make_rows), py::arg("height"), py::arg("rows"), py::arg("value"))
        .def_property_readonly("height", [](PyRows const& r) { return visit(r, [](auto& g) { return g.height(); }); })
        .def_property_readonly("rows",
                               [](PyRows const& r) {
                                   return visit(r, [](auto& g) {
                                       return py::array_t<std::int64_t>(static_cast<py::ssize_t>(g.rows().size()),
                                                                        g.rows().data());
                                   });
                               })
        .def_property_readonly(
            "value", [](PyRows const& r) { return visit(r, [](auto& g) { return array_of(g.value().share()); }); })
        .def_property_readonly("shape", &shape_of)
        .def_property_readonly("dtype", &dtype_of)
        .def_property_readonly(
            "is_merged", [](PyRows const& r) { return visit(r, [](auto& g) { return g.merged(); }); },
            "Whether the rows are ascending and unique.")
        .def(
            "merge", [](PyRows const& r) { return visit(r, [](auto& g) { return PyRows{merge(g)}; }); },
            "The same tensor with ascending rows, each once: duplicates are summed.")
        .def(
            "to_dense", [](PyRows const& r) { return visit(r, [](auto& g) { return array_of(to_dense(g)); }); },
            "The same tensor as an array of all rows.")
        .def("__repr__", [](PyRows const& r) {
            auto const rows = visit(r, [](auto& g) { return g.rows().size(); });
            return "<SelectedRows of " + std::to_string(rows) + " rows: " + dtype_of(r) + " " +
                   std::string(py::str(shape_of(r))) + ">";
        });
}

}  // namespace python
