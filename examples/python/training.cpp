// examples/python/training.cpp: optimizers, train and infer for Python.
#include "arrays.hpp"
#include "handles.hpp"
#include "settle.hpp"

#include <pybind11/stl.h>

#include <rowan/layer/gradient_clip.hpp>
#include <rowan/layer/infer.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/schedule.hpp>
#include <rowan/layer/train.hpp>
#include <rowan/layer/trainer.hpp>
#include <rowan/op/fields.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;
namespace layer = rowan::layer;

namespace python {

namespace {

using rowan::Feeds, rowan::Parameters;

/// The batches of an epoch, read one at a time from a Python iterable. The reader does not need to hold Python's lock.
class Batches {
public:
    struct End {};
    struct Iterator {
        Batches* batches;
        Feeds const& operator*() const { return *batches->now_; }
        void operator++() { batches->next(); }
        bool operator!=(End) const { return batches->now_.has_value(); }
    };

    explicit Batches(py::object const& iterable) : iterator_(py::iter(iterable)) { next(); }
    Batches(Batches&&) = default;
    ~Batches() {
        py::gil_scoped_acquire const gil;
        iterator_ = py::object();
    }

    Iterator begin() { return {this}; }
    static End end() { return {}; }

private:
    void next() {
        py::gil_scoped_acquire const gil;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        now_.reset();
        if (PyObject* const batch = PyIter_Next(iterator_.ptr())) {
            now_ = feeds_of(py::reinterpret_steal<py::object>(batch));
        } else if (PyErr_Occurred() != nullptr) {
            throw py::error_already_set();
        }
    }

    py::object iterator_;
    std::optional<Feeds> now_;
};

/// A schedule of rowan.
struct Factor {
    layer::Schedule of;
};

/// A schedule of rowan, or a function of Python that gets the number of the step; None is no schedule.
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

using Optimizers = std::map<std::string, layer::Optimizer>;

rowan::TrainOptions options_of(std::optional<layer::Optimizer> const& optimizer, std::uint64_t seed, int threads,
                               Parameters const* resume, Optimizers const& optimizers,
                               std::optional<layer::GradientClip> const& clip, py::object const& schedule) {
    return {.optimizer = optimizer,
            .optimizers = optimizers,
            .clip = clip.value_or(layer::GradientClip()),
            .schedule = schedule_of("schedule", schedule),
            .seed = seed,
            .exec = {.threads = threads},
            .resume = resume};
}

/// Whether training goes on after a call of a function: it ends if the function returns False.
bool goes_on(py::object const& result) {
    py::detail::make_caster<bool> answer;
    return !answer.load(result, false) || static_cast<bool>(answer);
}

std::shared_ptr<Parameters> train(VariablePtr const& cost, py::function const& reader,
                                  std::optional<layer::Optimizer> const& optimizer, std::int64_t epochs,
                                  std::uint64_t seed, int threads, bool progress,
                                  std::optional<py::function> const& on_batch, Parameters const* resume,
                                  Optimizers const& optimizers, std::optional<layer::GradientClip> const& clip,
                                  py::object const& schedule, std::optional<py::function> const& on_epoch) {
    auto const var = var_of(*cost, "cost");
    std::optional<Batches> first;
    if (epochs > 0) {
        first.emplace(reader(0));
        settle(*cost, [&](std::string const& name) -> std::optional<rowan::Dims> {
            if (!(first->begin() != Batches::end())) return std::nullopt;
            auto const feed = (*first->begin()).find(name);
            if (feed == (*first->begin()).end()) return std::nullopt;
            rowan::Dims dims;
            for (std::int64_t const dim : feed->second.value().elements().dims) dims.push_back(dim);
            return dims;
        });
    }
    expect_settled(*cost);
    auto options = options_of(optimizer, seed, threads, resume, optimizers, clip, schedule);
    options.epochs = epochs;
    options.progress = progress;
    if (on_batch) {
        options.on_batch = [&](rowan::BatchReport const& r) {
            py::gil_scoped_acquire const gil;
            return goes_on((*on_batch)(r.epoch, r.batch, r.cost));
        };
    }
    if (on_epoch) {
        options.on_epoch = [&](std::int64_t epoch, Parameters const& parameters) {
            py::gil_scoped_acquire const gil;
            return goes_on((*on_epoch)(epoch, std::make_shared<Parameters>(parameters.share())));
        };
    }
    py::gil_scoped_release const unlocked;
    auto const batches = [&](std::int64_t epoch) -> Batches {
        if (epoch == 0) return std::move(*first);
        py::gil_scoped_acquire const gil;
        return Batches(reader(epoch));
    };
    return std::make_shared<Parameters>(rowan::train(var, batches, options));
}

/// A rowan::Trainer, which keeps its net.
class Trainer {
public:
    Trainer(VariablePtr cost, std::optional<layer::Optimizer> const& optimizer, std::uint64_t seed, int threads,
            Parameters const* resume, Optimizers const& optimizers, std::optional<layer::GradientClip> const& clip,
            py::object const& schedule)
        : cost_((expect_settled(*cost), std::move(cost))),
          trainer_(var_of(*cost_, "cost"), options_of(optimizer, seed, threads, resume, optimizers, clip, schedule)) {}

