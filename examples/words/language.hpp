// words/language.hpp: a recurrent language model in layers: the next word of a text, from all words before it.
#pragma once

#include <rowan/io/model.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/rowan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace words {

struct LanguageOptions {
    std::string cell = "gru";    // or "lstm"
    std::int64_t dim = 128;      // of rows of the table, and of states
    std::int64_t samples = 512;  // classes of a step of training
    std::uint64_t seed = 1;
};

/// Places in a text that are read side by side: stream s reads ids[s · length] up to ids[(s + 1) · length].
struct Streams {
    std::span<std::int32_t const> ids;
    std::size_t streams, length;

    Streams(std::span<std::int32_t const> text, std::size_t most)
        : ids(text), streams(std::clamp<std::size_t>(text.size() / 2, 1, most)), length(text.empty() ? 0 : (text.size() - 1) / streams) {}

    /// Steps [begin, end) of all streams, and the word after each.
    rowan::Feeds feeds(std::size_t begin, std::size_t end) const {
        std::size_t const steps = end - begin;
        auto words = rowan::Tensor<std::int32_t>::from_shape({streams * steps}), next = words;
        std::vector<std::int64_t> offsets{0};
        for (std::size_t s = 0; s < streams; ++s) {
            auto const from = ids.begin() + static_cast<std::ptrdiff_t>(s * length + begin);
            std::copy_n(from, steps, words.data() + s * steps);
            std::copy_n(from + 1, steps, next.data() + s * steps);
            offsets.push_back(static_cast<std::int64_t>((s + 1) * steps));
        }
        return {{"words", rowan::LoDTensor<std::int32_t>(std::move(words), rowan::Lod{offsets})}, {"next", std::move(next)}};
    }
};

/// words -> rows of a table -> GRU or LSTM -> a score of each word. In training, the scores are those of the next words and
/// of a few sampled ones.
class LanguageModel {
    using Floats = rowan::Tensor<float>;
    using Var = rowan::layer::Var<float>;

public:
    LanguageModel(rowan::Cpu exec, std::size_t words, LanguageOptions const& options)
        : exec_(exec), options_(options), words_(static_cast<std::int64_t>(words)) {
        namespace layer = rowan::layer;
        rowan::ScopeGuard const guard(scope_);
        auto const ids = layer::data<std::int32_t>("words", {rowan::UNK}, 1), next = layer::data<std::int32_t>("next", {rowan::UNK});
        auto const h = layer::data<float>("h", {rowan::UNK, options.dim});
        auto const rows = layer::embedding(ids, {.height = words_, .width = options.dim, .name = "table"});
        layer::RecurrentOptions const size{.size = options.dim};
        Var output = rows;
        std::vector<Var> last;
        if (options.cell == "gru") {
            auto const made = layer::gru_with_last(rows, size, {h});
            output = made.output;
            last = made.last;
        } else {
            auto const made = layer::lstm_with_last(rows, size, {h}, {layer::data<float>("c", {rowan::UNK, options.dim})});
            output = made.output;
            last = {made.h[0], made.c[0]};
        }
        auto const w = layer::parameter({words_, options.dim}, layer::Uniform{-0.05, 0.05}, "w"), b = layer::parameter({words_}, layer::Constant{0}, "b");
        layer::Sampled<float> const sampled{layer::data<std::int64_t>("sampled", {rowan::UNK}), layer::data<float>("next_count", {rowan::UNK}),
                                            layer::data<float>("sampled_count", {rowan::UNK})};
        cost_ = &*layer::sampled_softmax(output, w, b, next, sampled);
        scores_ = &*layer::add(layer::matmul(output, w, {.transpose_y = true}), b);
        std::vector<Var> all{layer::drop_levels(output)};
        all.insert(all.end(), last.begin(), last.end());
        for (auto const& state : last) last_.push_back(&*state);
        states_ = &*layer::concat(all, 0);
        parameters_ = initial();
    }

    /// Reads the streams once, `steps` words at a time, and learns from each. The states go on from one step to the next,
    /// the gradients do not. Returns the mean loss; advance(words) is called after each step.
    template <class Advance>
    double train(Streams const& text, std::size_t steps, double rate, Advance const& advance) {
        rowan::ScopeGuard const guard(scope_);
        namespace layer = rowan::layer;
        rowan::Trainer trainer(Var(*cost_), {.optimizer = layer::Deferred{layer::Adam{.learning_rate = rate}},
                                             .clip = layer::ClipByGlobalNorm{.max_norm = 1},
                                             .seed = options_.seed,
                                             .exec = exec_,
                                             .keep = last_,
                                             .resume = &parameters_});
        auto states = zeros(text.streams);
        double loss = 0.0;
        for (std::size_t begin = 0; begin < text.length; begin += steps) {
            std::size_t const end = std::min(text.length, begin + steps);
            auto feeds = text.feeds(begin, end);
            add_states(feeds, states);
            add_samples(feeds, static_cast<std::uint64_t>(trainer.steps()));
            loss += trainer.step(feeds) * static_cast<double>(end - begin);
            for (std::size_t k = 0; k < states.size(); ++k) states[k] = last_[k]->value().get<rowan::LoDTensor<float>>().value();
            advance(text.streams * (end - begin));
        }
        parameters_ = trainer.parameters();
        return loss / static_cast<double>(std::max<std::size_t>(text.length, 1));
    }

