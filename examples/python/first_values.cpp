// examples/python/first_values.cpp: the first values of parameters for Python.
#include "handles.hpp"
#include "settings.hpp"

#include <utility>

namespace py = pybind11;

namespace python {

void bind_first_values(py::module_& m) {
    using namespace rowan::layer;
    using rowan::field;
    py::class_<FirstValues>(m, "FirstValues", "The first values of a parameter; a pair of bounds is one, too.")
        .def(py::init<double, double>(), py::arg("low") = 0.0, py::arg("high") = 0.0)
        .def(py::init([](py::tuple const& bounds) {
            if (bounds.size() != 2)
                throw rowan::TypeError("first values", "a tuple of " + std::to_string(bounds.size()),
                                       "a pair of bounds");
            return FirstValues(bounds[0].cast<double>(), bounds[1].cast<double>());
        }));
    py::implicitly_convertible<py::tuple, FirstValues>();
    bind_settings<FirstValues>(m, "Uniform", field{"low", &Uniform::low}, field{"high", &Uniform::high});
    bind_settings<FirstValues>(m, "Normal", field{"mean", &Normal::mean}, field{"stddev", &Normal::stddev});
    bind_settings<FirstValues>(m, "Constant", field{"value", &Constant::value});
    bind_settings<FirstValues>(m, "XavierUniform", field{"gain", &XavierUniform::gain});
    bind_settings<FirstValues>(m, "XavierNormal", field{"gain", &XavierNormal::gain});
    bind_settings<FirstValues>(m, "KaimingUniform", field{"gain", &KaimingUniform::gain});
    bind_settings<FirstValues>(m, "KaimingNormal", field{"gain", &KaimingNormal::gain});
}

}  // namespace python
