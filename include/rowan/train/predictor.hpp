// rowan/train/predictor.hpp: Predictor, computes the value of a layer for batches, in any number of threads.
#pragma once

#include <rowan/core/detail/process_mutex.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/loaded_model.hpp>
#include <rowan/train/parameters.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// The settings of a Predictor.
struct PredictorOptions {
    /// Whether a batch that contains a value that the net does not read is an error; otherwise it is ignored.
    bool refuse_other_feeds = false;
};

namespace detail {

/// Memory pools, each for one call at a time.
class IdlePools {
public:
    struct Return {
        IdlePools* to;
        void operator()(MemoryPool* pool) const noexcept {
            std::unique_ptr<MemoryPool> idle(pool);
            std::lock_guard const lock(process_mutex<IdlePools>());
            to->idle_.push_back(std::move(idle));
        }
    };
    using Lent = std::unique_ptr<MemoryPool, Return>;

    Lent lend() {
        {
            std::lock_guard const lock(process_mutex<IdlePools>());
            if (!idle_.empty()) {
                Lent pool(idle_.back().release(), Return{this});
                idle_.pop_back();
                return pool;
            }
            idle_.reserve(made_ + 1);  // so that Return does not allocate
            ++made_;
        }
        return Lent(new MemoryPool, Return{this});
    }

private:
    std::vector<std::unique_ptr<MemoryPool>> idle_;
    std::size_t made_ = 0;
};

/// A net with given parameters, made ready once: a Predictor of any number of outputs of any types.
template <class Device>
class NetPredictor {
public:
    NetPredictor(std::span<Variable* const> outputs, Parameters const& parameters, PredictorOptions const& options,
                 Device const& exec)
        : net_(outputs), options_(options), pools_(std::make_unique<IdlePools>()) {
        for (Variable const* v : outputs) {
            if (v->writers().empty()) throw GraphError(v->name() + " is written by no operator");
            out_.push_back(net_.number(*v));
        }
        std::unordered_set<std::size_t> later;
        again_.resize(out_.size());
        for (std::size_t i = out_.size(); i-- > 0;) again_[i] = !later.insert(out_[i]).second;
        auto const inputs = net_.inputs();
        given_.resize(inputs.size());
        places_.resize(net_.variables(), nullptr);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Variable& v = *inputs[i];
            if (v.role() == Role::data) continue;
            if (v.role() == Role::parameter) {
                Value const& value = parameters.find(v.name());
                check_fits(v, value);
                given_[i] = value.share();
                if (v.bring != nullptr) v.bring(given_[i], exec, false);
            } else if (v.role() == Role::seed) {  // dropout returns its input
                given_[i].set(LoDTensor<std::int64_t, Device>(Tensor<std::int64_t, Device>::from_shape({0})));
            } else {
                given_[i] = v.value().share();
            }
            places_[i] = &given_[i];
        }
        synchronize(exec);
    }

    /// Sets one result for each output.
    void run(Feeds const& feeds, std::span<Value> results, Device const& exec) const {
        IdlePools::Lent pool;
        std::optional<MemoryPool::Guard> guard;  // ends before the pool is returned
        if (current_pool() == nullptr) guard.emplace(*(pool = pools_->lend()));
        Buffer<Value> values(places_.size());
        Buffer<Value*> places(places_);
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i] == nullptr) places[i] = &values[i];
        }
        std::size_t const read = feed(net_.inputs(), feeds, values, exec);
        if (read != feeds.size() && options_.refuse_other_feeds) check_read(feeds);
        in_order(exec, [&] { net_.run(std::span<Value* const>(places), exec); });
        synchronize(exec);
        for (std::size_t i = 0; i < out_.size(); ++i) {
            results[i] = again_[i] ? values[out_[i]].share() : std::move(values[out_[i]]);
        }
    }

private:
    void check_read(Feeds const& feeds) const {
        for (auto const& named : feeds) {
            bool read = false;
            for (Variable const* v : net_.inputs())
                read = read || (v->role() == Role::data && v->name() == named.first);
            if (!read)
                throw GraphError(std::string("the batch has a value for \"")
                                     .append(named.first)
                                     .append("\", which the net does not read"));
        }
    }

    NetOrder net_;
    PredictorOptions options_;
    std::vector<std::size_t> out_;  // the numbers of the outputs
    std::vector<bool> again_;       // for each, whether it is asked for once more
    Buffer<Value> given_;           // by number: parameters and constants
    Buffer<Value*> places_;         // by number: those in given_, or nullptr for values of a call
    std::unique_ptr<IdlePools> pools_;
};

ROWAN_TEMPLATE(class NetPredictor<Cpu>)

}  // namespace detail

/// A layer with given parameters, made ready once. Any number of threads may call it at the same time: each call has
/// its own values.
///     Predictor const predictor(predict, parameters);
///     auto y = predictor({{"x", batch}});
///     Predictor const loaded(load_model("model.rowan"));
template <class T = float, class Device = Cpu>
class Predictor {
public:
    /// Keeps aliases of the parameters. On a device, `exec` copies parameters in host memory to it; calls have an exec
    /// of their own.
    /// requires   the scope of the net outlives the predictor, and nothing is added to the net during the call
    /// errors   GraphError if no operator writes predict, a parameter is missing or there is a cycle; TypeError or
    ///          ShapeError if a parameter differs from its variable
    /// cost     that of tracing the net
    explicit Predictor(layer::Var<T, Device> const& predict, Parameters const& parameters,
                       PredictorOptions const& options = {}, Device exec = {})
        : net_(std::array{&*predict}, parameters, options, exec) {}

    /// Keeps the model, which was loaded from a file.
    /// errors   GraphError if a parameter is missing or there is a cycle; TypeError or ShapeError if a parameter
    ///          differs from its variable
    /// cost     that of tracing the net
    explicit Predictor(LoadedModel<T, Device>&& model, PredictorOptions const& options = {}, Device exec = {})
        : Predictor(model.predict, model.parameters, options, exec) {
        scope_ = std::move(model.scope);
    }

    template <bool moved = false>
    explicit Predictor(LoadedModel<T, Device> const& model, PredictorOptions const& options = {}, Device exec = {})
        : net_({}, model.parameters, options, exec) {
        static_assert(moved, "rowan::Predictor: it keeps the model: Predictor predict(std::move(model))");
    }

    /// Returns the value of the layer for a batch, with the same bits as infer. On a device, the call blocks until the
    /// result is ready. The result may be an alias of a parameter or of the batch, if the last operator returns one,
    /// such as drop_levels.
    /// shapes   that of the layer, with the dims of the batch
    /// errors   GraphError if the batch lacks a variable, or has one too many and these are refused; TypeError or
    ///          ShapeError if the element type, rank, a dim or the number of levels of a value differs from the
    ///          variable's; those of the kernels, with the operator and its inputs named
    /// cost     that of the operators; memory from the thread's MemoryPool, else from a pool that the predictor keeps
    ///          for each call that runs at the same time
    LoDTensor<T, Device> operator()(Feeds const& feeds, Device exec = {}) const {
        Value result;
        net_.run(feeds, std::span(&result, 1), exec);
        return std::move(result.template get<LoDTensor<T, Device>>());
    }

private:
    detail::NetPredictor<Device> net_;
    std::unique_ptr<Scope> scope_;  // of a loaded model
};

ROWAN_TEMPLATE(class Predictor<float>)
ROWAN_TEMPLATE(class Predictor<double>)

}  // namespace rowan::inline v0
