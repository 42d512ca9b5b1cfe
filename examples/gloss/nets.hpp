// gloss/nets.hpp: the classifier as a recurrent net or with attention, written in layers.
#pragma once

#include "progress.hpp"
#include "text.hpp"

#include <rowan/distributed/infer.hpp>
#include <rowan/distributed/model.hpp>
#include <rowan/distributed/train.hpp>
#include <rowan/io/model.hpp>
#include <rowan/rowan.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
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

/// words -> rows of a table -> GRU -> its last state, or attention to all of them -> fully connected layer. All ranks of
/// `comm` make one together and call the same functions.
template <class Device, rowan::communicator Comm>
class NetClassifier {
    using Var = rowan::layer::Var<float, Device>;

public:
    /// `model` is "gru" or "attention". With `shard`, each rank has a part of the table.
    NetClassifier(Device device, Comm const& comm, std::string const& model, std::size_t words, std::size_t classes, std::int64_t dim, bool shard)
        : device_(device), comm_(comm), apart_(shard || comm.size() > 1) {
        namespace layer = rowan::layer;
        rowan::ScopeGuard const guard(scope_);
        auto const ids = layer::data<std::int32_t, Device>("words", {rowan::UNK}, 1);
        auto const rows = layer::embedding(ids, {.height = static_cast<std::int64_t>(words), .width = dim, .name = "table", .sharded = shard});
        auto const states = gru(rows, dim);
        auto const sentence = model == "gru" ? states.last : attended(states.output, dim);
        layer::Uniform const first{-0.125, 0.125};
        rows_ = &*rows;
        scores_ = &*layer::fc(sentence, {.output_size = static_cast<std::int64_t>(classes), .weight = first, .bias = first});
        cost_ = &*layer::cross_entropy(Var(*scores_), layer::data<std::int32_t, Device>("label", {rowan::UNK}));
    }

    /// Trains; `parts` batches make a step. `orders(epoch)` is the order of the sentences, `done(epoch, mean loss)` is
    /// called after every epoch.
    void train(Sentences const& text, int epochs, std::int64_t parts, std::uint64_t seed, std::function<std::vector<std::uint32_t>(std::int64_t)> const& orders,
               std::function<void(std::int64_t, double)> const& done) {
        constexpr std::size_t size = 64;
        std::vector<std::uint32_t> order;
        Progress progress("", 0);
        double loss = 0, steps = 0;
        std::size_t tokens = 0;  // of the batches of a step
        auto const reader = [&](std::int64_t epoch) {
            order = orders(epoch);
            progress = Progress("epoch " + std::to_string(epoch + 1), text.words.size());
            loss = steps = 0;
            return std::views::iota(std::size_t{0}, (order.size() + size - 1) / size) | std::views::transform([&](std::size_t b) {
                       std::span const sentences = std::span(order).subspan(b * size, std::min(size, order.size() - b * size));
                       Sentences batch;
                       for (auto const i : sentences) batch.add(text[i], text.labels[i]);
                       tokens += batch.words.size();
                       return feeds(batch);
                   });
        };
        parameters_ = rowan::train(Var(*cost_), reader, {
            .optimizer = rowan::layer::Adam{.learning_rate = 2e-3},
            .optimizers = {{"table", rowan::layer::AdaGrad{.learning_rate = 0.1, .epsilon = 1e-10}}},
            .comm = comm_,
            .parts = parts,
            .epochs = epochs,
            .seed = seed,
            .exec = device_,
            .on_batch = [&](rowan::BatchReport const& r) {
                loss += r.cost;
                ++steps;
                progress.advance(std::exchange(tokens, 0));
            },
            .on_epoch = [&](std::int64_t epoch, rowan::Parameters const& parameters) {
                progress.finish();
                parameters_ = parameters.share();
                done(epoch, loss / steps);
                std::printf("  %.3f s, %.2f million tokens/s\n", progress.seconds(), progress.speed());
                std::fflush(stdout);
            },
        });
    }

