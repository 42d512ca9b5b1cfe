// examples/python/metrics.cpp: metrics of any number of batches for Python.
#include "arrays.hpp"
#include "handles.hpp"

#include <pybind11/stl.h>

#include <rowan/train/auc.hpp>
#include <rowan/train/precision_recall.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace py = pybind11;

namespace python {

namespace {

template <class T>
rowan::Tensor<T> tensor_of(char const* name, py::handle given) {
    rowan::VarSpec const declared = rowan::tensor_spec<T>({});
    auto const value = value_of(name, given, &declared);
    return value.get<rowan::LoDTensor<T>>().value().share();
}

void update(rowan::PrecisionRecall& metric, py::handle predicted, py::handle label) {
    auto const labels = tensor_of<std::int64_t>("label", label);
    bool const scores =
        py::isinstance<py::array>(predicted) && py::reinterpret_borrow<py::array>(predicted).dtype().kind() == 'f';
    if (scores) return metric.update(tensor_of<double>("scores", predicted), labels);
    metric.update(tensor_of<std::int64_t>("predicted", predicted), labels);
}

}  // namespace

void bind_metrics(py::module_& m) {
    using rowan::Auc, rowan::PrecisionRecall;
    py::class_<Auc>(m, "Auc", "The area under the ROC curve of all batches, exact, or with buckets of probabilities.")
        .def(py::init([](std::optional<std::size_t> thresholds) { return thresholds ? Auc(*thresholds) : Auc(); }),
             py::arg("thresholds") = py::none())
        .def(
            "update",
            [](Auc& auc, py::handle probability, py::handle label) {
                auc.update(tensor_of<double>("probability", probability), tensor_of<std::int64_t>("label", label));
            },
            py::arg("probability"), py::arg("label"), "Adds a batch: probabilities, and labels of 0 and 1.")
        .def("value", &Auc::value)
        .def("reset", &Auc::reset);
    auto const of = [](double (PrecisionRecall::*one)(std::size_t) const, double (PrecisionRecall::*all)() const) {
        return [one, all](PrecisionRecall const& metric, std::optional<std::size_t> k) {
            return k ? (metric.*one)(*k) : (metric.*all)();
        };
    };
    py::class_<PrecisionRecall>(m, "PrecisionRecall", "Precision, recall and F1 of classes, or their means.")
        .def(py::init<std::size_t>(), py::arg("classes"))
        .def("update", &update, py::arg("predicted"), py::arg("label"), "Adds a batch: classes, or scores of classes.")
        .def("precision", of(&PrecisionRecall::precision, &PrecisionRecall::precision), py::arg("of") = py::none())
        .def("recall", of(&PrecisionRecall::recall, &PrecisionRecall::recall), py::arg("of") = py::none())
        .def("f1", of(&PrecisionRecall::f1, &PrecisionRecall::f1), py::arg("of") = py::none())
        .def("reset", &PrecisionRecall::reset);
}

}  // namespace python