    /// exp of the mean loss over the words of the streams: how many words the next one could be, if all were as probable.
    double perplexity(Streams const& text) const {
        constexpr std::size_t steps = 16;
        rowan::Predictor<float> const predict(Var(*states_), parameters_);
        auto const w = parameter("w"), b = parameter("b");
        auto states = zeros(text.streams);
        double loss = 0.0;
        for (std::size_t begin = 0; begin < text.length; begin += steps) {
            std::size_t const end = std::min(text.length, begin + steps);
            auto feeds = text.feeds(begin, end);
            add_states(feeds, states);
            auto const next = feeds.at("next").value().get<rowan::LoDTensor<std::int32_t>>().value();
            feeds.erase("next");
            auto const output = run(predict, feeds, states);
            auto const scores = rowan::add(exec_, rowan::matmul(exec_, output, w, false, true), b);
            loss += static_cast<double>(std::get<0>(rowan::cross_entropy(exec_, scores, next, {.reduction = rowan::Reduction::sum}))(0));
        }
        return std::exp(loss / static_cast<double>(std::max<std::size_t>(text.streams * text.length, 1)));
    }

    /// n words after some others, drawn by their probabilities to the power 1 / temperature, or with temperature 0 the most
    /// probable ones; never `unknown`. uniform() is a random number in [0, 1).
    template <class Uniform>
    std::vector<std::int32_t> generate(std::vector<std::int32_t> text, std::size_t n, double temperature, std::int32_t unknown, Uniform const& uniform) const {
        rowan::Predictor<float> const predict(Var(*states_), parameters_);
        auto const w = parameter("w"), b = parameter("b");
        auto states = zeros(1);
        std::size_t read = 0;
        for (std::size_t const end = text.size() + n; text.size() < end;) {
            auto ids = rowan::Tensor<std::int32_t>::from_values({text.size() - read}, std::span(text).subspan(read));
            rowan::Feeds feeds{{"words", rowan::LoDTensor<std::int32_t>(std::move(ids), rowan::Lod{{0, static_cast<std::int64_t>(text.size() - read)}})}};
            add_states(feeds, states);
            read = text.size();
            auto const output = run(predict, feeds, states);
            auto const row = Floats::from_values({1, output.shape(1)}, output.row(output.shape(0) - 1));
            auto scores = rowan::add(exec_, rowan::matmul(exec_, row, w, false, true), b);
            scores(0, static_cast<std::size_t>(unknown)) = -1e30F;
            auto const most = std::max_element(scores.begin(), scores.end());
            if (temperature == 0.0) {
                text.push_back(static_cast<std::int32_t>(most - scores.begin()));
                continue;
            }
            std::vector<double> sums;
            double sum = 0.0;
            for (float const s : scores) sums.push_back(sum += std::exp(static_cast<double>(s - *most) / temperature));
            auto const found = std::upper_bound(sums.begin(), sums.end(), uniform() * sum);
            text.push_back(static_cast<std::int32_t>(std::min(found - sums.begin(), std::ssize(sums) - 1)));
        }
        return text;
    }

    void save(std::string const& file) const { rowan::save_model(Var(*scores_), parameters_, file); }
    void load(std::string const& file) { parameters_ = rowan::load_model(Var(*scores_), file); }

    /// A hash of all bits of the parameters.
    std::uint64_t checksum() const {
        std::uint64_t hash = 14695981039346656037u;
        for (auto const& [name, value] : parameters_.trained())
            for (float const x : value.template get<rowan::LoDTensor<float>>().value()) hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 1099511628211u;
        return hash;
    }

private:
    rowan::Parameters initial() {
        rowan::Trainer const trainer(Var(*cost_), {.seed = options_.seed, .exec = exec_});
        return trainer.parameters();
    }
    Floats parameter(char const* name) const { return parameters_.find(name).get<rowan::LoDTensor<float>>().value(); }

    std::vector<Floats> zeros(std::size_t streams) const {
        return std::vector<Floats>(last_.size(), Floats::zeros({streams, static_cast<std::size_t>(options_.dim)}));
    }
    static void add_states(rowan::Feeds& feeds, std::vector<Floats> const& states) {
        constexpr std::array names{"h", "c"};
        for (std::size_t k = 0; k < states.size(); ++k) feeds.emplace(names[k], states[k]);
    }
    /// Adds words that are drawn for this step, with which the loss compares the next ones, and how often each is expected.
    void add_samples(rowan::Feeds& feeds, std::uint64_t step) const {
        auto const sampler = rowan::ClassSampler::log_uniform(words_);
        auto drawn = rowan::sample_classes(sampler, std::min(options_.samples, sampler.classes()), options_.seed * 1'000'003 + step, true);
        auto [next_count, count] = rowan::expected_counts(sampler, drawn, feeds.at("next").value().get<rowan::LoDTensor<std::int32_t>>().value());
        feeds.emplace("next_count", std::move(next_count));
        feeds.emplace("sampled_count", std::move(count));
        feeds.emplace("sampled", std::move(drawn.ids));
    }
    /// The outputs of a batch; the states after it become `states`.
    Floats run(rowan::Predictor<float> const& predict, rowan::Feeds const& feeds, std::vector<Floats>& states) const {
        Floats const all = predict(feeds, exec_).value();
        std::size_t end = all.shape(0);
        for (std::size_t k = states.size(); k-- > 0; end -= states[k].shape(0)) states[k] = all.slice(end - states[k].shape(0), end);
        return all.slice(0, end);
    }

    rowan::Cpu exec_;
    LanguageOptions options_;
    std::int64_t words_;
    rowan::Scope scope_;
    rowan::Variable *cost_ = nullptr, *scores_ = nullptr, *states_ = nullptr;
    std::vector<rowan::Variable*> last_;
    rowan::Parameters parameters_;
};

}  // namespace words
