// examples/python/training.cpp: train and infer for Python.
#include "arrays.hpp"
#include "handles.hpp"
#include "operator_table.hpp"
#include "schedules.hpp"
#include "settle.hpp"
#include "values.hpp"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <rowan/io/train_checkpoint.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/early_stop.hpp>
#include <rowan/train/gradient_clip.hpp>
#include <rowan/train/moving_average.hpp>
#include <rowan/train/optimizer.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/predictor.hpp>
#include <rowan/train/train.hpp>
#include <rowan/train/train_checkpoint.hpp>
#include <rowan/train/trainer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace py = pybind11;
namespace layer = rowan::layer;

namespace python {

namespace {

using rowan::Feeds, rowan::Parameters, rowan::Scope;

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

    Batches(py::object const& iterable, Scope const& scope) : scope_(&scope), iterator_(py::iter(iterable)) { next(); }
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
            now_ = feeds_of(py::reinterpret_steal<py::object>(batch), *scope_);
        } else if (PyErr_Occurred() != nullptr) {
            throw py::error_already_set();
        }
    }

    Scope const* scope_;
    py::object iterator_;
    std::optional<Feeds> now_;
};

/// The arguments of train and Trainer by name.
rowan::TrainOptions options_of(py::dict const& given, Scope const& scope) {
    rowan::TrainOptions options;
    std::vector<std::string> names;
    auto const take = [&](char const* name, auto const& set) {
        names.emplace_back(name);
        if (!given.contains(name) || given[name].is_none()) return;
        try {
            set(py::object(given[name]));
        } catch (py::cast_error const&) {
            throw rowan::TypeError(name, type_text(given[name]), "another type: see train");
        }
    };
    take("optimizer", [&](auto const& o) { options.optimizer = o.template cast<layer::Optimizer>(); });
    take("optimizers",
         [&](auto const& o) { options.optimizers = o.template cast<std::map<std::string, layer::Optimizer>>(); });
    take("rates", [&](auto const& o) { options.rates = o.template cast<std::map<std::string, double>>(); });
    take("clip", [&](auto const& o) { options.clip = o.template cast<layer::GradientClip>(); });
    take("schedule", [&](auto const& o) { options.schedule = schedule_of("schedule", o); });
    take("average", [&](auto const& o) { options.average = o.template cast<layer::MovingAverage>(); });
    take("seed", [&](auto const& o) { options.seed = o.template cast<std::uint64_t>(); });
    take("threads", [&](auto const& o) { options.exec.threads = o.template cast<int>(); });
    take("parts", [&](auto const& o) { options.parts = o.template cast<std::int64_t>(); });
    take("initial", [&](auto const& o) { options.initial = feeds_of(o, scope); });
    take("resume", [&](auto const& o) { options.resume = o.template cast<Parameters const*>(); });
    for (auto const& one : given) {
        std::string const key = py::str(one.first);
        if (std::ranges::count(names, key) > 0) continue;
        throw py::type_error("there is no option " + key + similar(key, names));
    }
    return options;
}

/// A function of the parameters that may be called without Python's lock.
std::function<double(Parameters const&)> metric_of(std::string const& name, py::function const& given) {
    std::shared_ptr<py::function> const function(new py::function(given), [](py::function* held) {
        py::gil_scoped_acquire const gil;
        delete held;
    });
    return [name, function](Parameters const& parameters) {
        py::gil_scoped_acquire const gil;
        return number_of("metrics: " + name, (*function)(std::make_shared<Parameters>(parameters.share())));
    };
}

/// Whether training goes on after a call of a function: it ends if the function returns False.
bool goes_on(py::object const& result) {
    py::detail::make_caster<bool> answer;
    return !answer.load(result, false) || static_cast<bool>(answer);
}

using Metrics = std::map<std::string, py::function>;

std::shared_ptr<Parameters> train(VariablePtr const& cost, py::function const& reader, py::object const& optimizer,
                                  std::int64_t epochs, bool progress, std::optional<py::function> const& on_batch,
                                  std::optional<py::function> const& on_epoch, Metrics const& metrics,
                                  std::optional<layer::EarlyStop> const& stop,
                                  std::optional<rowan::TrainCheckpointOptions> const& checkpoint,
                                  py::kwargs const& others) {
    std::optional<Batches> first;
    if (epochs > 0) {
        first.emplace(reader(0), cost->scope());
        settle(*cost, [&](std::string const& name) -> std::optional<rowan::Dims> {
            if (!(first->begin() != Batches::end())) return std::nullopt;
            auto const feed = (*first->begin()).find(name);
            if (feed == (*first->begin()).end()) return std::nullopt;
            return feed->second.value().spec().dims;
        });
    }
    expect_settled(*cost);
    others["optimizer"] = optimizer;
    auto options = options_of(others, cost->scope());
    options.epochs = epochs;
    options.progress = progress;
    for (auto const& [name, function] : metrics) options.metrics[name] = metric_of(name, function);
    options.stop = stop;
    if (checkpoint) options.checkpoint = rowan::train_checkpoint(*checkpoint);
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
        return Batches(reader(epoch), cost->scope());
    };
    return with_float(*cost, "cost", [&]<class T>() {
        return std::make_shared<Parameters>(rowan::train(layer::Var<T>(*cost), batches, options));
    });
}

