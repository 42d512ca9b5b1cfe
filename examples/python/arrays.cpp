// examples/python/arrays.cpp: converts between NumPy's arrays and rowan's values, without a copy.
#include "arrays.hpp"

#include "convert.hpp"
#include "values.hpp"

#include <pybind11/stl.h>

#include <rowan/core/dtype.hpp>
#include <rowan/io/dlpack.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace python {

namespace {

using rowan::LoDTensor, rowan::Lod, rowan::Tensor, rowan::dlpack::DLManagedTensor;

using elements = std::tuple<float, double, std::int32_t, std::int64_t, std::uint8_t, bool>;

/// DLPack's codes: integers 0, unsigned 1, floating point 2, truth values 6.
std::uint8_t kernel_of(char kind) { return kind == 'f' ? 2 : kind == 'u' ? 1 : kind == 'b' ? 6 : 0; }

/// An array as a producer of DLPack.
struct Lent {
    py::array array;
    std::vector<std::int64_t> shape;
    DLManagedTensor managed{};

    explicit Lent(py::array lent) : array(std::move(lent)), shape(array.shape(), array.shape() + array.ndim()) {}
};

/// Releases the array after the last tensor that shares it, on any thread. After Python has ended there is no array.
void give_back(DLManagedTensor* managed) {
    if (Py_IsInitialized() == 0) return;
    py::gil_scoped_acquire const gil;
    delete static_cast<Lent*>(managed->manager_ctx);
}

template <class T>
Tensor<T> tensor_of(std::string const& name, py::array const& array) {
    if ((array.flags() & py::array::c_style) == 0)
        throw rowan::ShapeError({name, ".strides"}, std::string(py::str(array.attr("strides"))),
                                "those of row-major order: see numpy.ascontiguousarray");
    auto lent = std::make_unique<Lent>(array);
    lent->managed.dl_tensor = {const_cast<void*>(array.data()),
                               {rowan::dlpack::cpu, 0},
                               static_cast<std::int32_t>(array.ndim()),
                               {kernel_of(array.dtype().kind()), 8 * sizeof(T), 1},
                               lent->shape.data(),
                               nullptr,
                               0};
    lent->managed.manager_ctx = lent.get();
    lent->managed.deleter = &give_back;
    auto tensor = rowan::from_dlpack<T>(&lent->managed);
    static_cast<void>(lent.release());
    return tensor;
}

// A string is not accepted as a sequence.
py::sequence sequence_of(std::string const& name, py::handle given, std::string const& expected) {
    if (!py::isinstance<py::sequence>(given) || py::isinstance<py::str>(given) || py::isinstance<py::bytes>(given))
        throw rowan::TypeError(name, type_text(given), expected);
    return py::reinterpret_borrow<py::sequence>(given);
}

/// The elements of an array of rank 1 of any integer type, converted without a Python object for each; else nothing.
std::optional<std::vector<std::int64_t>> numbers_of_array(std::string const& name, py::handle given) {
    if (!py::isinstance<py::array>(given)) return std::nullopt;
    auto const array = py::reinterpret_borrow<py::array>(given);
    bool const is_unsigned = array.dtype().kind() == 'u';
    if (array.ndim() != 1 || !(is_unsigned || array.dtype().kind() == 'i')) return std::nullopt;
    auto const whole = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(array);
    if (!whole) throw py::error_already_set();
    std::vector<std::int64_t> list(whole.data(), whole.data() + whole.size());
    auto const wrapped = std::ranges::find_if(list, [&](std::int64_t number) { return is_unsigned && number < 0; });
    if (wrapped != list.end())
        throw std::overflow_error(name + "[" + std::to_string(wrapped - list.begin()) + "] = " +
                                  std::to_string(static_cast<std::uint64_t>(*wrapped)) + " is too big for int64");
    return list;
}

Lod lod_of(std::string const& name, py::handle given) {
    std::string const expected = "a list of whole numbers for each level";
    std::vector<std::vector<std::int64_t>> levels;
    for (auto const& level : sequence_of(name, given, expected))
        levels.push_back(whole_numbers_of(name + "[" + std::to_string(levels.size()) + "]", level, expected));
    return Lod(levels);
}

/// Calls f with the tensor that shares the elements of an array, see value_of.
template <class F>
void with_tensor(std::string const& name, py::handle given, rowan::VarSpec const* declared, F const& f) {
    Lod lod;
    bool const is_declared = declared != nullptr && !dtype_name(declared->dtype).empty();
    auto pair = py::reinterpret_borrow<py::object>(given);
    if (is_declared && declared->lod_level > 0 && py::isinstance<py::list>(given))
        pair = joined(name, given, *declared);
    given = pair;
    if (py::isinstance<py::tuple>(pair) && py::len(pair) == 2) {
        auto const parts = py::reinterpret_borrow<py::tuple>(pair);
        lod = lod_of(name + ".lod", parts[1]);
        given = parts[0];
    }
    std::string const known =
        "a NumPy array of float32, float64, int32, int64, uint8 or bool, or a pair of one and its lod";
    py::object const kept =
        is_declared ? py::object(converted(name, given, declared->dtype)) : py::reinterpret_borrow<py::object>(given);
    if (!py::isinstance<py::array>(kept)) throw rowan::TypeError(name, type_text(kept), known);
    auto const array = py::reinterpret_borrow<py::array>(kept);
    auto const attempt = [&]<class T>(T) {
        if (!py::isinstance<py::array_t<T, 0>>(array)) return false;
        f(LoDTensor<T>(tensor_of<T>(name, array), std::move(lod)));
        return true;
    };
    if (!std::apply([&](auto... element) { return (attempt(element) || ...); }, elements{}))
        throw rowan::TypeError(name, {"an array of ", std::string(py::str(array.dtype()))}, known);
}

}  // namespace

