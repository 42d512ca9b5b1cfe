// examples/python/convert.cpp: arrays, lists and numbers as arrays of a declared element type, without a loss.
#include "convert.hpp"

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

template <class T>
std::pair<std::int32_t, char const*> named(char const* name) {
    return {rowan::dtype<T>::wire, name};
}

std::array<std::pair<std::int32_t, char const*>, 6> const& types() {
    static std::array const list{named<float>("float32"),      named<double>("float64"),
                                 named<std::int32_t>("int32"), named<std::int64_t>("int64"),
                                 named<std::uint8_t>("uint8"), named<bool>("bool")};
    return list;
}

bool is_list(py::handle given) { return py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given); }

bool is_number(py::handle given) {
    return PyNumber_Check(given.ptr()) != 0 && !py::isinstance<py::array>(given) && !is_list(given);
}

/// Whether elements of kind `from` may become elements of kind `to`; what is not exact is refused later.
bool may_become(char from, char to) {
    std::string const kinds = to == 'f' ? "biuf" : to == 'b' ? "b" : "biu";
    return kinds.find(from) != std::string::npos;
}

std::string text(py::handle object) { return py::str(object); }

/// Throws for the first element where `wrong` is true.
[[noreturn]] void refuse(std::string const& name, py::handle from, py::handle wrong, std::string const& dtype) {
    auto const numpy = py::module_::import("numpy");
    py::object const first = numpy.attr("argwhere")(wrong)[py::int_(0)].attr("tolist")();
    std::string where;
    for (auto const& i : first) where += (where.empty() ? "" : ", ") + text(i);
    py::object const value = from[py::tuple(first)];
    py::object const number = py::hasattr(value, "item") ? value.attr("item")() : value;
    throw py::value_error(name + (where.empty() ? "" : "[" + where + "]") + " = " + std::string(py::repr(number)) +
                          " is not exact in " + dtype + ": round it with numpy.array(..., \"" + dtype +
                          "\"), or declare a type that has it");
}

/// Compares the result with what was given. Lists are compared as Python's numbers, which are exact.
void check_exact(std::string const& name, py::object const& from, py::object const& to, std::string const& dtype) {
    auto const numpy = py::module_::import("numpy");
    bool const listed = from.attr("dtype").attr("kind").cast<char>() == 'O';
    py::object const back = to.attr("astype")(listed ? py::object(py::str("O")) : py::object(from.attr("dtype")));
    auto const both = [&](char const* f, py::object const& x, py::object const& y) { return numpy.attr(f)(x, y); };
    // a NaN differs from itself
    py::object wrong = both("logical_and", both("not_equal", back, from), both("equal", from, from));
    if (!listed && from.attr("dtype").attr("kind").cast<char>() == 'u') {  // an overflow also comes back
        py::object const sign = numpy.attr("less")(to, 0);
        wrong = both("logical_or", wrong, sign);
    }
    if (numpy.attr("any")(wrong).cast<bool>()) refuse(name, from, wrong, dtype);
}

}  // namespace

std::string dtype_name(std::int32_t wire) {
    for (auto const& [number, name] : types()) {
        if (number == wire) return name;
    }
    return "";
}

std::int32_t wire_of(std::string const& argument, std::string const& dtype) {
    std::string all;
    for (auto const& [number, name] : types()) {
        if (dtype == name) return number;
        all += (all.empty() ? "" : ", ") + std::string(name);
    }
    throw rowan::TypeError(argument, dtype, {"one of ", all});
}

py::array converted(std::string const& name, py::handle given, std::int32_t wire) {
    std::string const dtype = dtype_name(wire);
    bool const is_array = py::isinstance<py::array>(given);
    if (dtype.empty()) throw rowan::TypeError(name, "of an element type that NumPy lacks", "another element type");
    if (!is_array && !is_list(given) && !is_number(given))
        throw rowan::TypeError(name, text(py::type::of(given)), {"an array, a list or a number, of ", dtype});
    auto const numpy = py::module_::import("numpy");
    py::dtype const target(dtype);
    py::object array = py::reinterpret_borrow<py::object>(given);
    py::object exact = array;
    if (!is_array) {
        try {
            array = numpy.attr("asarray")(given);
            exact = numpy.attr("array")(given, py::arg("dtype") = "O");
        } catch (py::error_already_set const& e) {
            if (!e.matches(PyExc_ValueError)) throw;
            throw rowan::ShapeError(name, "lists of different lengths", "lists of the same length");
        }
    }
    auto const from = py::reinterpret_borrow<py::array>(array);
    if (target.equal(from.dtype())) {
        if (!is_array) check_exact(name, exact, array, dtype);
        return from;
    }
    if (!may_become(from.dtype().kind(), target.kind()) && from.size() != 0)
        throw rowan::TypeError(name, {is_array ? "an array" : "a list", " of ", text(from.dtype())},
                               {"one of ", dtype});
    py::object const quiet = numpy.attr("errstate")(py::arg("all") = "ignore");
    quiet.attr("__enter__")();
    py::object const to = from.attr("astype")(target);
    try {
        check_exact(name, exact, to, dtype);
    } catch (...) {
        quiet.attr("__exit__")(py::none(), py::none(), py::none());
        throw;
    }
    quiet.attr("__exit__")(py::none(), py::none(), py::none());
    return py::reinterpret_borrow<py::array>(to);
}

py::tuple joined(std::string const& name, py::handle given, rowan::VarSpec const& declared) {
    py::list lod;
    auto rows = py::reinterpret_borrow<py::object>(given);
    for (std::size_t level = 0; level < declared.lod_level; ++level) {
        py::list offsets, below;
        offsets.append(0);
        for (auto const& sequence : rows) {
            if (!is_list(sequence) && !py::isinstance<py::array>(sequence))
                throw rowan::TypeError({name, "[", offsets.size() - 1, "]"},
                                       text(py::type::of(sequence)),
                                       {"a list, as there are ", declared.lod_level, " levels"});
            for (auto const& part : sequence) below.append(part);
            offsets.append(below.size());
        }
        lod.append(offsets);
        rows = below;
    }
    py::object array = converted(name, rows, declared.dtype);
    if (py::len(rows) == 0 && declared.dims.size() > 1) {  // no rows, of the declared width
        py::list shape;
        shape.append(0);
        for (std::size_t i = 1; i < declared.dims.size(); ++i)
            shape.append(declared.dims[i] == rowan::UNK ? 0 : declared.dims[i]);
        array = array.attr("reshape")(shape);
    }
    return py::make_tuple(array, lod);
}

}  // namespace python
