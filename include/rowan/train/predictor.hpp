// rowan/train/predictor.hpp: Predictor, computes the value of a layer for batches, in any number of threads.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/owner.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/loaded_model.hpp>
#include <rowan/train/parameters.hpp>

#include <array>
#include <memory>
#include <span>
#include <utility>

namespace rowan::inline v0 {

/// The settings of a Predictor.
struct PredictorOptions {
    /// Whether a batch that contains a value that the net does not read is an error; otherwise it is ignored.
    bool refuse_other_feeds = false;
};

namespace detail {

/// A net with given parameters, made ready once: a Predictor of any number of outputs of any types.
class NetPredictor;
ROWAN_IF_CALLED void destroy(NetPredictor* predictor) noexcept;
ROWAN_IF_CALLED Owner<NetPredictor> make_predictor(std::span<Variable* const> outputs, Parameters const& parameters,
                                                   PredictorOptions const& options, DeviceExec const& exec);
/// Sets one result for each output.
ROWAN_IF_CALLED void predict(NetPredictor const& net, Feeds const& feeds, std::span<Value> results,
                             DeviceExec const& exec);

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
    ///          ShapeError if a parameter differs from its variable; IoError or FormatError of a table in a file
    /// cost     that of tracing the net, and, of tables by keys, one copy of the keys
    explicit Predictor(layer::Var<T, Device> const& predict, Parameters const& parameters,
                       PredictorOptions const& options = {}, Device exec = {})
        : net_(detail::make_predictor(std::array{&*predict}, parameters, options, exec)) {}

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
        : net_(detail::make_predictor({}, model.parameters, options, exec)) {
        static_assert(moved, "rowan::Predictor: it keeps the model: Predictor predict(std::move(model))");
    }

    /// Returns the value of the layer for a batch, with the same bits as infer. On a device, the call blocks until the
    /// result is ready. The result may be an alias of a parameter or of the batch, if the last operator returns one,
    /// such as drop_levels.
    /// shapes   that of the layer, with the dims of the batch
    /// errors   GraphError if the batch lacks a variable, or has one too many and these are refused; TypeError or
    ///          ShapeError if the element type, rank, a dim or the number of levels of a value differs from the
    ///          variable's; IndexError for a key without a row where there is no default row; those of the kernels, with
    ///          the operator and its inputs named
    /// cost     that of the operators; memory from the thread's MemoryPool, else from a pool that the predictor keeps
    ///          for each call that runs at the same time
    LoDTensor<T, Device> operator()(Feeds const& feeds, Device exec = {}) const {
        Value result;
        detail::predict(*net_, feeds, std::span(&result, 1), exec);
        return std::move(result.template get<LoDTensor<T, Device>>());
    }

private:
    detail::Owner<detail::NetPredictor> net_;
    std::unique_ptr<Scope> scope_;  // of a loaded model
};

ROWAN_TEMPLATE(class Predictor<float>)
ROWAN_TEMPLATE(class Predictor<double>)

}  // namespace rowan::inline v0

#include <rowan/train/predictor_inl.hpp>