    /// The scores of every class for each sentence of a batch. No sentence may be empty.
    rowan::Tensor<float>& scores(Sentences const& batch) {
        now_ = value_of(*scores_, feeds(batch));
        return now_;
    }

    /// The first rows of the table.
    rowan::Tensor<float> rows(std::size_t n) {
        auto words = rowan::Tensor<std::int32_t>::from_shape({n});
        std::iota(words.begin(), words.end(), 0);
        return value_of(*rows_, {{"words", rowan::LoDTensor<std::int32_t>(std::move(words), rowan::Lod{{0, static_cast<std::int64_t>(n)}})}});
    }

    /// A hash of all bits of the parameters, on all ranks.
    std::uint64_t checksum() const {
        std::uint64_t hash = 0;
        for (auto const& [name, value] : parameters_.trained()) {
            rowan::Value const host = value.on_host();
            std::uint64_t sum = 0;
            if (host.is<rowan::SelectedRows<float>>()) {
                auto const& table = host.get<rowan::SelectedRows<float>>();
                for (std::size_t i = 0; i < table.rows().size(); ++i) sum += hash_of(table.value().row(i), static_cast<std::uint64_t>(table.rows()[i]));
                auto all = static_cast<std::int64_t>(sum);
                comm_.sum({&all, 1});
                sum = static_cast<std::uint64_t>(all);
            } else {
                auto const& tensor = host.get<rowan::LoDTensor<float>>().value();
                for (std::size_t i = 0; i < tensor.shape(0); ++i) sum += hash_of(tensor.row(i), i);
            }
            hash = hash * 1099511628211u + sum;
        }
        return hash;
    }

    /// Several ranks, or one with a sharded table, save and load a file for each besides this one.
    void save(std::string const& file) const {
        if constexpr (std::is_same_v<Device, rowan::Cpu>) {
            if (apart_) return rowan::save_model(comm_, Var(*scores_), parameters_, file);
        }
        rowan::save_model(Var(*scores_), parameters_, file);
    }
    void load(std::string const& file) {
        if constexpr (std::is_same_v<Device, rowan::Cpu>) {
            if (apart_) {
                parameters_ = rowan::load_model(comm_, Var(*scores_), file);
                return;
            }
        }
        parameters_ = rowan::load_model(Var(*scores_), file);
    }
    std::string dot() const { return rowan::Net<Device>::trace_and_build(*scores_).dot(); }

private:
    rowan::Tensor<float> value_of(rowan::Variable& v, rowan::Feeds const& batch) {
        if constexpr (std::is_same_v<Device, rowan::Cpu>) {
            return rowan::infer(comm_, Var(v), batch, parameters_, device_).value();
        } else {
            return to_host(rowan::infer(Var(v), batch, parameters_, device_).value());
        }
    }

    /// A number for each row, which ranks add up in any order.
    static std::uint64_t hash_of(std::span<float const> row, std::uint64_t number) {
        std::uint64_t hash = 14695981039346656037u ^ number;
        for (float const x : row) hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 1099511628211u;
        return hash;
    }

    rowan::Feeds feeds(Sentences const& batch) {
        std::vector<std::int64_t> const offsets(batch.offsets.begin(), batch.offsets.end());
        auto words = rowan::Tensor<std::int32_t>::from_shape({batch.words.size()});
        auto label = rowan::Tensor<std::int32_t>::from_shape({batch.size()});
        std::ranges::copy(batch.words, words.data());
        std::ranges::copy(batch.labels, label.data());
        return {{"words", rowan::LoDTensor<std::int32_t>(std::move(words), rowan::Lod{offsets})}, {"label", std::move(label)}};
    }

    Device device_;
    Comm comm_;
    bool apart_;
    rowan::Scope scope_;
    rowan::Variable *rows_ = nullptr, *scores_ = nullptr, *cost_ = nullptr;
    rowan::Parameters parameters_;
    rowan::Tensor<float> now_;
};

}  // namespace gloss
