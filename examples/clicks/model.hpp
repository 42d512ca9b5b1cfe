// clicks/model.hpp: ClickModel, the probability that an impression is clicked.
#pragma once

#include "log.hpp"
#include "mlp.hpp"
#include "tables.hpp"

#include <rowan/distributed/dense_allreduce.hpp>
#include <rowan/distributed/together.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/rowan.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace clicks {

inline constexpr std::int64_t most_dim = 1024, most_width = 1 << 16, most_sightings = 1'000'000;

/// What a model is, and how it learns.
struct ModelOptions {
    std::size_t dim = 16;                     ///< numbers for each key
    std::vector<std::size_t> bottom{64};      ///< hidden layers for the 13 numbers
    std::vector<std::size_t> top{128, 64};    ///< hidden layers for the interactions
    std::int64_t sightings = 1;               ///< a key gets a row when it is seen this often
    std::int64_t forget = 0;                  ///< a key loses its row when it was not seen for so many days; 0: never
    std::size_t parts = 1;                    ///< of each batch, whose gradients are summed
    double rate = 0.1, dense_rate = 2e-3;    ///< the learning rates of AdaGrad and of Adam
    std::uint64_t seed = 1;                   ///< of the first values
};

/// `options`, but those that make the model are of a saved one.
inline ModelOptions saved_options(std::string const& path, ModelOptions options) {
    rowan::CheckpointFile const file(path);
    auto const list = [&](char const* name, std::int64_t most) {
        auto const numbers = file.load<Rows>(name);
        for (auto const n : numbers) {
            if (numbers.shape().size() != 1 || n < 1 || n > most) throw BadInput(std::string("`") + name + "` has a number that is not in [1, " + std::to_string(most) + "]");
        }
        return std::vector<std::size_t>(numbers.begin(), numbers.end());
    };
    auto const one = [&](char const* name, std::int64_t most) {
        auto const numbers = list(name, most);
        if (numbers.size() != 1) throw BadInput(std::string("`") + name + "` is not one number");
        return numbers[0];
    };
    options.dim = one("dim", most_dim);
    options.bottom = list("bottom", most_width);
    options.top = list("top", most_width);
    options.sightings = static_cast<std::int64_t>(one("sightings", most_sightings));
    auto const seed = file.load<Rows>("seed"), step = file.load<Rows>("step");
    if (seed.size() != 1 || step.size() != 1 || step(0) < 0) throw BadInput("`seed` or `step` is not one number");
    options.seed = static_cast<std::uint64_t>(seed(0));
    return options;
}

/// Naumov et al.: Deep Learning Recommendation Model for Personalization and Recommendation Systems, 2019.
///
///     13 numbers       ->  bottom layers           ->  a vector   \   dot products of all pairs,   ->  top layers  ->  logit
///     26 categories    ->  a row of the table each ->  26 vectors /   and the first vector
///
/// All ranks of `comm` make one together and call the same functions with the same batches.
template <rowan::communicator Comm, template <class> class Table>
class ClickModel {
public:
    ClickModel(Comm const& comm, Cpu exec, ModelOptions const& options)
        : comm_(comm), exec_(exec), options_(options),
          table_(comm, {.width = options.dim, .low = -0.05, .high = 0.05, .seed = options.seed, .keys = {.sightings = options.sightings, .record_uses = options.forget > 0, .hash_seed = rowan::random_hash_seed()}}),
          bottom_(joined(numbers, options.bottom, options.dim), true, 0),
          top_(joined(options.dim + vectors * (vectors - 1) / 2, options.top, 1), false, bottom_.end()),
          dense_(Floats::zeros({top_.end()})), moment1_(Floats::zeros({top_.end()})), moment2_(Floats::zeros({top_.end()})) {
        bottom_.initialize(dense_, options.seed);
        top_.initialize(dense_, options.seed);
    }

    /// Begins the next day.
    void begin_day() {
        table_.begin_day(table_.day() + 1, options_.forget);
    }

