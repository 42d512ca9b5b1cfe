// Predicts from which of WordNet's 45 files (noun.animal, verb.motion, …) a definition comes.
//   --model bag   words -> rows of a table -> mean -> fully connected layer -> softmax   (below, in rowan's functions)
//                 with --word-ngrams and --maxn also n-grams of words and characters, hashed to rows, as in fastText
//   --model gru   words -> rows of a table -> GRU -> fully connected layer -> softmax    (gloss/nets.hpp, in layers)
//   --model attention   the same, with attention to the GRU's states after all words instead of the last state
// A batch of 64 definitions reads about 500 of the table's 53 080 rows. The gradient is a SelectedRows with these rows,
// and the optimizer updates only them. The text is WordNet's glosses, or a file with lines of label<TAB>text.
// Built with MPI, it runs on several ranks: mpirun -np 2 gloss_classifier_mpi --parts 8 --shard. The result is that of one
// process with the same --parts.

#include "gloss/features.hpp"
#include "gloss/nets.hpp"
#include "gloss/progress.hpp"
#include "gloss/text.hpp"

#include <rowan/rowan.hpp>
#ifdef __CUDACC__
#include <rowan/thrust.hpp>
#include <rowan/thrust/cublas.hpp>
#endif
#ifdef WITH_MPI
#include <rowan/distributed/mpi.hpp>
#endif

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using gloss::BadInput;
using gloss::Corpus;
using gloss::Features;
using gloss::Sentences;
using rowan::Tensor;

struct Options {
    std::optional<std::string> file;
    std::string wordnet = "/usr/share/wordnet";
    int epochs = 2;
    int threads = 0;
    std::uint64_t seed = 1;
    std::size_t dim = 64;
    gloss::NGrams ngrams;
    std::int64_t parts = 1;
    bool shard = false;
    std::string model = "gru";
    std::string device = "cpu";
    std::optional<std::string> save, load, dot;
    std::vector<std::string> definitions;
};

/// Random numbers that are the same with every standard library, unlike the distributions of <random>.
class Random {
public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}

    /// Elements uniform in [-bound, bound).
    Tensor<float> tensor(Tensor<float>::shape_type const& shape, float bound) {
        auto t = Tensor<float>::from_shape(shape);
        for (float& x : t) x = bound * (static_cast<float>(bits_() >> 40) * 0x1p-23f - 1.0f);
        return t;
    }

    void shuffle(std::vector<std::uint32_t>& items) {
        for (std::size_t n = items.size(); n > 1; --n) std::swap(items[n - 1], items[(bits_() >> 32) * n >> 32]);
    }

private:
    std::mt19937_64 bits_;
};

/// The bag model: its parameters and the states of their optimizers, and the steps of training. On the host, two threads
/// share a step, with the bits of one: while the first updates the table and reads the rows of the next sentences, the
/// second does what does not need the table; then both take some sentences through the layer behind it.
template <class Device>
class Classifier {
    using Floats = Tensor<float, Device>;

public:
    /// The first `words` of the table's rows are random at first, the others are zeros.
    Classifier(Device device, std::size_t words, std::size_t rows, std::size_t classes, std::size_t dim, Random& random)
        : device_(device), table_(rowan::to_device(device, first_table(words, rows, dim, random))),
          weight_(rowan::to_device(device, random.tensor({dim, classes}, 0.125f))),
          bias_(rowan::to_device(device, random.tensor({classes}, 0.125f))) {}

    /// The scores of every class for each sentence of a batch.
    Tensor<float> scores(Sentences const& batch) const {
        return rowan::to_host(rowan::fc(device_, means(device_, batch), weight_, bias_));
    }

    /// One epoch of training. make(b, batch) makes batch b, and step(b, mean loss) is called after its step.
    template <class Make, class Step>
    void train(std::size_t batches, Make const& make, Step const& step) {
        auto const made = [&](std::size_t b) {
            Batch batch;
            if (b < batches) make(b, batch.text);
            return batch;
        };
        if constexpr (on_host) {
            Batch now = made(0), next = made(1);
            now.plan = plan(now.text);
            now.mean = means(alone, now.text);
            for (std::size_t b = 0; b < batches; ++b) {
                ++step_;
                double const loss = learn_sentences(now);
                Batch later;
                each_share(4, [&](std::size_t k) {
                    if (k == 0) {
                        rowan::adagrad(alone, now.plan, table_, table_moment_, mean_grad_, of_table);
                        next.mean = means(alone, next.text);
                    }
                    if (k == 1) next.plan = plan(next.text);
                    if (k == 2) later = made(b + 2);
                    if (k == 3)
                        learn_weights(rowan::matmul(alone, now.mean, scores_grad_, {.transpose_x = true}),
                                      rowan::reduce_sum(alone, scores_grad_, {.axes = {0}}));
                });
                now = std::exchange(next, std::move(later));
                step(b, loss);
            }
        } else {
            for (std::size_t b = 0; b < batches; ++b) {
                ++step_;
                step(b, learn(made(b).text));
            }
        }
    }