/// A rowan::Trainer, which keeps its net.
class Trainer {
    template <class F>
    auto visit(F const& f) {
        return std::visit([&](auto& trainer) { return f(*trainer); }, trainer_);
    }

public:
    Trainer(VariablePtr cost, py::object const& optimizer, py::kwargs const& others)
        : cost_((expect_settled(*cost), std::move(cost))) {
        others["optimizer"] = optimizer;
        auto const options = options_of(others, cost_->scope());
        with_float(*cost_, "cost",
                   [&]<class T>() { trainer_ = std::make_unique<rowan::Trainer<T>>(layer::Var<T>(*cost_), options); });
    }

    double step(py::dict const& batch) { return step_of({feeds_of(batch, cost_->scope())}); }
    double step_parts(std::vector<py::dict> const& batches) {
        std::vector<Feeds> parts;
        for (auto const& batch : batches) parts.push_back(feeds_of(batch, cost_->scope()));
        return step_of(parts);
    }
    std::shared_ptr<Parameters> parameters() {
        return visit([](auto& trainer) { return std::make_shared<Parameters>(trainer.parameters()); });
    }
    std::int64_t steps() {
        return visit([](auto& trainer) { return trainer.steps(); });
    }

private:
    double step_of(std::vector<Feeds> const& parts) {
        py::gil_scoped_release const unlocked;
        return visit([&](auto& trainer) { return trainer.step(parts); });
    }

    VariablePtr cost_;
    std::variant<std::unique_ptr<rowan::Trainer<float>>, std::unique_ptr<rowan::Trainer<double>>> trainer_;
};

/// A predictor of a variable, or of several, of any types, which keeps their net.
class Predictor {
public:
    Predictor(py::object const& predict, Parameters const& parameters, bool refuse_other_feeds)
        : outputs_(list_of(predict)), is_one_(py::isinstance<rowan::Variable>(predict)),
          predictor_(rowan::detail::make_predictor(variables(), parameters, {.refuse_other_feeds = refuse_other_feeds},
                                                 rowan::Cpu{})) {}

    rowan::Scope const& scope() const { return outputs_[0]->scope(); }
    py::object operator()(py::dict const& batch, int threads) const {
        Feeds const feeds = feeds_of(batch, scope());
        std::vector<rowan::Value> values(outputs_.size());
        {
            py::gil_scoped_release const unlocked;
            rowan::detail::predict(*predictor_, feeds, values, rowan::Cpu{.threads = threads});
        }
        if (is_one_) return object_of(values[0]);
        py::tuple all(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) all[i] = object_of(values[i]);
        return all;
    }

private:
    static std::vector<VariablePtr> list_of(py::object const& predict) {
        std::string const expected = "a variable, or a list or tuple of variables";
        if (py::isinstance<rowan::Variable>(predict)) return {predict.cast<VariablePtr>()};
        if (!py::isinstance<py::list>(predict) && !py::isinstance<py::tuple>(predict))
            throw rowan::TypeError("predict", type_text(predict), expected);
        std::vector<VariablePtr> list;
        for (auto const& one : predict) {
            if (!py::isinstance<rowan::Variable>(one))
                throw rowan::TypeError({"predict[", list.size(), "]"}, type_text(one),
                                       expected);
            list.push_back(one.cast<VariablePtr>());
        }
        if (list.empty()) throw rowan::ValueError("len(predict)", 0, "1 or more");
        return list;
    }
    std::vector<rowan::Variable*> variables() const {
        std::vector<rowan::Variable*> list;
        for (VariablePtr const& v : outputs_) list.push_back(v.get());
        return list;
    }

    std::vector<VariablePtr> outputs_;
    bool is_one_;
    rowan::detail::Owner<rowan::detail::NetPredictor> predictor_;
};

py::object infer(py::object const& predict, py::dict const& batch, Parameters const& parameters, int threads) {
    Predictor const predictor(predict, parameters, false);
    for (auto const& named : batch) rowan::detail::check_declared(predictor.scope(), py::str(named.first));
    return predictor(batch, threads);
}

}  // namespace

