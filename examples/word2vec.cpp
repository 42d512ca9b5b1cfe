// Learns vectors of words from a text: skip-gram or CBOW, with negative sampling or hierarchical softmax.
//   contexts --table--> rows, or their mean (CBOW)  -.
//                                                     * --> high scores for the word, low ones for random words
//   word and random words --table--> rows           -'
// Mikolov et al.: Efficient Estimation of Word Representations in Vector Space, 2013. Each batch of words reads and updates
// a few thousand rows of both tables; words/model.hpp has the step, in rowan's functions. The result has the same bits for
// any number of threads.

#include "words/model.hpp"
#include "words/numbers.hpp"
#include "words/text.hpp"
#include "words/vectors.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using words::BadInput;
using words::Batch;

struct Options {
    std::optional<std::string> file;
    words::ModelOptions model;
    std::size_t window = 5, batch = 1024;
    std::int64_t min_count = 5;
    std::uint64_t hold_out = 0;
    double sample = 1e-3, rate = 0.025;
    int epochs = 5, threads = 0;
    bool binary = false;
    std::optional<std::string> save, load;
    std::vector<std::string> nearest;
    std::vector<std::string> analogy;
};

/// Makes batches of the lines of a text.
class Batches {
public:
    Batches(words::Text const& text, Options const& options, rowan::ClassSampler const& sampler, std::optional<rowan::HuffmanTree> const& tree)
        : options_(options), sampler_(sampler), tree_(tree) {
        double total = 0.0;
        for (std::int64_t const n : text.counts) total += static_cast<double>(n);
        for (std::int64_t const n : text.counts) {
            double const share = static_cast<double>(n) / (total * options.sample);
            double const kept = options.sample > 0.0 ? 1.0 / std::sqrt(share) + 1.0 / share : 1.0;
            keep_.push_back(kept >= 1.0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(kept * 0x1p64));
        }
    }

    /// Begins with the first line. Random numbers depend on the seed alone.
    void restart(words::Lines const& lines, std::uint64_t seed, bool test) {
        lines_ = &lines;
        line_ = at_ = 0;
        random_ = words::Random(seed);
        test_ = test;
        kept_.clear();
    }

    /// The next words with their contexts: false at the end.
    bool next(Batch& batch) {
        batch.clear();
        while (batch.words.size() < options_.batch) {
            while (at_ == kept_.size() && next_line(batch)) {
            }
            if (at_ == kept_.size()) break;
            std::size_t const radius = test_ ? options_.window : 1 + random_.below(options_.window);
            std::size_t const begin = at_ - std::min(at_, radius), end = std::min(kept_.size(), at_ + radius + 1);
            std::int64_t const word = kept_[at_];
            for (std::size_t k = begin; k < end; ++k)
                if (k != at_) batch.contexts.push_back(kept_[k]);
            ++at_;
            if (end - begin == 1) continue;
            batch.offsets.push_back(static_cast<std::int64_t>(batch.contexts.size()));
            batch.words.push_back(word);
            if (!tree_) {
                batch.targets.push_back(word);
                for (std::int64_t k = 0; k < options_.model.negative; ++k) batch.targets.push_back(sampler_.draw(random_.bits()));
            } else if (options_.model.cbow) {
                auto const path = tree_->path(word);
                batch.targets.insert(batch.targets.end(), path.begin(), path.end());
            }
            batch.target_offsets.push_back(std::ssize(batch.targets));
        }
        return !batch.words.empty() || batch.tokens != 0;
    }

private:
    bool next_line(Batch& batch) {
        if (line_ == lines_->size()) return false;
        auto const ids = (*lines_)[line_++];
        kept_.clear();
        for (std::int32_t const id : ids)
            if (test_ || keep_[static_cast<std::size_t>(id)] == ~std::uint64_t{0} || random_.bits() < keep_[static_cast<std::size_t>(id)]) kept_.push_back(id);
        at_ = 0;
        batch.tokens += ids.size();
        return true;
    }