    Tensor<float> rows(std::size_t) const { return rowan::to_host(table_); }

    /// A hash of all bits of the parameters.
    std::uint64_t checksum() const {
        std::uint64_t hash = 14695981039346656037u;
        for (auto const* t : {&table_, &weight_, &bias_}) {
            for (float const x : rowan::to_host(*t)) hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 1099511628211u;
        }
        return hash;
    }

private:
    struct Batch {
        Sentences text;
        rowan::RowPlan<> plan;  // its rows, with their sentences
        Floats mean;            // of the rows of each sentence
    };

    static constexpr bool on_host = std::is_same_v<Device, rowan::Cpu>;
    static constexpr rowan::Cpu alone{.threads = 1};
    static constexpr std::size_t most_shares = 4;  // of the sentences of a batch: less than 16 take as long as 16
    static constexpr rowan::BagOptions of_means{.pool = rowan::Pooling::mean};
    static constexpr rowan::AdaGradOptions of_table{.learning_rate = 0.1, .epsilon = 1e-10};

    static Tensor<float> first_table(std::size_t words, std::size_t rows, std::size_t dim, Random& random) {
        auto drawn = random.tensor({words, dim}, 0.1f);
        if (rows == words) return drawn;
        auto table = Tensor<float>::from_shape({rows, dim});
        std::fill(std::copy(drawn.begin(), drawn.end(), table.begin()), table.end(), 0.0f);
        return table;
    }

    /// The rows of each sentence.
    rowan::LoDTensor<std::int32_t, Device> bags(Sentences const& text) const {
        rowan::Lod lod{std::vector<std::int64_t>(text.offsets.begin(), text.offsets.end())};
        return {rowan::to_device(device_, Tensor<std::int32_t>::borrow(text.words, {text.words.size()})),
                std::move(lod)};
    }
    Floats means(Device device, Sentences const& text) const {
        return rowan::embedding_bag(device, table_, bags(text), of_means).value().share();
    }
    rowan::RowPlan<> plan(Sentences const& text) const {
        std::vector<std::int64_t> const offsets(text.offsets.begin(), text.offsets.end());
        return {alone, text.words, offsets, static_cast<std::int64_t>(table_.shape(0))};
    }

