// gloss/nets.hpp: the classifier as a recurrent net or with attention, written in layers.
#pragma once

#include "layers.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <rowan/io/model.hpp>
#include <rowan/rowan.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gloss {

/// A GRU over each sentence: the states after all words, and the last ones.
template <class Rows>
auto gru(Rows const& rows, std::int64_t dim) {
    namespace layer = rowan::layer;
    return layer::rnn_with_last(rows, dim, [&](auto row, auto before) {
        auto const now = layer::gru_unit(row, before, {.size = dim});
        return layer::Step{now, now};
    });
}

/// The mean of the rows of each sentence, with weights that a layer gives them. Yang et al.: Hierarchical attention
/// networks for document classification, 2016, section 2.2.
template <class Rows>
Rows attended(Rows const& rows, std::int64_t dim) {
    namespace layer = rowan::layer;
    auto const scores = layer::fc(layer::tanh(layer::fc(rows, {.output_size = dim})), {.output_size = 1});
    return layer::sequence_pool(layer::mul(rows, layer::sequence_softmax(scores)), {.pool = rowan::Pooling::sum});
}

/// words -> rows of a table -> GRU -> its last state, or attention to all of them -> fully connected layer
template <class Device>
class NetClassifier {
    using Scores = rowan::layer::Var<float, Device>;

public:
    /// `model` is "gru" or "attention".
    NetClassifier(Device device, std::string const& model, std::size_t words, std::size_t classes, std::int64_t dim) : device_(device) {
        namespace layer = rowan::layer;
        rowan::ScopeGuard const guard(scope_);
        auto const ids = layer::data<std::int32_t, Device>("words", {rowan::UNK}, 1);
        auto const rows = layer::embedding(ids, {.height = static_cast<std::int64_t>(words), .width = dim, .name = "table"});
        auto const states = gru(rows, dim);
        auto const sentence = model == "gru" ? states.last : attended(states.output, dim);
        layer::Uniform const first{-0.125, 0.125};
        scores_ = &*layer::fc(sentence, {.output_size = static_cast<std::int64_t>(classes), .weight = first, .bias = first});
        cost_ = &*layer::softmax_with_cross_entropy(Scores(*scores_), layer::data<std::int32_t, Device>("label", {rowan::UNK}));
    }

    /// Trains; `orders(epoch)` is the order of the sentences, `done(epoch, mean loss)` is called after every epoch.
    void train(Sentences const& text, int epochs, std::uint64_t seed, std::function<std::vector<std::uint32_t>(std::int64_t)> const& orders,
               std::function<void(std::int64_t, double)> const& done) {
        constexpr std::size_t size = 64;
        std::vector<std::uint32_t> order;
        Progress progress("", 0);
        double loss = 0;
        auto const reader = [&](std::int64_t epoch) {
            order = orders(epoch);
            progress = Progress("epoch " + std::to_string(epoch + 1), text.words.size());
            loss = 0;
            return std::views::iota(std::size_t{0}, (order.size() + size - 1) / size) | std::views::transform([&](std::size_t b) {
                       std::span const sentences = std::span(order).subspan(b * size, std::min(size, order.size() - b * size));
                       Sentences batch;
                       for (auto const i : sentences) batch.add(text[i], text.labels[i]);
                       return feeds(batch);
                   });
        };
        parameters_ = rowan::train(Scores(*cost_), reader, {
            .optimizer = rowan::layer::Adam{.learning_rate = 2e-3},
            .optimizers = {{"table", rowan::layer::AdaGrad{.learning_rate = 0.1, .epsilon = 1e-10}}},
            .epochs = epochs,
            .seed = seed,
            .exec = device_,
            .on_batch = [&](rowan::BatchReport const& r) {
                loss += r.cost;
                progress.advance(tokens_);
            },
            .on_epoch = [&](std::int64_t epoch, rowan::Parameters const& parameters) {
                progress.finish();
                parameters_ = parameters.share();
                done(epoch, loss / static_cast<double>((order.size() + size - 1) / size));
                std::printf("  %.3f s, %.2f million tokens/s\n", progress.seconds(), progress.speed());
                std::fflush(stdout);
            },
        });
    }

    /// The scores of every class for each sentence of a batch. No sentence may be empty.
    rowan::Tensor<float>& scores(Sentences const& batch) {
        auto const y = rowan::infer(Scores(*scores_), feeds(batch), parameters_, device_);
        now_ = on_host(y.value());
        return now_;
    }

    decltype(auto) table() const { return on_host(parameters_.template get<float, Device>("table")); }

    /// A hash of all bits of the parameters.
    std::uint64_t checksum() const {
        std::uint64_t hash = 14695981039346656037u;
        for (auto const& [name, value] : parameters_) {
            if (name.find('@') != name.npos) continue;  // the state of an optimizer
            rowan::Value const host = value.on_host();
            for (float const x : host.get<rowan::LoDTensor<float>>().value()) hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 1099511628211u;
        }
        return hash;
    }

    void save(std::string const& file) const { rowan::save_model(Scores(*scores_), parameters_, file); }
    void load(std::string const& file) { parameters_ = rowan::load_model(Scores(*scores_), file); }
    std::string dot() const { return rowan::Net<Device>::trace_and_build(*scores_).dot(); }

private:
    rowan::Feeds feeds(Sentences const& batch) {
        tokens_ = batch.words.size();
        std::vector<std::int64_t> const offsets(batch.offsets.begin(), batch.offsets.end());
        auto words = rowan::Tensor<std::int32_t>::from_shape({batch.words.size()});
        auto label = rowan::Tensor<std::int32_t>::from_shape({batch.size()});
        std::ranges::copy(batch.words, words.data());
        std::ranges::copy(batch.labels, label.data());
        return {{"words", rowan::LoDTensor<std::int32_t>(std::move(words), rowan::Lod{offsets})}, {"label", std::move(label)}};
    }

    Device device_;
    rowan::Scope scope_;
    rowan::Variable *scores_ = nullptr, *cost_ = nullptr;
    rowan::Parameters parameters_;
    rowan::Tensor<float> now_;
    std::size_t tokens_ = 0;
};

}  // namespace gloss
