// words/model.hpp: word2vec's models and a step of their training, in rowan's functions.
#pragma once

#include "numbers.hpp"

#include <rowan/core/device.hpp>
#include <rowan/op/loss/class_sampler.hpp>
#include <rowan/op/loss/hierarchical_softmax.hpp>
#include <rowan/op/loss/negative_sampling.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/weighted_embedding_bag.hpp>
#include <rowan/sparse/bag_rows.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace words {

using rowan::Tensor;

struct ModelOptions {
    std::size_t dim = 100;
    std::int64_t negative = 5;
    bool cbow = false;   // predict a word from the mean of its contexts, else each context's word by itself
    bool tree = false;   // hierarchical softmax, else negative sampling
    std::uint64_t seed = 1;
    float most = 1.0F;   // a row moves at most this far in a step
};

/// Words and their contexts: the contexts of words[i] are contexts[offsets[i]] up to contexts[offsets[i + 1]].
struct Batch {
    std::vector<std::int64_t> words, contexts, offsets{0};
    std::vector<std::int64_t> targets, target_offsets{0};  // for each word itself and its negatives, or with CBOW its path in a tree
    std::size_t tokens = 0;                                // of the text, with those that are left out

    void clear() {
        words.clear();
        contexts.clear();
        offsets.resize(1);
        targets.clear();
        target_offsets.resize(1);
        tokens = 0;
    }
};

/// A step of gradient descent in which no row moves further than `most`: a batch names frequent words many times, and the
/// sum of their gradients, which are all taken at the same place, would lead too far.
struct LimitedSgd {
    float rate, most;

    void operator()(std::span<float const> g, std::span<float> p) const {
        float squares[16]{};
        std::size_t const whole = g.size() / 16 * 16;
        for (std::size_t i = 0; i < whole; i += 16)
            for (std::size_t k = 0; k < 16; ++k) squares[k] += g[i + k] * g[i + k];
        for (std::size_t i = whole; i < g.size(); ++i) squares[i - whole] += g[i] * g[i];
        float const length = std::sqrt(std::accumulate(squares, squares + 16, 0.0F));
        float const step = length * rate <= most ? rate : most / length;
        for (std::size_t i = 0; i < p.size(); ++i) p[i] -= step * g[i];
    }
};

/// A table of the vectors of contexts, which are the result, and one of the vectors that predict words from them: one for
/// each word, or one for each inner node of a tree of the words.
class Model {
public:
    Model(rowan::Cpu exec, std::span<std::int64_t const> counts, ModelOptions const& options)
        : exec_(exec), options_(options), table_(Tensor<float>::from_shape({counts.size(), options.dim})) {
        Random random(options.seed);
        for (float& x : table_) x = static_cast<float>((random.uniform() - 0.5) / static_cast<double>(options.dim));
        if (options.tree) tree_.emplace(counts);
        output_ = Tensor<float>::zeros({options.tree ? counts.size() - 1 : counts.size(), options.dim});
    }

    Tensor<float> const& vectors() const { return table_; }
    std::optional<rowan::HuffmanTree> const& tree() const { return tree_; }

    /// A step of training; returns the sum of the losses.
    double train(Batch const& batch, double rate) {
        auto const contexts = Tensor<std::int64_t>::borrow(batch.contexts, {batch.contexts.size()});
        rowan::LoDTensor<std::int64_t> const bags(contexts.share(), rowan::Lod{batch.offsets});
        auto const x = input(bags);
        auto const [losses, saved] = loss(x, batch);
        LimitedSgd const rule{static_cast<float>(rate), options_.most};
        if (options_.cbow) {
            // the gradient of row targets[k] of the outputs is saved[k] · the mean of its word, that of the mean their sum by saved
            auto const targets = Tensor<std::int64_t>::borrow(batch.targets, {batch.targets.size()});
            auto const x_grad = rowan::embedding_bag(exec_, output_, rowan::LoDTensor<std::int64_t>(targets.share(), rowan::Lod{batch.target_offsets}), saved);
            rowan::update_rows(exec_, rowan::RowPlan<>(exec_, targets, output_.shape(0)), rowan::BagRows(x.value(), batch.target_offsets, saved), rule, output_);
            // as in word2vec, each context gets the whole gradient of the mean, not its share
            rowan::update_rows(exec_, rowan::RowPlan<>(exec_, contexts, batch.offsets, table_.shape(0)), x_grad.value(), rule, table_);
        } else {
            auto [x_grad, output_grad] = gradients(x, batch, saved);
            rowan::update_rows(exec_, output_grad, rule, output_);
            rowan::update_rows(exec_, rowan::lookup_table_grad(exec_, contexts, std::move(x_grad), table_.shape(0)), rule, table_);
        }
        return static_cast<double>(losses(0));
    }

    /// The sum of the losses of a batch.
    double test(Batch const& batch) const {
        auto const contexts = Tensor<std::int64_t>::borrow(batch.contexts, {batch.contexts.size()});
        auto const x = input({contexts.share(), rowan::Lod{batch.offsets}});
        return static_cast<double>(std::get<0>(loss(x, batch))(0));
    }

    /// A hash of all bits of both tables.
    std::uint64_t checksum() const {
        std::uint64_t hash = 14695981039346656037u;
        for (auto const* t : {&table_, &output_})
            for (float const x : *t) hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 1099511628211u;
        return hash;
    }

private:
    static constexpr rowan::BagOptions of_means{.pool = rowan::Pooling::mean};
    static constexpr rowan::LossOptions summed{.reduction = rowan::Reduction::sum};

    /// One row for each word of a batch, the mean of its contexts, or one for each context in sequences.
    rowan::LoDTensor<float> input(rowan::LoDTensor<std::int64_t> const& bags) const {
        if (options_.cbow) return rowan::embedding_bag(exec_, table_, bags, of_means);
        return {rowan::gather(exec_, table_, bags.value()), bags.lod()};
    }

    Tensor<std::int64_t> targets(Batch const& batch) const {
        return Tensor<std::int64_t>::borrow(batch.targets, {batch.words.size(), static_cast<std::size_t>(options_.negative) + 1});
    }

    std::tuple<Tensor<float>, Tensor<float>> loss(rowan::LoDTensor<float> const& x, Batch const& batch) const {
        if (tree_) return rowan::hierarchical_softmax(exec_, x, output_, *tree_, batch.words, summed);
        return rowan::negative_sampling(exec_, x, output_, targets(batch), summed);
    }
    std::tuple<Tensor<float>, rowan::SelectedRows<float>> gradients(rowan::LoDTensor<float> const& x, Batch const& batch, Tensor<float> const& saved) const {
        if (tree_) return rowan::hierarchical_softmax_grad(exec_, x, output_, *tree_, batch.words, saved, one_, summed);
        return rowan::negative_sampling_grad(exec_, x, output_, targets(batch), saved, one_, summed);
    }

    rowan::Cpu exec_;
    ModelOptions options_;
    Tensor<float> table_, output_, one_{1.0F};
    std::optional<rowan::HuffmanTree> tree_;
};

}  // namespace words
