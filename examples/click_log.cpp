// Writes logs of impressions and clicks in Criteo's format, a file for each day, from a model that is known, so that the
// best possible AUC is known, too: that of the probabilities with which the clicks were drawn.
//     logit = bias + sum of a weight for each number, and of one for each value of a category
//             + dot products of the factors of the values of pairs of categories
// Few values of a category are frequent, and most are rare (rank r has a probability of about 1 / r). Every day, a part
// of them, frequent ones also, is replaced by new values, but in the smallest categories.

#include "clicks/log.hpp"

#include <rowan/rowan.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

namespace {

using clicks::BadInput;
using clicks::categories;
using clicks::numbers;

struct Options {
    std::string folder;
    int days = 4;
    std::size_t examples = 250'000;
    double drift = 0.02;
    std::uint64_t seed = 1;
    bool gzip = false;
    int threads = 0;
};

/// Numbers that depend on what they are drawn for: hashes, uniform in [0, 1), normal.
std::uint64_t bits(std::uint64_t seed, std::uint64_t of) { return rowan::hash_key(of, seed); }
double uniform(std::uint64_t seed, std::uint64_t of) { return static_cast<double>(bits(seed, of) >> 11) * 0x1p-53; }
double normal(std::uint64_t seed, std::uint64_t of) {
    double const radius = std::sqrt(-2 * std::log(1 - uniform(seed, 2 * of)));
    return radius * std::cos(2 * std::numbers::pi * uniform(seed, 2 * of + 1));
}

/// The numbers of values of the categories: those of Criteo's, cut where a log of some 100,000 lines has no more.
constexpr std::array<double, categories> values_of{1'400, 550,   40'000, 20'000, 300,   20, 11'000, 600, 3,      9'000, 5'000, 30'000, 3'000,
                                                   26,    9'000, 25'000, 10,     4'500, 2'000, 4,   28'000, 17, 15,     16'000, 100, 12'000};
/// The pairs of categories whose factors are multiplied.
constexpr std::array<std::array<std::size_t, 2>, 4> pairs{{{5, 8}, {13, 16}, {19, 21}, {22, 24}}};

/// The model, and what is drawn from it.
class Clicks {
public:
    explicit Clicks(Options const& options) : seed_(bits(options.seed, 0)), drift_(options.drift), examples_(options.examples) {}

    /// Appends impression i of a day to `text`. Returns the probability of a click, and whether there was one.
    std::pair<double, bool> write(int day, std::size_t i, std::string& text) const {
        std::uint64_t const seed = bits(seed_, static_cast<std::uint64_t>(day) << 40 | i);
        double const time = day + static_cast<double>(i) / static_cast<double>(examples_);
        double logit = -1.4;
        std::array<std::int64_t, numbers> x{};
        for (std::size_t k = 0; k < numbers; ++k) {
            bool const empty = uniform(seed, 100 + k) < 0.05 * static_cast<double>(k % 5);
            double const size = std::exp(1.0 + static_cast<double>(k % 4) + normal(seed, 200 + k));
            x[k] = empty ? -1 : static_cast<std::int64_t>(size);
            double const weight = 0.15 * normal(seed_, 300 + k);
            if (!empty) logit += weight * (std::log1p(static_cast<double>(x[k])) - 1.0 - static_cast<double>(k % 4));
        }
        std::array<std::uint64_t, categories> value{};
        for (std::size_t c = 0; c < categories; ++c) {
            // Log-uniform ranks: rank r has probability log((r + 2) / (r + 1)) / log(values + 1).
            auto const rank = static_cast<std::uint64_t>(std::expm1(uniform(seed, 400 + c) * std::log1p(values_of[c])));
            std::uint64_t const slot = bits(seed_ + c + 1, rank);
            bool const lasts = values_of[c] <= 30;
            auto const generation = static_cast<std::uint64_t>(lasts ? 0.0 : time * drift_ + uniform(slot, 1));
            bool const empty = c % 7 == 5 && uniform(seed, 600 + c) < 0.1;
            value[c] = empty ? no_value : bits(slot, 2 + generation) >> 32;
            logit += weight_of(c) * normal(seed_ + 100 + c, value[c]);
        }
        for (auto const [a, b] : pairs) {
            for (std::uint64_t k : {0U, 1U})
                logit += 0.5 * normal(seed_ + 200 + a, 2 * value[a] + k) * normal(seed_ + 200 + b, 2 * value[b] + k);
        }
        double const probability = 1 / (1 + std::exp(-logit));
        bool const click = uniform(seed, 500) < probability;
        text += click ? '1' : '0';
        for (std::size_t k = 0; k < numbers; ++k) {
            text += '\t';
            if (x[k] >= 0) text += std::to_string(x[k]);
        }
        for (std::size_t c = 0; c < categories; ++c) {
            char digits[10];
            text.append(digits, static_cast<std::size_t>(value[c] == no_value ? std::snprintf(digits, sizeof digits, "\t") : std::snprintf(digits, sizeof digits, "\t%08" PRIx64, value[c])));
        }
        text += '\n';
        return {probability, click};
    }

private:
    static constexpr std::uint64_t no_value = std::uint64_t{1} << 32;

    /// The deviation of the weights of a category's values: those of large ones say little, as in real logs.
    static double weight_of(std::size_t c) { return values_of[c] <= 100 ? 0.4 : values_of[c] <= 2'000 ? 0.15 : 0.03; }

    std::uint64_t seed_;
    double drift_;
    std::size_t examples_;
};

void write_day(Options const& options, Clicks const& model, int day) {
    auto const path = std::filesystem::path(options.folder) / ("day_" + std::to_string(day) + (options.gzip ? ".gz" : ".tsv"));
    gzFile const file = gzopen(path.c_str(), options.gzip ? "wb1" : "wbT");
    rowan::Auc auc;
    rowan::NormalizedEntropy entropy;
    bool good = file != nullptr;
    constexpr std::size_t chunk = 1024, most = 64 * chunk;
    for (std::size_t begin = 0; good && begin < options.examples; begin += most) {
        std::size_t const n = std::min(most, options.examples - begin);
        std::vector<std::string> texts((n + chunk - 1) / chunk);
        auto probability = rowan::Tensor<double>::from_shape({n});
        auto label = rowan::Tensor<std::int64_t>::from_shape({n});
        rowan::parallel_for({.threads = options.threads}, n, chunk, [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) {
                auto const [p, click] = model.write(day, begin + i, texts[i / chunk]);
                probability(i) = p;
                label(i) = click;
            }
        });
        for (auto const& text : texts) good = good && gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size());
        auc.update(probability, label);
        entropy.update(probability, label);
    }
    if (file != nullptr) good = gzclose(file) == Z_OK && good;
    if (!good) throw BadInput(path.string() + " cannot be written");
    std::printf("%s: %zu lines; best AUC %.4f, log loss %.4f, normalized entropy %.4f\n", path.filename().c_str(), options.examples, auc.value(), entropy.log_loss(),
                entropy.value());
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Writes logs in Criteo's format, day_0.tsv, day_1.tsv, ..., with clicks drawn from a known model, and prints\n"
                 "the best AUC that a model can have on each.", "click_log");
    app.option_defaults()->always_capture_default();
    app.add_option("folder", options.folder, "where to write the files")->required()->default_str("");
    app.add_option("--days", options.days, "files, one for each day")->check(CLI::Range(1, 10'000));
    app.add_option("--examples", options.examples, "lines a day")->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40));
    app.add_option("--drift", options.drift, "part of the values that is replaced each day")->check(CLI::Range(0.0, 1.0));
    app.add_option("--seed", options.seed, "of everything that is drawn");
    app.add_option("--threads", options.threads, "0: all cores; any number gives the same files")->check(CLI::Range(0, 1024));
    app.add_flag("--gzip", options.gzip, "compress the files: day_0.gz, ...");
    try {
        app.parse(argc, argv);
        if (!std::isfinite(options.drift)) throw BadInput("--drift is not a number");
        std::filesystem::create_directories(options.folder);
        Clicks const model(options);
        for (int day = 0; day < options.days; ++day) write_day(options, model, day);
        if (std::ferror(stdout) != 0) throw BadInput("stdout cannot be written");
        return 0;
    } catch (CLI::ParseError const& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help
        std::fprintf(stderr, "click_log: %s\n", error.what());
        return 2;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "click_log: %s\n", error.what());
        return 2;
    }
}
