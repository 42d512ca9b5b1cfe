// examples/python/arrays.hpp: NumPy's arrays as values of rowan, and back, without a copy.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <rowan/graph/value.hpp>
#include <rowan/layer/feeds.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace python {

/// What has a whole number: Python's int, NumPy's, and all else with __index__.
/// errors   TypeError, which says that `name` should be what was expected
std::int64_t whole_number_of(std::string const& name, pybind11::handle given, std::string const& expected);

/// A list, a tuple, an array or another sequence of them.
/// errors   TypeError as above
std::vector<std::int64_t> whole_numbers_of(std::string const& name, pybind11::handle given,
                                           std::string const& expected);

/// The elements of an array, or of a pair of an array and its lod: a list of offsets for each level. The array lives as long as a tensor
/// sees its elements.
/// errors   TypeError if it is neither, has elements that rowan has not, or an offset is no whole number; ShapeError if it is not compact
///          in row-major order; LodError
rowan::Value value_of(std::string const& name, pybind11::handle given);

/// The values of a batch: a dict of what value_of takes.
rowan::Feeds feeds_of(pybind11::handle batch);

/// An array that sees the elements, a pair of one and its lod where there are levels, or None.
/// requires   with `writable`, memory that may be written: what was given may be an array that may only be read
/// errors     TypeError if the value is no tensor
pybind11::object numpy_of(rowan::Value const& value, bool writable = false);

/// "float32", of an element type's number.
std::string dtype_name(std::int32_t wire);

}  // namespace python
