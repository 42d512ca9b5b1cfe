// examples/python/arrays.hpp: converts between NumPy's arrays and rowan's values, without a copy.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/feeds.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace python {

/// The type of an object, as errors name it: <class 'str'>
inline std::string type_text(pybind11::handle given) { return pybind11::str(pybind11::type::of(given)); }

/// A whole number: Python's int, NumPy's, and any object with __index__.
/// errors   TypeError, which names `name` and the expected type
std::int64_t whole_number_of(std::string const& name, pybind11::handle given, std::string const& expected);

/// A number: Python's float or int, NumPy's, and any object with __float__ or __index__.
/// errors   TypeError as above
double number_of(std::string const& name, pybind11::handle given);

/// A list, a tuple, an array or another sequence of whole numbers. An array of integers of any type is converted
/// without a Python object for each element.
/// errors   TypeError as above; std::overflow_error if int64 cannot represent an element
std::vector<std::int64_t> whole_numbers_of(std::string const& name, pybind11::handle given,
                                           std::string const& expected);
/// A list or an array of numbers.
std::vector<double> numbers_of(std::string const& name, pybind11::handle given, std::string const& expected);

/// The elements of an array, or of a pair of an array and its lod, a list of offsets for each level. Every tensor that
/// shares the elements keeps the array alive. With a declaration, also lists and numbers, and nested lists for data with
/// levels; the elements are converted to its type, see convert.hpp, unless they have it.
/// errors   TypeError for another type, an unsupported element type, or an offset that is not a whole number;
///          ShapeError if the array is not contiguous in row-major order; LodError; those of `converted`
rowan::Value value_of(std::string const& name, pybind11::handle given, rowan::VarSpec const* declared = nullptr);

/// The values of a batch, from a dict of arguments of value_of; the variables of the scope are the declarations.
rowan::Feeds feeds_of(pybind11::handle batch, rowan::Scope const& scope);

/// An array that shares the elements; with levels, a pair of the array and its lod; None if the value is empty.
/// requires   with `writable`, memory that may be written: the value may share a read-only array
/// errors     TypeError if the value is not a tensor
pybind11::object numpy_of(rowan::Value const& value, bool writable = false);

}  // namespace python
