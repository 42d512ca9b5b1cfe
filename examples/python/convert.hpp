// examples/python/convert.hpp: arrays, lists and numbers as arrays of a declared element type, without a loss.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <rowan/op/var_spec.hpp>

#include <cstdint>
#include <string>

namespace python {

/// NumPy's name of an element type, such as "float32", from its number; "" for a type that NumPy lacks.
std::string dtype_name(std::int32_t wire);

/// The number of the element type with this name.
/// errors   TypeError, which names `argument` and lists the types
std::int32_t wire_of(std::string const& argument, std::string const& dtype);

/// An array of the declared element type: `given` itself if it has the type, else a copy. Integers and bool become
/// numbers of any other type that has their values, numbers become those of another precision only if they are exact.
/// errors   TypeError, which names `name`, if `given` is not an array, a list or a number, or has fractions where
///          integers are declared; ValueError, which also names the position and the value, if a number is not exact;
///          ShapeError for lists of different lengths
pybind11::array converted(std::string const& name, pybind11::handle given, std::int32_t wire);

/// Nested lists of a batch with levels as a pair of an array and its lod: `[[4], [1, 4]]` is `([4, 1, 4], [[0, 1, 3]])`.
/// The outermost lists are the sequences of the first level.
/// errors   as `converted`, and TypeError if the lists are nested less deeply
pybind11::tuple joined(std::string const& name, pybind11::handle given, rowan::VarSpec const& declared);

}  // namespace python
