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
        throw rowan::TypeError(name, py::str(py::type::of(given)), "a function of the step");
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
    bind_settings<Optimizer>(m, "Sgd", field{"learning_rate", &Sgd::learning_rate});
    bind_settings<Optimizer>(m, "Momentum", field{"learning_rate", &Momentum::learning_rate},
                             field{"momentum", &Momentum::momentum}, field{"nesterov", &Momentum::nesterov},
                             field{"weight_decay", &Momentum::weight_decay}, field{"lazy", &Momentum::lazy});
    bind_settings<Optimizer>(m, "AdaGrad", field{"learning_rate", &AdaGrad::learning_rate},
                             field{"epsilon", &AdaGrad::epsilon});
    bind_settings<Optimizer>(m, "RowwiseAdaGrad", field{"learning_rate", &RowwiseAdaGrad::learning_rate},
                             field{"epsilon", &RowwiseAdaGrad::epsilon});
    bind_settings<Optimizer>(m, "Adam", field{"learning_rate", &Adam::learning_rate}, field{"beta1", &Adam::beta1},
                             field{"beta2", &Adam::beta2}, field{"epsilon", &Adam::epsilon},
                             field{"weight_decay", &Adam::weight_decay}, field{"lazy", &Adam::lazy});
    bind_settings<Optimizer>(m, "AdamW", field{"learning_rate", &AdamW::learning_rate}, field{"beta1", &AdamW::beta1},
                             field{"beta2", &AdamW::beta2}, field{"epsilon", &AdamW::epsilon},
                             field{"weight_decay", &AdamW::weight_decay}, field{"lazy", &AdamW::lazy});
    bind_settings<Optimizer>(m, "Adamax", field{"learning_rate", &Adamax::learning_rate},
                             field{"beta1", &Adamax::beta1}, field{"beta2", &Adamax::beta2},
                             field{"epsilon", &Adamax::epsilon}, field{"weight_decay", &Adamax::weight_decay},
                             field{"lazy", &Adamax::lazy});
    bind_settings<Optimizer>(m, "Adadelta", field{"learning_rate", &Adadelta::learning_rate},
                             field{"rho", &Adadelta::rho}, field{"epsilon", &Adadelta::epsilon},
                             field{"weight_decay", &Adadelta::weight_decay}, field{"lazy", &Adadelta::lazy});
    bind_settings<Optimizer>(m, "Lamb", field{"learning_rate", &Lamb::learning_rate}, field{"beta1", &Lamb::beta1},
                             field{"beta2", &Lamb::beta2}, field{"epsilon", &Lamb::epsilon},
                             field{"weight_decay", &Lamb::weight_decay});
    bind_settings<Optimizer>(m, "RmsProp", field{"learning_rate", &RmsProp::learning_rate}, field{"rho", &RmsProp::rho},
                             field{"momentum", &RmsProp::momentum}, field{"epsilon", &RmsProp::epsilon});
    bind_settings<Optimizer>(m, "Ftrl", field{"learning_rate", &Ftrl::learning_rate}, field{"l1", &Ftrl::l1},
                             field{"l2", &Ftrl::l2});

    py::class_<GradientClip>(m, "GradientClip");
    bind_settings<GradientClip>(m, "ClipByValue", field{"min", &ClipByValue::min}, field{"max", &ClipByValue::max});
    bind_settings<GradientClip>(m, "ClipByNorm", field{"max_norm", &ClipByNorm::max_norm});
    bind_settings<GradientClip>(m, "ClipByGlobalNorm", field{"max_norm", &ClipByGlobalNorm::max_norm});

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
