// tests/python/trained.cpp: the program `trained FOLDER` trains nets on the arrays of a folder, and writes the model
// files and all results of training there. module.py trains the same nets in Python.
#include <rowan/io/model.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/layer.hpp>
#include <rowan/train.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace layer = rowan::layer;
using rowan::Feeds, rowan::LoDTensor, rowan::Tensor, rowan::UNK;

namespace {

std::filesystem::path folder;

template <class T>
Tensor<T> array(char const* name) {
    return rowan::load_npy<T>((folder / name).replace_extension(".npy").string());
}

void train(char const* name, layer::Var<float> predict, layer::Var<float> cost, std::vector<Feeds> const& batches,
           rowan::TrainOptions options) {
    options.epochs = 5;
    options.seed = 7;
    auto const parameters = rowan::train(cost, [&](std::int64_t) { return batches; }, options);
    rowan::save_model(predict, parameters, (folder / name).string() + ".rowan");
    auto const values = folder / name;
    std::filesystem::create_directory(values);
    for (auto const& [variable, value] : parameters)
        rowan::save_npy((values / variable).string() + ".npy", value.get<LoDTensor<float>>().value());
}

void plain() {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const predict = layer::fc(layer::tanh(layer::fc(layer::data("x", {UNK, 3}), {.output_size = 24})), {.output_size = 2});
    auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
    auto const x = array<float>("x"), y = array<float>("y");
    std::vector<Feeds> batches;
    for (std::size_t i = 0; i < x.shape(0); i += 16) batches.push_back({{"x", x.slice(i, i + 16)}, {"y", y.slice(i, i + 16)}});
    train("plain", predict, cost, batches, {.optimizer = layer::Adam{.learning_rate = 0.01}});
}

void words(char const* name, rowan::TrainOptions const& options) {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const bag = layer::sequence_pool(layer::embedding(layer::data<std::int64_t>("words", {UNK}, 1), {.height = 50, .width = 8, .name = "table"}),
                                          {.pool = rowan::Pooling::mean});
    auto const predict = layer::fc(bag, {.output_size = 4});
    auto const cost = layer::cross_entropy(predict, layer::data<std::int64_t>("label", {UNK}));
    LoDTensor<std::int64_t> const sentences(array<std::int64_t>("words"), rowan::Lod{array<std::int64_t>("lod")});
    train(name, predict, cost, {{{"words", sentences}, {"label", array<std::int64_t>("label")}}}, options);
}

void recurrent() {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const memory = layer::tensor();
    auto const states = layer::rnn({.input = layer::fc(layer::data("moves", {UNK, 1}, 1), {.output_size = 8}),
                                    .step_net = layer::fc(layer::add_to(memory, nullptr), {.output_size = 8}),
                                    .concat_output = true});
    auto const predict = layer::fc(states, {.output_size = 1});
    auto const cost = layer::mse(predict, layer::data("balances", {UNK, 1}, 1));
    rowan::Lod const lod{array<std::int64_t>("lod")};
    train("recurrent", predict, cost,
          {{{"moves", LoDTensor<float>(array<float>("moves"), lod)}, {"balances", LoDTensor<float>(array<float>("balances"), lod)}}},
          {.optimizer = layer::Momentum{.learning_rate = 0.01}});
}

}  // namespace

int main(int, char** arguments) {
    folder = arguments[1];
    plain();
    words("words", {.optimizer = layer::AdaGrad{.learning_rate = 0.1}});
    words("rows", {.optimizer = layer::RmsProp{.momentum = 0.5},
                   .optimizers = {{"table", layer::RowwiseAdaGrad{.learning_rate = 0.1}}, {"fc_0.b_0", layer::Adadelta{.rho = 0.8, .lazy = false}}},
                   .clip = layer::ClipByGlobalNorm{.max_norm = 0.1},
                   .schedule = layer::Warmup{.steps = 2, .then = layer::CosineDecay{.steps = 4}}});
    words("ftrl", {.optimizer = layer::Ftrl{.learning_rate = 0.1, .l2 = 0.5},
                   .optimizers = {{"table", layer::Lamb{.epsilon = 1e-3, .weight_decay = 0.1}}, {"fc_0.w_0", layer::Adamax{.beta2 = 0.9, .lazy = false}}},
                   .clip = layer::ClipByNorm{.max_norm = 0.1},
                   .schedule = layer::ExponentialDecay{.rate = 0.5, .steps = 3}});
    words("sgd", {.optimizer = layer::Sgd{.learning_rate = 0.1},
                  .clip = layer::ClipByValue{.min = -0.01, .max = 0.02},
                  .schedule = layer::StepDecay{.rate = 0.5, .steps = 2}});
    recurrent();
}
