// examples/python/training.cpp: optimizers, train and infer for Python.
#include "arrays.hpp"
#include "handles.hpp"
#include "settle.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <rowan/layer/infer.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/train.hpp>

#include <cstdint>
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

std::shared_ptr<Parameters> train(
    VariablePtr const& cost, py::function const& reader, std::optional<layer::Optimizer> const& optimizer,
    std::int64_t epochs, std::uint64_t seed, int threads, bool progress,
    std::optional<std::function<void(std::int64_t, std::int64_t, double)>> const& on_batch, Parameters const* resume) {
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
    rowan::TrainOptions options{.optimizer = optimizer,
                                .epochs = epochs,
                                .progress = progress,
                                .seed = seed,
                                .exec = {.threads = threads},
                                .resume = resume};
    if (on_batch) {
        options.on_batch = [&](rowan::BatchReport const& r) { (*on_batch)(r.epoch, r.batch, r.cost); };
    }
    py::gil_scoped_release const unlocked;
    auto const batches = [&](std::int64_t epoch) -> Batches {
        if (epoch == 0) return std::move(*first);
        py::gil_scoped_acquire const gil;
        return Batches(reader(epoch));
    };
    return std::make_shared<Parameters>(rowan::train(var, batches, options));
}

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

/// An optimizer for parameters of float32.
template <class O>
layer::Optimizer optimizer(O const& o) {
    return layer::Optimizer(o, rowan::dtypes<float>{});
}

void bind_optimizers(py::module_& m) {
    py::class_<layer::Optimizer>(m, "Optimizer");
    m.def(
        "Sgd", [](double rate) { return optimizer(layer::Sgd{rate}); }, py::arg("learning_rate") = 0.01);
    m.def(
        "Momentum",
        [](double rate, double momentum, bool nesterov, double weight_decay) {
            return optimizer(layer::Momentum{rate, momentum, nesterov, weight_decay});
        },
        py::arg("learning_rate") = 0.01, py::arg("momentum") = 0.9, py::arg("nesterov") = false,
        py::arg("weight_decay") = 0.0);
    m.def(
        "AdaGrad",
        [](double rate, double epsilon) {
            return optimizer(layer::AdaGrad{rate, epsilon});
        },
        py::arg("learning_rate") = 0.01, py::arg("epsilon") = 1e-6);
    m.def(
        "Adam",
        [](double rate, double beta1, double beta2, double epsilon) {
            return optimizer(layer::Adam{rate, beta1, beta2, epsilon});
        },
        py::arg("learning_rate") = 0.001, py::arg("beta1") = 0.9, py::arg("beta2") = 0.999, py::arg("epsilon") = 1e-8);
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
          py::arg("on_batch") = py::none(), py::arg("resume") = py::none(),
          "Changes the parameters that cost depends on, batch by batch. reader is called with the number of each epoch "
          "and gives dicts of "
          "arrays by name.");
    m.def("infer", &infer, py::arg("predict").none(false), py::arg("feeds"), py::arg("parameters"),
          py::arg("threads") = 0, "The value of a layer for a batch.");
}

}  // namespace python