    /// Calls f(k) for each share, on several threads.
    template <class F>
    void each_share(std::size_t shares, F const& f) const {
        rowan::parallel_for(device_, shares, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) f(k);
        });
    }

    /// Makes the gradients of the scores, and of the rows of each sentence; returns the mean loss.
    double learn_sentences(Batch const& batch) {
        std::size_t const n = batch.text.size(),
                          shares = std::min({n, static_cast<std::size_t>(rowan::thread_count(device_)), most_shares});
        loss_.resize({n});
        mean_grad_.resize({n, weight_.shape(0)});
        scores_grad_.resize({n, weight_.shape(1)});
        each_share(shares, [&](std::size_t k) { learn_sentences(batch, k * n / shares, (k + 1) * n / shares); });
        return std::accumulate(loss_.begin(), loss_.end(), 0.0) / static_cast<double>(n);
    }
    void learn_sentences(Batch const& batch, std::size_t begin, std::size_t end) {
        std::size_t const n = end - begin;
        rowan::CrossEntropyOptions const of_each{.reduction = rowan::Reduction::none};
        auto const label = Tensor<std::int32_t>::borrow(batch.text.labels.data() + begin, {n});
        auto const scores = rowan::fc(alone, batch.mean.slice(begin, end), weight_, bias_);
        auto const [loss, softmax] = rowan::cross_entropy(alone, scores, label, of_each);
        auto const share = Floats::full({n}, 1.0f / static_cast<float>(batch.text.size()));
        auto const scores_grad = rowan::cross_entropy_grad(alone, softmax, label, share, of_each);
        auto mean_grad = rowan::matmul(alone, scores_grad, weight_, {.transpose_y = true});
        for (std::size_t i = 0; i < n; ++i) {
            float const part = 1.0f / static_cast<float>(std::max<std::size_t>(batch.text[begin + i].size(), 1));
            for (float& x : mean_grad.row(i)) x *= part;
        }
        auto const put = [&](Floats const& rows, Floats& all) {
            std::copy_n(rows.data(), rows.size(), all.data() + begin * all.row_size());
        };
        put(loss, loss_);
        put(mean_grad, mean_grad_);
        put(scores_grad, scores_grad_);
    }

    /// A step on a device; returns the mean loss.
    double learn(Sentences const& batch) {
        auto const ids = bags(batch);
        auto const label = rowan::to_device(device_, Tensor<std::int32_t>::borrow(batch.labels, {batch.size()}));
        auto const mean = means(device_, batch);
        auto const scores = rowan::fc(device_, mean, weight_, bias_);
        auto const [loss, softmax] = rowan::cross_entropy(device_, scores, label);

        auto const scores_grad = rowan::cross_entropy_grad(device_, softmax, label, Floats::full(device_, {1}, 1.0f));
        auto const [mean_grad, weight_grad, bias_grad] = rowan::gradients<rowan::fc_op>(
            device_, std::tie(mean, weight_, bias_), std::tie(scores), std::tie(scores_grad));
        rowan::adagrad(device_, table_, table_moment_,
                       rowan::embedding_bag_grad(device_, table_, ids, mean_grad, of_means), of_table);
        learn_weights(weight_grad, bias_grad);
        return static_cast<double>(rowan::to_host(loss)(0));
    }

    void learn_weights(Floats const& weight_grad, Floats const& bias_grad) {
        rowan::adam(device_, weight_, weight_m1_, weight_m2_, weight_grad, {.learning_rate = 2e-3, .step = step_});
        rowan::adam(device_, bias_, bias_m1_, bias_m2_, bias_grad, {.learning_rate = 2e-3, .step = step_});
    }

    Floats zeros_like(Floats const& x) const { return Floats::zeros(device_, x.shape()); }

    Device device_;
    Floats table_, weight_, bias_;
    Floats table_moment_ = zeros_like(table_);
    Floats weight_m1_ = zeros_like(weight_), weight_m2_ = zeros_like(weight_);  // Adam's first and second moments
    Floats bias_m1_ = zeros_like(bias_), bias_m2_ = zeros_like(bias_);
    Floats loss_, mean_grad_, scores_grad_;  // of the sentences of a batch
    std::int64_t step_ = 0;
};

constexpr std::size_t batch_size = 64;

/// The fraction of sentences whose class has the highest score.
template <class Model>
double accuracy(Model& model, Features const& features, Sentences const& test) {
    std::size_t right = 0;
    Sentences batch;
    for (std::size_t begin = 0; begin < test.size(); begin += batch_size) {
        batch.clear();
        for (std::size_t i = begin; i < std::min(begin + batch_size, test.size()); ++i) {
            features.add(test[i], test.labels[i], batch);
        }
        Tensor<float> const& scores = model.scores(batch);
        for (std::size_t i = 0; i < batch.size(); ++i) {
            auto const row = scores.row(i);
            right += std::max_element(row.begin(), row.end()) - row.begin() == batch.labels[i];
        }
    }
    return static_cast<double>(right) / static_cast<double>(test.size());
}

template <class Model>
void print_epoch(Model& model, Features const& features, Corpus const& corpus, std::int64_t epoch, double loss) {
    std::printf("epoch %" PRId64 ": test accuracy %.4f, training loss %.4f, checksum %016" PRIx64 "\n", epoch,
                accuracy(model, features, corpus.test), loss, model.checksum());
}

std::vector<std::uint32_t> new_order(std::size_t sentences, Random& random) {
    std::vector<std::uint32_t> order(sentences);
    std::iota(order.begin(), order.end(), 0u);
    random.shuffle(order);
    return order;
}

