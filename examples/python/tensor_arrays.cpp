// examples/python/tensor_arrays.cpp: TensorArray for Python, as an object and as a variable of nets.
#include "convert.hpp"
#include "handles.hpp"
#include "values.hpp"

#include <pybind11/stl.h>

#include <rowan/graph/detail/array_kernels.hpp>
#include <rowan/layer/array.hpp>
#include <rowan/own_operator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

namespace d = rowan::detail;
using rowan::LoDTensor, rowan::TensorArray, rowan::Variable, rowan::VarSpec;
using StepMap = rowan::StepMap<rowan::Cpu>;

template <class F>
auto visit(PyArray const& array, F const& f) {
    return std::visit(f, array.array);
}

template <class T>
py::object object(LoDTensor<T>&& tensor) {
    rowan::Value value;
    value.set(std::move(tensor));
    return numpy_of(value);
}

/// The tensor of an array, a list or a pair of an array and its lod.
template <class T>
LoDTensor<T> lod_tensor_of(char const* name, py::handle given) {
    VarSpec const declared = rowan::tensor_spec<T>({});
    auto value = value_of(name, given, &declared);
    return std::move(value.get<LoDTensor<T>>());
}

template <class F>
PyArray with_wire(char const* name, std::int32_t wire, F const& f) {
    if (wire == rowan::dtype<float>::wire) return {f.template operator()<float>()};
    if (wire == rowan::dtype<double>::wire) return {f.template operator()<double>()};
    if (wire == rowan::dtype<std::int64_t>::wire) return {f.template operator()<std::int64_t>()};
    throw rowan::TypeError(name, {"of ", dtype_name(wire)}, "of float32, float64 or int64");
}

PyArray empty(std::string const& dtype) {
    return with_wire("dtype", wire_of("dtype", dtype), []<class T>() { return TensorArray<T>(); });
}

PyArray unstack(py::handle given, std::size_t axis) {
    auto const value = value_of("tensor", given);
    return with_wire("tensor", rowan::Value(value.share()).elements().dtype,
                     [&]<class T>() { return TensorArray<T>::unstack(value.get<LoDTensor<T>>().value(), axis); });
}

std::pair<PyArray, std::shared_ptr<StepMap>> unpack(py::handle given, std::size_t level, bool sort_by_length) {
    auto const value = value_of("input", given);
    auto const map = std::make_shared<StepMap>();
    auto array = with_wire("input", rowan::Value(value.share()).elements().dtype, [&]<class T>() {
        auto made = TensorArray<T>::unpack(value.get<LoDTensor<T>>(), {level, sort_by_length});
        *map = std::move(made.map);
        return std::move(made.steps);
    });
    return {std::move(array), map};
}

void bind_array(py::module_& m) {
    py::class_<StepMap, std::shared_ptr<StepMap>>(m, "StepMap", "How sequences were cut into steps.")
        .def_property_readonly("order",
                               [](StepMap const& map) {
                                   return py::array_t<std::int32_t>(static_cast<py::ssize_t>(map.order().size()),
                                                                    map.order().data());
                               })
        .def_property_readonly("steps", &StepMap::steps)
        .def("__repr__", [](StepMap const& map) {
            return "<StepMap of " + std::to_string(map.sequences()) + " sequences in " + std::to_string(map.steps()) +
                   " steps>";
        });
    py::class_<PyArray>(m, "TensorArray", "A list of tensors, such as the steps of sequences.")
        .def(py::init(&empty), py::arg("dtype") = "float32")
        .def_static("unstack", &unstack, py::arg("tensor"), py::arg("axis") = 0,
                    "Slot i is part i of an array along an axis.")
        .def_static("unpack", &unpack, py::arg("input"), py::arg("level") = 0, py::arg("sort_by_length") = true,
                    "Slot t holds element t of every sequence of a pair of an array and its lod. Returns the array of "
                    "steps and the map for pack.")
        .def("__len__", [](PyArray const& a) { return visit(a, [](auto& x) { return x.size(); }); })
        .def_property_readonly(
            "dtype",
            [](PyArray const& a) {
                return visit(a, []<class T>(TensorArray<T> const&) { return dtype_name(rowan::dtype<T>::wire); });
            })
        .def(
            "read",
            [](PyArray const& a, std::size_t i) { return visit(a, [&](auto& x) { return object(x.read(i)); }); },
            py::arg("index"), "Slot `index`, which shares its elements.")
        .def(
            "write",
            [](PyArray& a, std::size_t i, py::handle value) {
                std::visit([&]<class T>(TensorArray<T>& x) { x.write(i, lod_tensor_of<T>("value", value)); }, a.array);
            },
            py::arg("index"), py::arg("value"), "Stores an array, which the slot shares; the TensorArray grows.")
        .def(
            "stack",
            [](PyArray const& a, std::size_t axis) {
                return visit(a, [&]<class T>(TensorArray<T> const& x) { return object(LoDTensor<T>(x.stack(axis))); });
            },
            py::arg("axis") = 0, "All slots along a new axis.")
        .def(
            "concat",
            [](PyArray const& a) {
                return visit(a, []<class T>(TensorArray<T> const& x) { return object(LoDTensor<T>(x.concat())); });
            },
            "The rows of all slots.")
        .def(
            "pack",
            [](PyArray const& a, std::size_t level, StepMap const& map) {
                return visit(a, [&](auto& x) { return object(x.pack(level, map)); });
            },
            py::arg("level"), py::arg("map"), "The sequences of the steps, in the order before unpack.")
        .def("__repr__", [](PyArray const& a) {
            return "<TensorArray of " + std::to_string(visit(a, [](auto& x) { return x.size(); })) + " slots>";
        });
}

