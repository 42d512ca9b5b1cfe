// examples/python/module.cpp: the module rowan_cpp. Nets have elements of type float32 or float64, and ids and labels of
// type int64 or int32. As in C++, one thread at a time may use a scope.
#include "handles.hpp"

#include <pybind11/numpy.h>

#include <rowan/core/error.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/version.hpp>

#include <exception>
#include <string>

namespace py = pybind11;

namespace python {

namespace {

/// Converts rowan's errors to Python's exceptions; errors that are not listed here become a RuntimeError.
void translate(std::exception_ptr thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (rowan::IndexError const& e) {
        PyErr_SetString(PyExc_IndexError, e.what());
    } catch (rowan::TypeError const& e) {
        PyErr_SetString(PyExc_TypeError, e.what());
    } catch (rowan::IoError const& e) {
        PyErr_SetObject(PyExc_OSError, py::make_tuple(e.code(), e.what()).ptr());  // FileNotFoundError, if it is one
    } catch (rowan::ShapeError const& e) {
        PyErr_SetString(PyExc_ValueError, e.what());
    } catch (rowan::ValueError const& e) {
        PyErr_SetString(PyExc_ValueError, e.what());
    } catch (rowan::LodError const& e) {
        PyErr_SetString(PyExc_ValueError, e.what());
    } catch (rowan::FormatError const& e) {
        PyErr_SetString(PyExc_ValueError, e.what());
    }
}

/// Before NumPy 2, element types had another layout, which pybind11 knows alone before 2.12: it would read wrong sizes.
/// errors   ImportError
void check_numpy() {
    std::string const version = py::str(py::module_::import("numpy").attr("__version__"));
    bool reads = PYBIND11_VERSION_HEX >= 0x020C0000 || version.starts_with("0.") || version.starts_with("1.");
    if (reads) reads = py::dtype("float32").itemsize() == 4 && py::dtype("float64").itemsize() == 8;
    if (reads) return;
    throw py::import_error("rowan_cpp was built with pybind11 " PYBIND11_TOSTRING(PYBIND11_VERSION_MAJOR) "." 
                           PYBIND11_TOSTRING(PYBIND11_VERSION_MINOR) ", which cannot read the arrays of NumPy " +
                           version + ": build it with pybind11 2.12 or newer, as `pip install ./examples/python` does");
}

}  // namespace

}  // namespace python

PYBIND11_MODULE(rowan_cpp, m) {
    python::check_numpy();
    m.attr("UNK") = rowan::UNK;
    m.attr("__version__") = std::to_string(ROWAN_VERSION_MAJOR) + "." + std::to_string(ROWAN_VERSION_MINOR) + "." +
                            std::to_string(ROWAN_VERSION_PATCH);
    py::register_exception_translator(&python::translate);
    python::bind_initializer(m);
    python::bind_variables(m);
    python::bind_selected_rows(m);
    python::bind_tensor_arrays(m);
    python::bind_nets(m);
    python::bind_operators(m);
    python::bind_steps(m);
    python::bind_optimizers(m);
    python::bind_training(m);
    python::bind_models(m);
    python::bind_metrics(m);
}