/// Trains the bag model for one epoch, in a new order.
template <class Model>
void run_epoch(Model& model, Features const& features, Corpus const& corpus, int epoch, Random& random) {
    auto const order = new_order(corpus.train.size(), random);
    gloss::Progress progress("epoch " + std::to_string(epoch), corpus.train.words.size());
    double loss = 0.0;
    auto const sentences = [&](std::size_t b) {
        return std::span(order).subspan(b * batch_size, std::min(batch_size, order.size() - b * batch_size));
    };
    auto const make = [&](std::size_t b, Sentences& batch) {
        for (auto const i : sentences(b)) features.add(corpus.train[i], corpus.train.labels[i], batch);
    };
    auto const step = [&](std::size_t b, double mean_loss) {
        std::size_t tokens = 0;
        for (auto const i : sentences(b)) tokens += corpus.train[i].size();
        loss += mean_loss * static_cast<double>(sentences(b).size());
        progress.advance(tokens);
    };
    model.train((order.size() + batch_size - 1) / batch_size, make, step);
    progress.finish();
    print_epoch(model, features, corpus, epoch, loss / static_cast<double>(order.size()));
    std::printf("  %.3f s, %.2f million tokens/s\n", progress.seconds(), progress.speed());
    std::fflush(stdout);
}

/// For the frequent words with the longest rows, which say most about a class, prints the words with the most similar
/// rows (by cosine).
template <class Model>
void print_neighbours(Model& model, Corpus const& corpus) {
    std::size_t const known = std::min<std::size_t>(corpus.words.size(), 5000);  // rarer words have learned little
    Tensor<float> const& table = model.rows(known);
    auto const dot = [&](std::size_t a, std::size_t b) {
        auto const x = table.row(a);
        return std::inner_product(x.begin(), x.end(), table.row(b).begin(), 0.0);
    };
    std::vector<double> length;
    for (std::size_t word = 0; word < known; ++word) length.push_back(std::sqrt(dot(word, word)));
    std::vector<std::size_t> frequent;
    for (std::size_t word = 1; word < std::min<std::size_t>(known, 500); ++word) {
        if (corpus.words[word].size() > 4) frequent.push_back(word);
    }
    std::stable_sort(frequent.begin(), frequent.end(), [&](auto a, auto b) { return length[a] > length[b]; });

    std::printf("nearest neighbours\n");
    for (std::size_t const word : std::span(frequent).first(std::min<std::size_t>(frequent.size(), 8))) {
        std::vector<std::pair<double, std::size_t>> near;
        for (std::size_t other = 1; other < known; ++other) {
            if (other != word) near.emplace_back(-dot(word, other) / (length[word] * length[other]), other);
        }
        auto const shown = near.begin() + std::min<std::ptrdiff_t>(std::ssize(near), 5);
        std::partial_sort(near.begin(), shown, near.end());
        std::printf("  %s:", corpus.words[word].c_str());
        for (auto [cosine, other] : std::span(near.begin(), shown)) {
            std::printf(" %s %.2f", corpus.words[other].c_str(), -cosine);
        }
        std::printf("\n");
    }
}

/// Prints the three most probable classes of a definition.
template <class Model>
void classify(Model& model, Features const& features, Corpus const& corpus, std::string const& definition) {
    Sentences batch;
    features.add(definition, 0, batch);
    if (std::ranges::none_of(batch.words, [&](auto row) { return features.knows(row); })) {
        std::printf("  no word of this is known\n");
        return;
    }
    auto probabilities = rowan::softmax(model.scores(batch));
    auto const probability = probabilities.row(0);
    for (int k = 0; k < 3 && k < std::ssize(corpus.classes); ++k) {
        auto const best = std::max_element(probability.begin(), probability.end());
        auto const& name = corpus.classes[static_cast<std::size_t>(best - probability.begin())];
        std::printf("  %s %.3f", name.c_str(), static_cast<double>(*best));
        *best = -1.0f;
    }
    std::printf("\n");
}

void check_definition(std::string const& where, std::string const& text) {
    if (auto const bad = gloss::invalid_utf8(text); bad != text.size()) {
        throw BadInput(where + ": byte " + std::to_string(bad + 1) + " is not UTF-8");
    }
}

/// Classifies the lines of stdin until it ends.
template <class Model>
void prompt(Model& model, Features const& features, Corpus const& corpus) {
    bool const terminal = ::isatty(STDIN_FILENO) != 0;
    if (terminal) std::printf("type a definition; end of input (Ctrl-D) closes\n");
    std::string line;
    for (std::uint64_t number = 1;; ++number) {
        if (terminal) std::printf("> ");
        std::fflush(stdout);
        if (!std::getline(std::cin, line)) break;
        if (!terminal) {
            check_definition("stdin, line " + std::to_string(number), line);
            std::printf("%s\n", line.c_str());
        }
        classify(model, features, corpus, line);
    }
    if (terminal) std::printf("\n");
}

