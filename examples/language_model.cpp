// Learns to predict the next word of a text, and writes more of it.
//   word -> row of a table -> GRU or LSTM -> scores: in training of the next word and of 512 sampled ones, else of all words
// Batches are neighbouring places of the text: the states after one batch begin the next (truncated backpropagation through
// time). words/language.hpp has the net, in layers. The result has the same bits for any number of threads.

#include "gloss/progress.hpp"
#include "words/language.hpp"
#include "words/numbers.hpp"
#include "words/text.hpp"

#include <CLI/CLI.hpp>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using words::BadInput;

constexpr std::int32_t rare = 0, line_end = 1;

struct Options {
    std::string file;
    words::LanguageOptions model;
    std::int64_t min_count = 3;
    std::size_t streams = 32, steps = 32;
    int epochs = 3, threads = 0;
    double rate = 2e-3, temperature = 0.7;
    std::size_t generate = 0;
    std::string prompt = "in the beginning";
    std::optional<std::string> save, load;
};

/// The words of a text in one list, with an end of line after each line: it is number 1, as it is frequent, and the words
/// after it are numbered one up.
std::vector<std::int32_t> joined(words::Lines const& lines) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        for (std::int32_t const id : lines[i]) ids.push_back(id == rare ? rare : id + 1);
        ids.push_back(line_end);
    }
    return ids;
}

/// Calls f(file) and converts its errors of rowan to BadInput.
template <class F>
void of_file(std::string const& file, F const& f) {
    try {
        f(file);
    } catch (rowan::Error const& error) {
        throw BadInput(file + ": " + error.what());
    }
}

void run(Options const& options) {
    auto text = words::numbered(options.file, words::read_tokens(options.file, gloss::held_out), options.min_count, "(rare)");
    text.words.insert(text.words.begin() + line_end, "\n");
    auto const train = joined(text.train), test = joined(text.test);
    if (test.size() < 2) throw BadInput(options.file + ": none of its lines is held out for the test; more are needed");
    std::printf("%zu words to learn from, %zu to test, %zu different ones\n", train.size(), test.size(), text.words.size());

    words::LanguageModel model(rowan::Cpu{.threads = options.threads}, text.words.size(), options.model);
    words::Streams const learned(train, options.streams), tested(test, options.streams);
    if (options.load) {
        of_file(*options.load, [&](std::string const& file) { model.load(file); });
        std::printf("loaded: perplexity %.2f, checksum %016" PRIx64 "\n", model.perplexity(tested), model.checksum());
    }
    for (int epoch = 1; epoch <= options.epochs && !options.load; ++epoch) {
        gloss::Progress progress("epoch " + std::to_string(epoch), train.size());
        double const loss = model.train(learned, options.steps, options.rate, [&](std::size_t n) { progress.advance(n); });
        progress.finish();
        std::printf("epoch %d: perplexity %.2f, training loss %.4f, checksum %016" PRIx64 "\n", epoch, model.perplexity(tested), loss, model.checksum());
        std::printf("  %.3f s, %.1f thousand words/s\n", progress.seconds(), progress.speed() * 1e3);
        std::fflush(stdout);
    }
    if (options.save) of_file(*options.save, [&](std::string const& file) { model.save(file); });
    if (options.generate == 0) return;

    std::unordered_map<std::string, std::int32_t> numbers;
    for (std::size_t i = 0; i < text.words.size(); ++i) numbers.emplace(text.words[i], static_cast<std::int32_t>(i));
    std::vector<std::int32_t> ids{line_end};
    gloss::for_each_word(options.prompt, [&](std::string const& word) {
        auto const found = numbers.find(word);
        if (found == numbers.end()) throw BadInput("--prompt: \"" + word + "\" is not a word of the text");
        ids.push_back(found->second);
    });
    words::Random random(options.model.seed);
    ids = model.generate(std::move(ids), options.generate, options.temperature, rare, [&] { return random.uniform(); });
    for (std::size_t i = 1; i < ids.size(); ++i) {
        auto const& word = text.words[static_cast<std::size_t>(ids[i])];
        std::printf("%s%s", word.c_str(), word == "\n" || i + 1 == ids.size() ? "" : " ");
    }
    std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Learns to predict the next word of a text, tests that on lines held out, and writes more of it.\n", "language_model");
    app.option_defaults()->always_capture_default();
    app.get_formatter()->column_width(28);
    using words::number;
    app.add_option("file", options.file, "a text in UTF-8")->type_name("")->required();
    app.add_option("--cell", options.model.cell, "gru or lstm")->check(CLI::IsMember({"gru", "lstm"}));
    app.add_option("--dim", options.model.dim, "numbers per word, and of the state")->check(number<std::int64_t>(1, 4096));
    app.add_option("--samples", options.model.samples, "words whose scores a step of training computes, besides the next ones")->check(number<std::int64_t>(1, 1'000'000));
    app.add_option("--min-count", options.min_count, "rarer words become one")->check(number<std::int64_t>(1, 1'000'000'000));
    app.add_option("--streams", options.streams, "places of the text that are read side by side")->check(number<std::size_t>(1, 65'536));
    app.add_option("--steps", options.steps, "words of each place in a step of training")->check(number<std::size_t>(1, 65'536));
    app.add_option("--epochs", options.epochs, "times to go through the text")->check(number<int>(0, 1000));
    app.add_option("--rate", options.rate, "learning rate of Adam")->check(number<double>(0, 100));
    app.add_option("--threads", options.threads, "0: all cores; any number gives the same result")->check(number<int>(0, 1024));
    app.add_option("--seed", options.model.seed, "of the first parameters and of what is drawn")->check(number<std::uint64_t>(0, UINT64_MAX));
    app.add_option("--generate", options.generate, "write this many words after the prompt")->check(number<std::size_t>(0, 1'000'000));
    app.add_option("--prompt", options.prompt, "the first of these words");
    app.add_option("--temperature", options.temperature, "0: the most probable words; 1: by their probabilities")->check(number<double>(0, 100));
    app.add_option("--save", options.save, "write the trained model there")->type_name("FILE")->default_str("");
    app.add_option("--load", options.load, "read such a model, of the same text, instead of training")->type_name("FILE")->default_str("");
    app.footer("Held out for the test, one line in ten: line n is if, with h = n * 2654435761 mod 2^32, the integer part of\n"
               "10 h / 2^32 is 0. Words are runs of letters, in lower case (ASCII), or of digits.\n"
               "Exit status: 0, or 2 if an argument or a file cannot be used; a sentence on stderr says why.");
    return words::main_of(app, argc, argv, [&] { run(options); });
}