    double step(py::dict const& batch) {
        Feeds const feeds = feeds_of(batch);
        py::gil_scoped_release const unlocked;
        return trainer_.step(feeds);
    }
    std::shared_ptr<Parameters> parameters() const { return std::make_shared<Parameters>(trainer_.parameters()); }
    std::int64_t steps() const { return trainer_.steps(); }

private:
    VariablePtr cost_;
    rowan::Trainer<> trainer_;
};

py::object infer(VariablePtr const& predict, py::dict const& batch, Parameters const& parameters, int threads) {
    auto const var = var_of(*predict, "predict");
    Feeds const feeds = feeds_of(batch);
    rowan::Value answer;
    {
        py::gil_scoped_release const unlocked;
        answer.set(rowan::infer(var, feeds, parameters, rowan::Cpu{.threads = threads}));
    }
    return numpy_of(answer);
}

/// A function of Python that makes a `Made` of a struct of settings; the arguments and their defaults are its members.
template <class Made, class Settings, class... M>
void bind_settings(py::module_& m, char const* name, rowan::field<Settings, M> const&... members) {
    Settings const defaults;
    m.def(
        name,
        [members...](M const&... given) {
            Settings settings;
            ((settings.*members.member = given), ...);
            return Made(settings);
        },
        (py::arg(members.name.data()) = defaults.*members.member)...);
}

void bind_optimizers(py::module_& m) {
    using namespace layer;
    using rowan::field;
    py::class_<Optimizer>(m, "Optimizer");
    bind_settings<Optimizer>(m, "Sgd", field{"learning_rate", &Sgd::learning_rate});
    bind_settings<Optimizer>(m, "Momentum", field{"learning_rate", &Momentum::learning_rate},
                             field{"momentum", &Momentum::momentum}, field{"nesterov", &Momentum::nesterov},
                             field{"weight_decay", &Momentum::weight_decay});
    bind_settings<Optimizer>(m, "AdaGrad", field{"learning_rate", &AdaGrad::learning_rate},
                             field{"epsilon", &AdaGrad::epsilon});
    bind_settings<Optimizer>(m, "RowwiseAdaGrad", field{"learning_rate", &RowwiseAdaGrad::learning_rate},
                             field{"epsilon", &RowwiseAdaGrad::epsilon});
    bind_settings<Optimizer>(m, "Adam", field{"learning_rate", &Adam::learning_rate}, field{"beta1", &Adam::beta1},
                             field{"beta2", &Adam::beta2}, field{"epsilon", &Adam::epsilon});
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

}  // namespace

void bind_training(py::module_& m) {
    bind_optimizers(m);
    py::class_<Parameters, std::shared_ptr<Parameters>>(m, "Parameters")
        .def_readonly("steps", &Parameters::steps)
        .def("__getitem__",
             [](Parameters const& p, std::string const& name) {
                 if (!p.contains(name)) throw py::key_error("there is no parameter \"" + name + "\"");
                 return numpy_of(p.find(name), true);
             })
        .def("__contains__", &Parameters::contains)
        .def("__len__", &Parameters::size)
        .def("keys",
             [](Parameters const& p) {
                 std::vector<std::string> names;
                 for (auto const& named : p) names.push_back(named.first);
                 return names;
             })
        .def("__iter__", [](py::object const& p) { return py::iter(p.attr("keys")()); });
    m.def("train", &train, py::arg("cost").none(false), py::arg("reader"), py::arg("optimizer") = py::none(),
          py::arg("epochs") = 1, py::arg("seed") = 0, py::arg("threads") = 0, py::arg("progress") = false,
          py::arg("on_batch") = py::none(), py::arg("resume") = py::none(), py::arg("optimizers") = py::dict(),
          py::arg("clip") = py::none(), py::arg("schedule") = py::none(), py::arg("on_epoch") = py::none(),
          "Changes the parameters that cost depends on, batch by batch. reader is called with the number of each epoch "
          "and gives dicts of arrays by name. optimizers are for single parameters, by name. on_batch(epoch, batch, "
          "cost) and on_epoch(epoch, parameters) end the training by returning False.");
    py::class_<Trainer>(m, "Trainer", "train, by hand: step(batch) returns the cost of the batch.")
        .def(py::init<VariablePtr, std::optional<layer::Optimizer> const&, std::uint64_t, int, Parameters const*,
                      Optimizers const&, std::optional<layer::GradientClip> const&, py::object const&>(),
             py::arg("cost").none(false), py::arg("optimizer") = py::none(), py::arg("seed") = 0,
             py::arg("threads") = 0, py::arg("resume") = py::none(), py::arg("optimizers") = py::dict(),
             py::arg("clip") = py::none(), py::arg("schedule") = py::none())
        .def("step", &Trainer::step, py::arg("batch"))
        .def("parameters", &Trainer::parameters)
        .def_property_readonly("steps", &Trainer::steps);
    m.def("infer", &infer, py::arg("predict").none(false), py::arg("feeds"), py::arg("parameters"),
          py::arg("threads") = 0, "The value of a layer for a batch.");
}

}  // namespace python