    /// Makes one step. Returns the probabilities of clicks that the model gave before it.
    Floats train(Batch const& batch) {
        rowan::MemoryPool::Guard const guard(pool_);
        auto const n = batch.size();
        auto const ranks = static_cast<std::size_t>(comm_.size()), rank = static_cast<std::size_t>(comm_.rank());
        // Of n parts, rank r of P has [r · n / P, (r + 1) · n / P).
        Range const parts = part_of({0, options_.parts}, rank, ranks);
        Range const own{part_of({0, n}, parts.begin, options_.parts).begin, part_of({0, n}, parts.end, options_.parts).begin};
        auto const rows = table_.learn(exec_, keys_of(batch, {0, n}), own);
        auto const x = table_.gather(exec_, rows);
        auto probabilities = Floats::from_shape({own.size()});
        std::vector<Floats> dense_grads, rows_grads;  // of each part
        for (std::size_t k = parts.begin; k < parts.end; ++k) {
            Range const part = part_of({0, n}, k, options_.parts);
            Range const here{part.begin - own.begin, part.end - own.begin};
            dense_grads.push_back(Floats::from_shape(dense_.shape()));
            auto const pass = forward(numbers_of(batch, part), x.slice(here.begin, here.end));
            auto const p = rowan::sigmoid(exec_, pass.logits());
            std::ranges::copy(p, probabilities.data() + here.begin);
            rows_grads.push_back(backward(pass, std::span(batch.labels).subspan(part.begin, part.size()), p, n, dense_grads.back()));
        }
        auto const dense_grad = ranks == 1 && options_.parts == 1 ? std::move(dense_grads[0]) : rowan::dense_allreduce(exec_, comm_, dense_grads);
        rowan::adam(exec_, dense_, moment1_, moment2_, dense_grad, {.learning_rate = options_.dense_rate, .step = ++step_});
        table_.update(exec_, rows, rows_grads, options_.rate);
        return of_all_ranks(probabilities, n);
    }

    /// The probabilities of clicks.
    Floats predict(Batch const& batch) {
        rowan::MemoryPool::Guard const guard(pool_);
        Range const own = part_of({0, batch.size()}, static_cast<std::size_t>(comm_.rank()), static_cast<std::size_t>(comm_.size()));
        auto const rows = table_.find(exec_, keys_of(batch, own));
        return of_all_ranks(rowan::sigmoid(exec_, forward(numbers_of(batch, own), table_.gather(exec_, rows)).logits()), batch.size());
    }

    std::int64_t keys() const { return table_.keys(); }  ///< keys with a row
    /// A number of all parameters and the table's moments, the same for any number of ranks.
    std::uint64_t hash() const {
        std::uint64_t hash = table_.hash();
        for (float const x : dense_) hash = rowan::hash_key(std::uint64_t{std::bit_cast<std::uint32_t>(x)}, hash);
        return hash;
    }