std::int64_t whole_number_of(std::string const& name, py::handle given, std::string const& expected) {
    if (PyIndex_Check(given.ptr()) == 0) throw rowan::TypeError(name, type_text(given), expected);
    auto const number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
    std::int64_t const whole = number ? PyLong_AsLongLong(number.ptr()) : -1;
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();  // OverflowError, or an error of __index__
    return whole;
}

double number_of(std::string const& name, py::handle given) {
    double const number = PyFloat_AsDouble(given.ptr());  // for any type with __float__ or __index__
    if (PyErr_Occurred() == nullptr) return number;
    PyErr_Clear();
    throw rowan::TypeError(name, type_text(given), "a number");
}

std::vector<std::int64_t> whole_numbers_of(std::string const& name, py::handle given, std::string const& expected) {
    if (auto list = numbers_of_array(name, given)) return *std::move(list);
    std::vector<std::int64_t> list;
    for (auto const& element : sequence_of(name, given, expected)) {
        if (PyIndex_Check(element.ptr()) != 0) {
            list.push_back(whole_number_of(name, element, expected));
        } else {  // throws an error that names the element
            list.push_back(whole_number_of(name + "[" + std::to_string(list.size()) + "]", element, expected));
        }
    }
    return list;
}

std::vector<double> numbers_of(std::string const& name, py::handle given, std::string const& expected) {
    std::vector<double> list;
    for (auto const& element : sequence_of(name, given, expected))
        list.push_back(number_of(name + "[" + std::to_string(list.size()) + "]", element));
    return list;
}

rowan::Value value_of(std::string const& name, py::handle given, rowan::VarSpec const* declared) {
    rowan::Value value;
    with_tensor(name, given, declared, [&](auto tensor) { value.set(std::move(tensor)); });
    return value;
}

rowan::Feeds feeds_of(py::handle batch, rowan::Scope const& scope) {
    if (!py::isinstance<py::dict>(batch)) throw rowan::TypeError("the batch", type_text(batch), "a dict");
    rowan::Feeds feeds;
    for (auto const& [key, given] : py::reinterpret_borrow<py::dict>(batch)) {
        std::string const name = py::str(key);
        rowan::Variable const* const v = scope.find(name);
        auto const rows = v == nullptr ? value_of_rows(given) : std::nullopt;
        feeds.emplace(name, rows           ? rows->share()
                            : v == nullptr ? value_of(name, given)
                                           : held_by(name, given, v->spec()));
    }
    return feeds;
}

py::object numpy_of(rowan::Value const& value, bool writable) {
    if (value.empty()) return py::none();
    auto alias = std::make_unique<rowan::Value>(value.share());
    auto const seen = alias->elements();
    py::capsule const owner(alias.get(), [](void* held) { delete static_cast<rowan::Value*>(held); });
    static_cast<void>(alias.release());
    py::array array(py::dtype(dtype_name(seen.dtype)), seen.dims, {}, seen.bytes.data(), owner);
    if (!writable) array.attr("setflags")(py::arg("write") = false);
    Lod const& lod = value.lod();
    if (lod.empty()) return array;
    py::list levels;
    for (std::size_t i = 0; i < lod.levels(); ++i)
        levels.append(std::vector<std::int64_t>(lod[i].begin(), lod[i].end()));
    return py::make_tuple(array, levels);
}

}  // namespace python