template <class Model>
void answer(Model& model, Features const& features, Corpus const& corpus, Options const& options, bool ask) {
    print_neighbours(model, corpus);
    for (std::string const& definition : options.definitions) {
        std::printf("%s\n", definition.c_str());
        classify(model, features, corpus, definition);
    }
    if (options.definitions.empty() && ask) prompt(model, features, corpus);
}

void write_text(std::string const& file, std::string const& text) {
    std::ofstream out(file);
    out << text;
    if (!out.flush()) throw BadInput(file + " cannot be written");
}

/// Calls f and converts its errors of rowan to BadInput.
template <class F>
void of_file(F const& f) {
    try {
        f();
    } catch (rowan::Error const& error) {
        throw BadInput(error.what());
    }
}

template <class Device, rowan::communicator Comm>
void run(Device device, Comm const& comm, Options const& options) {
    for (std::string const& definition : options.definitions) check_definition("--classify", definition);
    Corpus corpus;
    rowan::together(comm, [&] { corpus = options.file ? gloss::read_labelled(*options.file) : gloss::read_wordnet(options.wordnet); });
    std::printf("%zu training and %zu test sentences, %zu ids, %zu training tokens, %zu test tokens, %zu classes\n",
                corpus.train.size(), corpus.test.size(), corpus.words.size(), corpus.train.words.size(),
                corpus.test.words.size(), corpus.classes.size());

    Features const features(corpus, options.ngrams);
    Random random(options.seed);
    if (options.model != "bag") {
        gloss::NetClassifier model(device, comm, options.model, corpus.words.size(), corpus.classes.size(), static_cast<std::int64_t>(options.dim), options.shard);
        if (options.dot && comm.rank() == 0) write_text(*options.dot, model.dot());
        if (options.load) {
            of_file([&] { model.load(*options.load); });
            std::printf("loaded: test accuracy %.4f, checksum %016" PRIx64 "\n", accuracy(model, features, corpus.test),
                        model.checksum());
        } else {
            model.train(
                corpus.train, options.epochs, options.parts, options.seed,
                [&](std::int64_t) { return new_order(corpus.train.size(), random); },
                [&](std::int64_t epoch, double loss) { print_epoch(model, features, corpus, epoch + 1, loss); });
        }
        if (options.save) of_file([&] { model.save(*options.save); });
        answer(model, features, corpus, options, comm.size() == 1);  // only one rank has a standard input
    } else {
        if (options.ngrams.any())
            std::printf("%zu buckets of n-grams have a row\n", features.rows() - corpus.words.size() - 1);
        Classifier<Device> model(device, corpus.words.size(), features.rows(), corpus.classes.size(), options.dim,
                                 random);
        for (int epoch = 1; epoch <= options.epochs; ++epoch) run_epoch(model, features, corpus, epoch, random);
        answer(model, features, corpus, options, true);
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw std::runtime_error("stdout cannot be written");
}

template <rowan::communicator Comm>
void run(Comm const& comm, Options const& options) {
    if (options.device == "cpu") return run(rowan::Cpu{.threads = options.threads}, comm, options);
#ifdef __CUDACC__
    run(rowan::Cuda{}, comm, options);
#else
    throw BadInput("--device cuda: this program was built without CUDA (cmake -DROWAN_CUDA=ON builds it with it)");
#endif
}

/// Accepts only whole numbers from `low` to `high`.
CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
    auto const range = "from " + std::to_string(low) + " to " + std::to_string(high);
    return {[=](std::string const& text) {
                std::uint64_t value = 0;
                auto const* const end = text.data() + text.size();
                auto const [stop, error] = std::from_chars(text.data(), end, value);
                bool const good = error == std::errc{} && stop == end && value >= low && value <= high;
                return good ? std::string() : "\"" + text + "\" is not a whole number " + range;
            },
            "", ""};
}