// ---- arrays in nets

template <class F>
VariablePtr result_for(VariablePtr const& like, F const& f) {
    rowan::ScopeGuard const guard(scope_for(*like));
    Variable* made = nullptr;
    static_cast<void>(with_wire("the array", like->spec().dtype, [&]<class T>() {
        made = &f.template operator()<d::array_kernels<T, rowan::Cpu>>();
        return TensorArray<T>();
    }));
    return {default_scope(), made};
}

VariablePtr create_array(std::vector<std::int64_t> const& shape, std::string const& dtype, std::size_t lod_level) {
    rowan::ScopeGuard const guard(*default_scope());
    auto const spec = std::make_shared<VarSpec>(rowan::tensor_spec<float>({}, lod_level));
    for (std::int64_t const dim : shape) spec->dims.push_back(dim);
    spec->dtype = wire_of("create_array: dtype", dtype);
    Variable* made = nullptr;
    static_cast<void>(with_wire("create_array", spec->dtype, [&]<class T>() {
        made =
            &d::result_of<typename d::array_kernels<T, rowan::Cpu>::create>({}, std::shared_ptr<VarSpec const>(spec));
        return TensorArray<T>();
    }));
    return {default_scope(), made};
}

void expect_array(VariablePtr const& array, char const* name) { d::check_array(name, array->spec()); }

void bind_layers(py::module_& m) {
    m.def("create_array", &create_array, py::arg("slot_shape"), py::arg("dtype") = "float32", py::arg("lod_level") = 0);
    m.def(
        "array_read",
        [](VariablePtr const& array, VariablePtr const& index) {
            static_cast<void>(scope_for(*index));
            return result_for(array, [&]<class K>() -> Variable& {
                return d::result_of<typename K::read>({array.get(), index.get()});
            });
        },
        py::arg("array").none(false), py::arg("index").none(false));
    m.def(
        "array_write",
        [](VariablePtr const& array, VariablePtr const& index, VariablePtr const& x) {
            static_cast<void>(scope_for(*index));
            static_cast<void>(scope_for(*x));
            return result_for(array, [&]<class K>() -> Variable& {
                return d::result_of<typename K::write>({array.get(), index.get(), x.get()});
            });
        },
        py::arg("array").none(false), py::arg("index").none(false), py::arg("x").none(false));
    m.def(
        "array_size",
        [](VariablePtr const& array) {
            return result_for(array,
                              [&]<class K>() -> Variable& { return d::result_of<typename K::size>({array.get()}); });
        },
        py::arg("array").none(false));
    m.def(
        "array_stack",
        [](VariablePtr const& array) {
            expect_array(array, "stack: array");
            auto const spec = std::make_shared<VarSpec const>(array->spec());
            return result_for(
                array, [&]<class K>() -> Variable& { return d::result_of<typename K::stack>({array.get()}, spec); });
        },
        py::arg("array").none(false));
    m.def(
        "array_unstack",
        [](VariablePtr const& x) {
            return result_for(x, [&]<class K>() -> Variable& { return d::result_of<typename K::unstack>({x.get()}); });
        },
        py::arg("x").none(false));
}

}  // namespace

std::optional<py::object> array_object(rowan::Value const& value) {
    if (value.is<TensorArray<float>>()) return py::cast(PyArray{value.get<TensorArray<float>>().share()});
    if (value.is<TensorArray<double>>()) return py::cast(PyArray{value.get<TensorArray<double>>().share()});
    if (value.is<TensorArray<std::int64_t>>()) return py::cast(PyArray{value.get<TensorArray<std::int64_t>>().share()});
    return std::nullopt;
}

std::optional<rowan::Value> value_of_array(py::handle given) {
    if (!py::isinstance<PyArray>(given)) return std::nullopt;
    rowan::Value value;
    visit(*given.cast<PyArray const*>(), [&](auto const& array) { value.set(array.share()); });
    return value;
}

void bind_tensor_arrays(py::module_& m) {
    bind_array(m);
    bind_layers(m);
}

}  // namespace python