void bind_training(py::module_& m) {
    py::class_<Parameters, std::shared_ptr<Parameters>>(m, "Parameters")
        .def_readonly("steps", &Parameters::steps)
        .def("__getitem__",
             [](Parameters const& p, std::string const& name) {
                 if (!p.contains(name)) throw py::key_error("there is no parameter \"" + name + "\"");
                 return object_of(p.find(name), true);
             })
        .def("__contains__", &Parameters::contains)
        .def("__len__", &Parameters::size)
        .def("keys",
             [](Parameters const& p) {
                 std::vector<std::string> names;
                 for (auto const& named : p) names.push_back(named.first);
                 return names;
             })
        .def(
            "trained", [](Parameters const& p) { return std::make_shared<Parameters>(p.trained()); },
            "The parameters without the states of optimizers.")
        .def(
            "states", [](Parameters const& p) { return std::make_shared<Parameters>(p.states()); },
            "The states of optimizers alone.")
        .def(
            "averaged", [](Parameters const& p) { return std::make_shared<Parameters>(p.averaged()); },
            "The parameters with the values of their moving averages.")
        .def("__iter__", [](py::object const& p) { return py::iter(p.attr("keys")()); });
    py::class_<layer::MovingAverage>(m, "MovingAverage", "Averages of all parameters: parameters.averaged().")
        .def(py::init([](double decay) { return layer::MovingAverage{decay}; }),
             py::arg("decay") = layer::MovingAverage{}.decay);
    py::class_<layer::EarlyStop>(m, "EarlyStop", "Ends a training when a metric does not improve for some epochs.")
        .def(py::init([](std::string const& metric, std::int64_t patience, bool larger, double least) {
                 return layer::EarlyStop{metric, patience, larger, least};
             }),
             py::arg("metric"), py::arg("patience") = layer::EarlyStop{}.patience, py::arg("larger") = false,
             py::arg("least") = 0.0);
    py::class_<rowan::TrainCheckpointOptions>(m, "TrainCheckpoint",
                                              "Saves of a training in a folder, after every so many steps and at its end: "
                                              "train with the same arguments goes on from the last one; with previous, from the one "
                                              "before where the last one is damaged.")
        .def(py::init([](std::filesystem::path const& folder, std::int64_t every, bool previous) {
                 return rowan::TrainCheckpointOptions{folder.string(), every, previous};
             }),
             py::arg("folder"), py::arg("every") = rowan::TrainCheckpointOptions{}.every, py::arg("previous") = false);
    m.def("train", &train, py::arg("cost").none(false), py::arg("reader"), py::arg("optimizer") = py::none(),
          py::arg("epochs") = 1, py::arg("progress") = false, py::arg("on_batch") = py::none(),
          py::arg("on_epoch") = py::none(), py::arg("metrics") = py::dict(), py::arg("stop") = py::none(),
          py::arg("checkpoint") = py::none(),
          "Changes the parameters that cost depends on, batch by batch. reader is called with the number of each epoch "
          "and gives dicts of arrays by name. optimizers and rates, factors of learning rates, are for single "
          "parameters, by name; so is initial, first values. on_batch(epoch, batch, cost) and on_epoch(epoch, "
          "parameters) end the training by returning False. metrics are functions of the parameters, for progress and "
          "stop. parts batches make a step, of their mean weighed by rows. checkpoint, a TrainCheckpoint, "
          "saves what the same call needs to go on after it was ended. Other options: seed, threads, resume, clip, "
          "schedule, average.");
    py::class_<Trainer>(
        m, "Trainer",
        "train, by hand: step(batch) returns the cost of the batch; step([batch, ...]), of at most parts, "
        "their mean.")
        .def(py::init<VariablePtr, py::object const&, py::kwargs const&>(), py::arg("cost").none(false),
             py::arg("optimizer") = py::none())
        .def("step", &Trainer::step, py::arg("batch"))
        .def("step", &Trainer::step_parts, py::arg("batches"))
        .def("parameters", &Trainer::parameters)
        .def_property_readonly("steps", &Trainer::steps);
    m.def("infer", &infer, py::arg("predict").none(false), py::arg("feeds"), py::arg("parameters"),
          py::arg("threads") = 0,
          "The value of a layer for a batch, of any type; for a list or tuple of layers, a tuple of their values.");
    py::class_<Predictor>(m, "Predictor",
                          "infer, made ready once: predictor(feeds) has the same results. Threads may call it at the "
                          "same time.")
        .def(py::init<py::object const&, Parameters const&, bool>(), py::arg("predict").none(false),
             py::arg("parameters"), py::arg("refuse_other_feeds") = false)
        .def("__call__", &Predictor::operator(), py::arg("feeds"), py::arg("threads") = 0);
}

}  // namespace python