    Options const& options_;
    rowan::ClassSampler const& sampler_;
    std::optional<rowan::HuffmanTree> const& tree_;
    std::vector<std::uint64_t> keep_;  // a word is kept if random bits are below this
    words::Lines const* lines_ = nullptr;
    std::size_t line_ = 0, at_ = 0;
    words::Random random_{0};
    bool test_ = false;
    std::vector<std::int64_t> kept_;  // of the line
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The mean loss of a word and one of its contexts, or with CBOW their mean, in the lines held out.
double test_loss(words::Model const& model, Batches& batches, words::Text const& text, bool cbow) {
    Batch batch;
    double loss = 0.0;
    std::size_t pairs = 0;
    batches.restart(text.test, 7, true);
    while (batches.next(batch)) {
        if (batch.words.empty()) continue;
        loss += model.test(batch);
        pairs += cbow ? batch.words.size() : batch.contexts.size();
    }
    return loss / static_cast<double>(std::max<std::size_t>(pairs, 1));
}

words::Vectors learn(Options const& options) {
    auto const of_test = [&](std::uint64_t line) { return options.hold_out != 0 && line % options.hold_out == 0; };
    words::Text text = words::numbered(*options.file, words::read_tokens(*options.file, of_test), options.min_count);
    std::printf("%zu lines, %zu words of the text, %zu different ones\n", text.train.size(), text.train.ids.size(), text.words.size());
    words::Model model(rowan::Cpu{.threads = options.threads}, text.counts, options.model);
    auto const sampler = rowan::ClassSampler::of_counts(text.counts, 0.75);
    Batches batches(text, options, sampler, model.tree());

    double const total = static_cast<double>(text.train.ids.size()) * options.epochs;
    double done = 0.0;
    for (int epoch = 1; epoch <= options.epochs; ++epoch) {
        double const start = seconds();
        batches.restart(text.train, options.model.seed + static_cast<std::uint64_t>(epoch), false);
        double loss = 0.0;
        std::size_t pairs = 0;
        // the next batch is made while the model learns from this one
        auto const make = [&](Batch batch) { return batches.next(batch) ? std::optional(std::move(batch)) : std::nullopt; };
        auto const policy = options.threads == 1 ? std::launch::deferred : std::launch::async;
        auto ahead = std::async(policy, make, Batch{});
        Batch spare;
        while (std::optional<Batch> batch = ahead.get()) {
            ahead = std::async(policy, make, std::move(spare));
            double const rate = options.rate * std::max(1.0 - done / total, 1e-4);
            if (!batch->words.empty()) loss += model.train(*batch, rate);
            done += static_cast<double>(batch->tokens);
            pairs += options.model.cbow ? batch->words.size() : batch->contexts.size();
            spare = std::move(*batch);
        }
        double const took = seconds() - start;
        std::printf("epoch %d: loss %.4f", epoch, loss / static_cast<double>(std::max<std::size_t>(pairs, 1)));
        if (text.test.size() != 0) std::printf(", of the lines held out %.4f", test_loss(model, batches, text, options.model.cbow));
        std::printf(", checksum %016" PRIx64 "\n", model.checksum());
        std::printf("  %.3f s, %.0f thousand words/s\n", took, static_cast<double>(text.train.ids.size()) / took * 1e-3);
        std::fflush(stdout);
    }
    return {std::move(text.words), model.vectors()};
}

/// Prints the words that are nearest to a sum of vectors.
void print_nearest(words::Neighbours const& neighbours, std::string const& what, std::vector<std::pair<double, std::string>> const& sum, std::size_t n) {
    std::printf("%s:", what.c_str());
    for (auto const& [cosine, word] : neighbours.of(sum, n)) std::printf(" %s %.2f", word.c_str(), cosine);
    std::printf("\n");
}

void run(Options const& options) {
    if (options.file.has_value() == options.load.has_value()) throw BadInput("give a text to learn from, or --load FILE");
    words::Vectors const vectors = options.load ? words::load(*options.load, options.binary) : learn(options);
    if (options.save) words::save(vectors, *options.save, options.binary);
    if (options.nearest.empty() && options.analogy.empty()) return;
    words::Neighbours const neighbours(vectors);
    for (std::string const& word : options.nearest) print_nearest(neighbours, word, {{1.0, word}}, 8);
    for (std::size_t i = 0; i + 3 <= options.analogy.size(); i += 3) {
        auto const& a = options.analogy[i];
        auto const& b = options.analogy[i + 1];
        auto const& c = options.analogy[i + 2];
        print_nearest(neighbours, a + " is to " + b + " as " + c + " is to", {{-1.0, a}, {1.0, b}, {1.0, c}}, 3);
    }
}

}  // namespace

int main(int argc, char** argv) {
    using words::number;
    Options options;
    CLI::App app("Learns vectors of the words of a text, whose lines are sentences, and says which are similar.\n", "word2vec");
    app.option_defaults()->always_capture_default();
    app.get_formatter()->column_width(28);
    app.add_option("file", options.file, "a text in UTF-8")->type_name("")->default_str("");
    app.add_flag("--cbow", options.model.cbow, "predict words from the mean of their contexts; without it each context predicts the word");
    app.add_flag("--hs", options.model.tree, "hierarchical softmax over a Huffman tree; without it negative sampling");
    app.add_option("--negative", options.model.negative, "random words for each word")->check(number<std::int64_t>(1, 1000));
    app.add_option("--dim", options.model.dim, "numbers per word")->check(number<std::size_t>(1, 4096));
    app.add_option("--window", options.window, "contexts are at most this far from a word; the distance is drawn for each")->check(number<std::size_t>(1, 1000));
    app.add_option("--sample", options.sample, "words more frequent than this are left out at random; 0: none")->check(number<double>(0, 1));
    app.add_option("--min-count", options.min_count, "rarer words are left out")->check(number<std::int64_t>(1, 1'000'000'000));
    app.add_option("--rate", options.rate, "learning rate, which falls to 0")->check(number<double>(0, 100));
    app.add_option("--max-step", options.model.most, "no row moves further in a step")->check(number<float>(0, 1e30F));
    app.add_option("--epochs", options.epochs, "times to go through the text")->check(number<int>(0, 1000));
    app.add_option("--batch", options.batch, "words of a step")->check(number<std::size_t>(1, 1'000'000));
    app.add_option("--threads", options.threads, "0: all cores; any number gives the same result")->check(number<int>(0, 1024));
    app.add_option("--seed", options.model.seed, "of the first vectors and of what is drawn")->check(number<std::uint64_t>(0, UINT64_MAX));
    app.add_option("--hold-out", options.hold_out, "keep one of this many lines and print the loss of these; 0: none")->check(number<std::uint64_t>(0, 1'000'000'000));
    app.add_option("--save", options.save, "write the vectors there, in word2vec's format")->type_name("FILE")->default_str("");
    app.add_option("--load", options.load, "read such a file instead of a text")->type_name("FILE")->default_str("");
    app.add_flag("--binary", options.binary, "the files of --save and --load are binary");
    app.add_option("--nearest", options.nearest, "print the words nearest to this one; may be repeated")->allow_extra_args(false)->default_str("");
    app.add_option("--analogy", options.analogy, "A B C: print what is to C as B is to A")->type_size(3)->default_str("");
    app.footer("Words are runs of letters, in lower case (ASCII), or of digits.\n"
               "Exit status: 0, or 2 if an argument or a file cannot be used; a sentence on stderr says why.");
    return words::main_of(app, argc, argv, [&] { run(options); });
}
