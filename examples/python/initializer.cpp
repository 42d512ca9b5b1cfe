// examples/python/initializer.cpp: the first values of parameters for Python.
#include "handles.hpp"
#include "settings.hpp"

#include <utility>

namespace py = pybind11;

namespace python {

void bind_initializer(py::module_& m) {
    using namespace rowan::layer;
    using rowan::field;
    py::class_<Initializer>(m, "Initializer", "The first values of a parameter; a pair of bounds is one, too.")
        .def(py::init<double, double>(), py::arg("low") = 0.0, py::arg("high") = 0.0)
        .def(py::init([](py::tuple const& bounds) {
            if (bounds.size() != 2)
                throw rowan::TypeError("first values", {"a tuple of ", bounds.size()},
                                       "a pair of bounds");
            return Initializer(bounds[0].cast<double>(), bounds[1].cast<double>());
        }));
    py::implicitly_convertible<py::tuple, Initializer>();
    bind_settings<Initializer>(m, "Uniform", field{"low", &Uniform::low}, field{"high", &Uniform::high});
    bind_settings<Initializer>(m, "Normal", field{"mean", &Normal::mean}, field{"stddev", &Normal::stddev});
    bind_settings<Initializer>(m, "Constant", field{"value", &Constant::value});
    bind_settings<Initializer>(m, "XavierUniform", field{"gain", &XavierUniform::gain});
    bind_settings<Initializer>(m, "XavierNormal", field{"gain", &XavierNormal::gain});
    bind_settings<Initializer>(m, "KaimingUniform", field{"gain", &KaimingUniform::gain});
    bind_settings<Initializer>(m, "KaimingNormal", field{"gain", &KaimingNormal::gain});
}

}  // namespace python
