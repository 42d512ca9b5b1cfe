// examples/python/optimizers.cpp: optimizers of nets, clipping and schedules for Python.
#include "arrays.hpp"
#include "handles.hpp"
#include "schedules.hpp"
#include "settings.hpp"

#include <rowan/train/gradient_clip.hpp>
#include <rowan/train/optimizer.hpp>
#include <rowan/train/schedule.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace py = pybind11;
namespace layer = rowan::layer;

namespace python {

layer::Schedule schedule_of(std::string const& name, py::object const& given) {
    if (given.is_none()) return {};
    if (py::isinstance<Factor>(given)) return given.cast<Factor const&>().of;
    if (PyCallable_Check(given.ptr()) == 0)
        throw rowan::TypeError(name, type_text(given), "a function of the step");
    std::shared_ptr<py::object> const function(new py::object(given), [](py::object* held) {
        py::gil_scoped_acquire const gil;
        delete held;
    });
    return [name, function](std::int64_t step) {
        py::gil_scoped_acquire const gil;
        return number_of(name + "(" + std::to_string(step) + ")", (*function)(step));
    };
}

void bind_optimizers(py::module_& m) {
    using namespace layer;
    using rowan::field;
    py::class_<Optimizer>(m, "Optimizer");
    bind_settings<Optimizer, Sgd>(m, "Sgd");
    bind_settings<Optimizer, Momentum>(m, "Momentum");
    bind_settings<Optimizer, AdaGrad>(m, "AdaGrad");
    bind_settings<Optimizer, RowwiseAdaGrad>(m, "RowwiseAdaGrad");
    bind_settings<Optimizer, Adam>(m, "Adam");
    bind_settings<Optimizer, AdamW>(m, "AdamW");
    bind_settings<Optimizer, Adamax>(m, "Adamax");
    bind_settings<Optimizer, Adadelta>(m, "Adadelta");
    bind_settings<Optimizer, Lamb>(m, "Lamb");
    bind_settings<Optimizer, RmsProp>(m, "RmsProp");
    bind_settings<Optimizer, Ftrl>(m, "Ftrl");

    py::class_<GradientClip>(m, "GradientClip");
    bind_settings<GradientClip, ClipByValue>(m, "ClipByValue");
    bind_settings<GradientClip, ClipByNorm>(m, "ClipByNorm");
    bind_settings<GradientClip, ClipByGlobalNorm>(m, "ClipByGlobalNorm");

    py::class_<Factor>(m, "Schedule", "A function of the step, which is counted from 0: the learning rate's factor.")
        .def(
            "__call__", [](Factor const& factor, std::int64_t step) { return factor.of(step); }, py::arg("step"));
    bind_settings<Factor>(m, "ConstantRate", field{"factor", &ConstantRate::factor});
    bind_settings<Factor>(m, "ExponentialDecay", field{"rate", &ExponentialDecay::rate},
                          field{"steps", &ExponentialDecay::steps});
    bind_settings<Factor>(m, "StepDecay", field{"rate", &StepDecay::rate}, field{"steps", &StepDecay::steps});
    bind_settings<Factor>(m, "CosineDecay", field{"steps", &CosineDecay::steps}, field{"least", &CosineDecay::least});
    m.def(
        "Warmup",
        [](std::int64_t steps, py::object const& then) {
            Warmup warmup{.steps = steps};
            if (!then.is_none()) warmup.then = schedule_of("then", then);
            return Factor(warmup);
        },
        py::arg("steps") = Warmup{}.steps, py::arg("then") = py::none());
}

}  // namespace python
