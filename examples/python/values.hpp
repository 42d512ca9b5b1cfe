// examples/python/values.hpp: what variables hold as Python's objects: arrays, SelectedRows and TensorArray.
#pragma once

#include "arrays.hpp"

#include <pybind11/pybind11.h>

#include <rowan/core/error.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sequence/tensor_array.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <optional>
#include <string>
#include <variant>

namespace python {

/// A row-sparse tensor.
using Rows = std::variant<rowan::SelectedRows<float>, rowan::SelectedRows<double>>;
struct PyRows {
    Rows rows;
};

/// A TensorArray.
using Array = std::variant<rowan::TensorArray<float>, rowan::TensorArray<double>, rowan::TensorArray<std::int64_t>>;
struct PyArray {
    Array array;
};

/// The object of a value that is row-sparse or an array; nothing for a tensor. It shares the elements.
std::optional<pybind11::object> rows_object(rowan::Value const& value);
std::optional<pybind11::object> array_object(rowan::Value const& value);

/// A value that shares the elements of a SelectedRows or a TensorArray; nothing for another object.
std::optional<rowan::Value> value_of_rows(pybind11::handle given);
std::optional<rowan::Value> value_of_array(pybind11::handle given);

/// The object of any value.
/// requires   as numpy_of
inline pybind11::object object_of(rowan::Value const& value, bool writable = false) {
    if (auto rows = rows_object(value)) return *rows;
    if (auto array = array_object(value)) return *array;
    return numpy_of(value, writable);
}

/// The value of any object that a variable with this spec may hold.
/// errors   TypeError; those of value_of
inline rowan::Value held_by(std::string const& name, pybind11::handle given, rowan::VarSpec const& spec) {
    auto value = value_of_rows(given);
    if (!value) value = value_of_array(given);
    if (value) return *std::move(value);
    if (spec.type != rowan::VarType::LOD_TENSOR)
        throw rowan::TypeError(name, type_text(given),
                               spec.type == rowan::VarType::SELECTED_ROWS ? "a SelectedRows" : "a TensorArray");
    return value_of(name, given, &spec);
}

}  // namespace python
