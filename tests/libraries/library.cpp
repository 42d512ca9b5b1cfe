// tests/libraries/library.cpp: a shared library with hidden symbols and rowan::compiled. program.cpp loads it twice.
#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/op/optimizer/optimizers.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace layer = rowan::layer;
using rowan::Lod, rowan::LoDTensor, rowan::Tensor, rowan::UNK;

/// A net that computes a cost and its gradients, and updates its parameters.
struct Made {
    rowan::Scope scope;
    rowan::Variable* cost = nullptr;
    std::vector<rowan::Variable*> parameters;
    rowan::Net<> net;
};

std::unique_ptr<Made> make() {
    auto owner = std::make_unique<Made>();
    Made& made = *owner;
    rowan::ScopeGuard const guard(made.scope);
    auto const words = layer::embedding(layer::data<std::int64_t>("ids", {UNK}, 1), {.height = 5, .width = 2});
    auto const states = layer::rnn(words, layer::Memory{.size = 2}, [](auto x, auto before) {
        auto const now = layer::tanh(x + layer::fc(before, {.output_size = 2}));
        return layer::Step{.output = now, .memory = now};
    });
    auto const cost = layer::mse(layer::fc(states, {.output_size = 1}), layer::data("y", {UNK, 1}));
    made.cost = &*cost;
    return owner;
}

void differentiate(Made& made) {
    rowan::ScopeGuard const guard(made.scope);
    auto const gradients = rowan::append_backward<float>(*made.cost, made.scope);
    std::vector<rowan::Variable*> outputs{made.cost};
    for (auto const& g : gradients) outputs.push_back(&*g.gradient);
    made.net = rowan::Net<>::trace_and_build(outputs);
    for (auto const& g : gradients) {
        made.parameters.push_back(&*g.parameter);
        made.net.append(made.scope.new_op<rowan::sgd_op, rowan::Cpu, float, float>({&*g.parameter, &*g.gradient},
                                                                                   {.learning_rate = 0.5}));
    }
}

void run(Made& made) {
    for (rowan::Variable* const v : made.parameters) {
        std::vector<std::size_t> shape;
        for (std::int64_t const dim : v->spec().dims) shape.push_back(static_cast<std::size_t>(dim));
        v->value().set(LoDTensor<float>(Tensor<float>::full(shape, 0.25f)));
    }
    made.scope.get("ids").value().set(LoDTensor<std::int64_t>(Tensor<std::int64_t>{4, 1, 4}, Lod{{0, 1, 3}}));
    made.scope.get("y").value().set(LoDTensor<float>(Tensor<float>{{1}, {-1}, {2}}, Lod{{0, 1, 3}}));
    made.net.run(made.scope);
}

}  // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

/// Whether this library links the compiled library, whose kernels' gradients a header-only one does not have.
EXPORT bool is_compiled() {
#ifdef ROWAN_COMPILED
    return true;
#else
    return false;
#endif
}

/// A net of this library, without gradients.
EXPORT void* make_net() { return make().release(); }

/// Adds the gradients to a net, which may be another library's. Returns the error, or nothing, as text.
EXPORT char const* differentiate_net(void* made) {
    static std::string text;
    text.clear();
    try {
        differentiate(*static_cast<Made*>(made));
    } catch (std::exception const& e) {
        text = e.what();
    }
    return text.c_str();
}

/// Runs a net, which may be another library's, and returns its parameters, or the error, as text.
EXPORT char const* run_net(void* made) {
    static std::string text;
    try {
        run(*static_cast<Made*>(made));
        text.clear();
        for (rowan::Variable const* v : static_cast<Made*>(made)->parameters) {
            for (float const x : v->value().get<LoDTensor<float>>().value()) text += std::to_string(x) + ' ';
        }
    } catch (std::exception const& e) {
        text = e.what();
    }
    return text.c_str();
}

EXPORT void drop_net(void* made) { delete static_cast<Made*>(made); }