    /// Writes the model to a file; a table of which each rank has a part, to others beside it.
    void save(std::string const& path) const {
        rowan::Checkpoint file;
        auto const list = [](std::vector<std::size_t> const& sizes) { return Rows(std::vector<std::int64_t>(sizes.begin(), sizes.end())); };
        file.add("dim", list({options_.dim}));
        file.add("bottom", list(options_.bottom));
        file.add("top", list(options_.top));
        file.add("sightings", Rows{options_.sightings});
        file.add("seed", Rows{static_cast<std::int64_t>(options_.seed)});
        file.add("step", Rows{step_});
        file.add("layers", dense_);
        file.add("layers.moment1", moment1_);
        file.add("layers.moment2", moment2_);
        table_.save(file, path, step_);
        rowan::together(comm_, [&] {
            if (comm_.rank() != 0) return;
            rowan::save_checkpoint(file, path);
            table_.remove_others(path, step_);
        });
    }
    /// Replaces the model by one that was saved with the same options, on any number of ranks.
    void load(std::string const& path) {
        rowan::CheckpointFile const file(path);
        auto dense = file.load<Floats>("layers"), moment1 = file.load<Floats>("layers.moment1"), moment2 = file.load<Floats>("layers.moment2");
        auto const step = file.load<Rows>("step");
        for (auto const* const read : {&dense, &moment1, &moment2}) {
            if (read->shape() != dense_.shape()) throw BadInput("`layers` have other sizes");
        }
        table_.load(file, path);
        dense_ = std::move(dense);
        moment1_ = std::move(moment1);
        moment2_ = std::move(moment2);
        step_ = step(0);
    }

private:
    /// What a forward pass leaves for the backward pass.
    struct Pass {
        std::vector<Floats> bottom, top;  ///< values of the layers
        Floats vectors, dots;             ///< [n, 27, dim], and the dot products of each example's pairs
        Floats logits() const { return top.back().reshaped({top.back().size()}); }
    };
    /// `rows` [n, 27, dim] are those of the keys; the first of each example becomes the vector of the numbers.
    Pass forward(Floats const& x, Floats const& rows) const {
        Pass pass;
        pass.bottom = bottom_.run(exec_, dense_, x);
        auto const& first = pass.bottom.back();
        pass.vectors = rows.share();
        for (std::size_t i = 0; i < first.shape()[0]; ++i) std::ranges::copy(first.row(i), pass.vectors.row(i).begin());
        pass.dots = rowan::dot_interaction(exec_, pass.vectors);
        pass.top = top_.run(exec_, dense_, rowan::concat(exec_, std::vector{first.share(), pass.dots.share()}, 1));
        return pass;
    }
    /// The gradient of the rows of the mean cross entropy of all `n` examples of a step. Writes that of the layers.
    Floats backward(Pass const& pass, std::span<float const> labels, Floats const& p, std::size_t n, Floats& dense_grad) const {
        auto grad = Floats::from_shape({labels.size(), 1});
        for (std::size_t i = 0; i < labels.size(); ++i) grad(i, 0) = (p(i) - labels[i]) / static_cast<float>(n);
        auto const top_grad = top_.backward(exec_, dense_, pass.top, std::move(grad), dense_grad);
        auto parts = rowan::split(exec_, top_grad, {static_cast<std::int64_t>(options_.dim), static_cast<std::int64_t>(pass.dots.shape()[1])}, 1);
        auto [rows_grad] = rowan::gradients<rowan::dot_interaction_op>(exec_, std::tie(pass.vectors), std::tie(pass.dots), std::tie(parts[1]));
        for (std::size_t i = 0; i < labels.size(); ++i) {
            auto const first = rows_grad.row(i).first(options_.dim);  // of the numbers' vector, which is no row
            std::ranges::transform(first, parts[0].row(i), parts[0].row(i).begin(), std::plus());
            std::ranges::fill(first, 0.0f);
        }
        bottom_.backward(exec_, dense_, pass.bottom, std::move(parts[0]), dense_grad);
        return std::move(rows_grad);
    }

    static std::vector<std::size_t> joined(std::size_t first, std::vector<std::size_t> sizes, std::size_t last) {
        sizes.insert(sizes.begin(), first);
        sizes.push_back(last);
        return sizes;
    }
    static Rows const keys_of(Batch const& batch, Range part) {
        return Rows::borrow(batch.keys.data() + part.begin * vectors, {part.size(), vectors});
    }
    static Floats const numbers_of(Batch const& batch, Range part) {
        return Floats::borrow(batch.numbers.data() + part.begin * numbers, {part.size(), numbers});
    }

    /// The probabilities of all examples, from those of each rank.
    Floats of_all_ranks(Floats const& own, std::size_t n) const {
        std::size_t const ranks = static_cast<std::size_t>(comm_.size());
        if (ranks == 1) return own;
        auto all = Floats::from_shape({n});
        std::vector<std::size_t> counts(ranks);
        std::size_t const mine = own.size();
        comm_.allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(counts)));
        comm_.allgatherv(sizeof(float), std::as_bytes(std::span(own.data(), own.size())), std::as_writable_bytes(std::span(all.data(), n)), counts).wait();
        return all;
    }

    Comm const& comm_;
    Cpu exec_;
    ModelOptions options_;
    rowan::MemoryPool pool_;
    Table<Comm> table_;
    Mlp bottom_, top_;
    Floats dense_, moment1_, moment2_;  // all parameters of the layers, and Adam's moments
    std::int64_t step_ = 0;
};

}  // namespace clicks