template <rowan::communicator Comm>
int work(Comm const& comm, int argc, char** argv) {
    // Rank 0 prints, also the errors of others.
    if (comm.rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
    auto const complain = [&](char const* what) {
        std::fflush(stdout);
        if (comm.rank() == 0) std::fprintf(stderr, "gloss_classifier: %s\n", what);
    };
    Options options;
    CLI::App app(
        "Learns which of WordNet's 45 files (noun.animal, verb.motion, ...) a definition comes from,\n"
        "tests that on definitions held out, and classifies yours: those given with --classify,\n"
        "or else the lines of standard input.\n",
        "gloss_classifier");
    app.option_defaults()->always_capture_default();
    app.get_formatter()->column_width(28);
    app.add_option("file", options.file, "lines of label<TAB>text in UTF-8, instead of WordNet")
        ->type_name("")
        ->default_str("");
    app.add_option("--epochs", options.epochs, "times to go through the training part")->check(whole_number(0, 1000));
    app.add_option("--device", options.device, "cpu, or cuda where the program was built with CUDA")->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_option("--threads", options.threads, "0: all cores; any number gives the same result")
        ->check(whole_number(0, 1024));
    app.add_option("--seed", options.seed, "of the first parameters and the order")->check(whole_number(0, UINT64_MAX));
    app.add_option("--dim", options.dim, "numbers per word")->check(whole_number(1, 1024));
    app.add_option("--model", options.model, "bag (the mean of the words), gru (a recurrent net) or attention (to all states of one)")->check(CLI::IsMember({"bag", "gru", "attention"}));
    auto* const word_ngrams =
        app.add_option("--word-ngrams", options.ngrams.words, "bag: runs of up to so many words also have rows")
            ->check(whole_number(1, 100));
    auto* const minn =
        app.add_option("--minn", options.ngrams.least, "bag: the fewest characters of an n-gram within a word")
            ->check(whole_number(0, 100));
    auto* const maxn = app.add_option("--maxn", options.ngrams.most, "bag: the most; 0: without these n-grams")
                           ->check(whole_number(0, 100));
    auto* const buckets =
        app.add_option("--buckets", options.ngrams.buckets, "bag: numbers to which n-grams are hashed")
            ->check(whole_number(1, 100'000'000));
    auto* const parts = app.add_option("--parts", options.parts, "batches that make a step; the ranks of mpirun share them out")->check(whole_number(1, 1024));
    auto* const shard = app.add_flag("--shard", options.shard, "each rank of mpirun has a part of the table");
    auto* const save = app.add_option("--save", options.save, "write the trained gru or attention model there")->type_name("FILE")->default_str("");
    auto* const load = app.add_option("--load", options.load, "read such a model instead of training")->type_name("FILE")->default_str("");
    auto* const dot = app.add_option("--dot", options.dot, "write the net there, for Graphviz")->type_name("FILE")->default_str("");
    app.add_option("--classify", options.definitions, "a definition to classify; may be repeated")
        ->allow_extra_args(false)
        ->default_str("");
    app.add_option("--wordnet", options.wordnet, "where data.noun, .verb, .adj and .adv are")->type_name("DIR");
    app.footer(
        "Held out for the test, one sentence in ten: line n of a file is if, with h = n * 2654435761 mod 2^32,\n"
        "the integer part of 10 h / 2^32 is 0. For WordNet n = 4 * offset + (0 noun, 1 verb, 2 adj, 3 adv).\n"
        "Words are runs of letters, in lower case (ASCII), or of digits.\n"
        "Exit status: 0, or 2 if an argument or the text cannot be used; a sentence on stderr says why.");
    try {
        app.parse(argc, argv);
        for (auto const* option : {parts, shard, save, load, dot}) {
            if (option->count() != 0 && options.model == "bag")
                throw BadInput(option->get_name() + " is for --model gru or attention: the bag model has no net");
        }
        for (auto const* option : {word_ngrams, minn, maxn, buckets}) {
            if (option->count() != 0 && options.model != "bag")
                throw BadInput(option->get_name() + " is for --model bag");
        }
        if (options.ngrams.least > options.ngrams.most)
            throw BadInput("--minn " + std::to_string(options.ngrams.least) + " is more than --maxn " +
                           std::to_string(options.ngrams.most));
        if (comm.size() > 1 && options.model == "bag") throw BadInput("several ranks are for --model gru or attention");
        if (options.shard && options.device != "cpu") throw BadInput("--shard is for --device cpu");
        if (!options.load && options.parts < comm.size())
            throw BadInput("--parts " + std::to_string(options.parts) + " leaves ranks without work: give at least " + std::to_string(comm.size()));
        run(comm, options);
        return 0;
    } catch (CLI::ParseError const& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help
        complain(error.what());
        return 2;
    } catch (BadInput const& error) {
        complain(error.what());
        return 2;
    } catch (std::exception const& error) {
        complain(error.what());
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
#ifdef WITH_MPI
    return rowan::run_mpi(argc, argv, [&](rowan::Mpi const& comm) { return work(comm, argc, argv); });
#else
    return work(rowan::Self{}, argc, argv);
#endif
}
