// Predicts clicks from logs in Criteo's format: a label, 13 numbers and 26 categories, separated by tabs.
//   13 numbers    -> layers      -> a vector   \  dot products
//   26 categories -> a row each  -> 26 vectors /  of all pairs  -> layers -> the probability of a click
// The categories are hashes without a bound. Each new one gets a row of a table that grows, and a row-sparse gradient
// changes only the rows that a batch names. Logs are streamed: a file for each day, plain or compressed by gzip, or the
// standard input. The model is tested on each day before it learns from it. click_log writes such logs.
// Built with MPI, it runs on several ranks: mpirun -np 2 click_model_mpi --parts 8 --shard day_*.gz. The result is that
// of one process with the same --parts.

#include "clicks/log.hpp"
#include "clicks/model.hpp"

#include <rowan/rowan.hpp>
#ifdef WITH_MPI
#include <rowan/distributed/mpi.hpp>
#endif

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace {

using clicks::BadInput;
using clicks::Batch;
using clicks::Floats;

struct Options {
    std::vector<std::string> files;
    std::size_t batch = 1024;
    int threads = 0;
    bool shard = false, serve = false, test = false;
    std::optional<std::size_t> group;
    std::optional<std::string> save, load;
    clicks::ModelOptions model;
};

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string name_of(std::string const& file) { return file == "-" ? "stdin" : std::filesystem::path(file).filename().string(); }

/// What is said of predictions.
class Metrics {
public:
    explicit Metrics(std::optional<std::size_t> group) : group_(group) {}

    void update(Floats const& p, Batch const& batch) {
        std::size_t const n = batch.size();
        auto labels = rowan::Tensor<std::int64_t>::from_shape({n});
        std::ranges::copy(batch.labels, labels.begin());
        auc_.update(p, labels);
        entropy_.update(p, labels);
        calibration_.update(p, labels);
        if (!group_) return;
        auto groups = rowan::Tensor<std::int64_t>::from_shape({n});
        for (std::size_t i = 0; i < n; ++i) groups(i) = batch.keys[i * clicks::vectors + *group_];
        by_group_.update(p, labels, groups);
    }
    void print() const {
        show("AUC", 4, auc_.value());
        show(", log loss", 4, entropy_.log_loss());
        show(", normalized entropy", 4, entropy_.value());
        show(", calibration", 3, calibration_.value());
        if (group_) show((", AUC within C" + std::to_string(*group_)).c_str(), 4, by_group_.value());
    }

private:
    static void show(char const* name, int digits, double value) {
        if (std::isfinite(value))
            std::printf("%s %.*f", name, digits, value);
        else
            std::printf("%s none", name);  // there is one class alone
    }

    std::optional<std::size_t> group_;
    rowan::Auc auc_{std::size_t{1} << 16};  // buckets, so that the memory does not grow
    rowan::NormalizedEntropy entropy_;
    rowan::Calibration calibration_;
    rowan::GroupAuc by_group_;
};

/// What went through a model: the number of examples, and the seconds in all and for reading and parsing the log.
struct Passed {
    std::size_t examples = 0;
    double seconds = 0, reading = 0;
};

/// Calls f(batch) for each batch of a log, and shows the progress on a terminal.
template <class F>
Passed each_batch(Options const& options, std::string const& file, char const* what, F const& f) {
    clicks::LogReader log(file);
    Batch batch;
    Passed passed;
    bool const terminal = ::isatty(STDOUT_FILENO) != 0;
    double const start = seconds();
    for (double now = start, shown = start;;) {
        bool const more = log.next({options.threads}, batch, options.batch);
        passed.reading += seconds() - now;
        if (!more) break;
        f(batch);
        passed.examples += batch.size();
        now = seconds();
        if (!terminal || now < shown + 0.1) continue;
        shown = now;
        std::printf("\r%s: %s %zu examples, %.0f examples/s ", name_of(file).c_str(), what, passed.examples, static_cast<double>(passed.examples) / (now - start));
        std::fflush(stdout);
    }
    passed.seconds = seconds() - start;
    if (terminal) std::printf("\r\033[K");
    if (passed.examples == 0) throw BadInput(file + " has no lines");
    return passed;
}

template <class Model>
void test(Model& model, Options const& options, std::string const& file) {
    Metrics metrics(options.group);
    Passed const passed = each_batch(options, file, "tested on", [&](Batch const& batch) { metrics.update(model.predict(batch), batch); });
    std::printf("%s, before training: ", name_of(file).c_str());
    metrics.print();
    std::printf(" on %zu examples\n", passed.examples);
    std::fflush(stdout);
}

/// The memory of this process, in MB.
double resident() {
    std::size_t all = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> all >> pages;
    return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) * 1e-6;
}

template <class Model>
void train(Model& model, Options const& options, std::string const& file) {
    Metrics metrics(options.group);
    Passed const passed = each_batch(options, file, "trained on", [&](Batch const& batch) { metrics.update(model.train(batch), batch); });
    std::printf("%s, while training:  ", name_of(file).c_str());
    metrics.print();
    std::printf("\n  %" PRId64 " keys, checksum %016" PRIx64 "\n", model.keys(), model.hash());
    std::printf("  %.2f s, %.2f of them to read the log, %.0f examples/s, %.0f MB\n", passed.seconds, passed.reading,
                static_cast<double>(passed.examples) / passed.seconds, resident());
    std::fflush(stdout);
}

/// Answers each line of the standard input with a probability. All lines have a label, or all have none. Prints to stderr
/// how long that took, of the last million.
template <class Model>
void serve(Model& model) {
    constexpr std::size_t most = 1'000'000;
    std::vector<double> times;
    std::size_t number = 0, fields = 0;
    auto const print_times = [&] {
        if (times.empty()) return;
        std::ranges::sort(times);
        auto const part = [&](double p) { return 1e6 * times[static_cast<std::size_t>(std::ceil(p * static_cast<double>(times.size()))) - 1]; };
        std::fflush(stdout);
        std::fprintf(stderr, "%zu answers; p50 %.0f us, p99 %.0f us\n", number, part(0.5), part(0.99));
    };
    Batch batch;
    batch.resize(1);
    for (std::string line; std::getline(std::cin, line); ++number) {
        double const start = seconds();
        clicks::Line read(line);
        if (number == 0) fields = read.fields() == clicks::Line::all_fields - 1 ? read.fields() : clicks::Line::all_fields;
        try {
            read.read(batch, 0, fields, false);
        } catch (BadInput const& bad) {
            print_times();
            throw BadInput("stdin, line " + std::to_string(number + 1) + ": " + bad.what());
        }
        std::printf("%.6g\n", static_cast<double>(model.predict(batch)(0)));
        if (std::cin.rdbuf()->in_avail() <= 0 && std::fflush(stdout) != 0) throw std::runtime_error("stdout cannot be written");  // whoever asks may wait for the answer
        double const time = seconds() - start;
        if (times.size() < most)
            times.push_back(time);
        else
            times[number % most] = time;
    }
    print_times();
}

/// Calls f(file) and names the file in its errors.
template <class F>
void of_file(std::string const& file, F const& f) {
    try {
        f(file);
    } catch (rowan::Error const& error) {
        throw BadInput(file + ": " + error.what());
    } catch (BadInput const& error) {
        throw BadInput(file + ": " + error.what());
    }
}

/// Throws BadInput for what can be known to fail before anything is learned.
void check_files(Options const& options) {
    for (auto const& file : options.files) {
        if (file != "-" && ::access(file.c_str(), R_OK) != 0) throw BadInput(file + " cannot be read: " + std::strerror(errno));
    }
    if (!options.save) return;
    auto const folder = std::filesystem::path(*options.save).parent_path();
    if (options.save->empty() || std::filesystem::is_directory(*options.save) || (!folder.empty() && !std::filesystem::is_directory(folder)))
        throw BadInput("--save " + *options.save + " is no file in a folder that exists");
}

template <template <class> class Table, rowan::communicator Comm>
void run(Comm const& comm, Options options) {
    check_files(options);
    if (options.load) of_file(*options.load, [&](auto const& file) { options.model = clicks::saved_options(file, options.model); });
    clicks::ClickModel<Comm, Table> model(comm, {options.threads}, options.model);
    if (options.load) of_file(*options.load, [&](auto const& file) { model.load(file); });
    bool learned = options.load.has_value();
    for (auto const& file : options.files) {
        bool const twice = std::filesystem::is_regular_file(file);  // a pipe can be read only once
        if (options.test || (learned && twice)) test(model, options, file);
        if (options.test) continue;
        model.begin_day();
        train(model, options, file);
        learned = true;
        if (options.save) of_file(*options.save, [&](auto const& to) { model.save(to); });
    }
    if (options.serve) serve(model);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw std::runtime_error("stdout cannot be written");
}

/// Takes numbers in [low, high], also where CLI11 would take nan or convert -1.
CLI::Validator number_in(double low, double high) {
    return {[=](std::string const& text) {
                double x = 0;
                auto const* const end = text.data() + text.size();
                auto const [stop, error] = std::from_chars(text.data(), end, x);
                bool const good = error == std::errc{} && stop == end && x >= low && x <= high;
                return good ? std::string() : "\"" + text + "\" is not a number from " + CLI::detail::to_string(low) + " to " + CLI::detail::to_string(high);
            },
            "", ""};
}

template <rowan::communicator Comm>
int work(Comm const& comm, int argc, char** argv) {
    // Rank 0 prints, also errors that all have.
    if (comm.rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
    auto const complain = [&](char const* what) {
        std::fflush(stdout);
        if (comm.rank() == 0) std::fprintf(stderr, "click_model: %s\n", what);
    };
    Options options;
    auto& model = options.model;
    CLI::App app("Learns from logs of impressions in Criteo's format whether they are clicked: files of one day after the\n"
                 "other. Each is predicted before the model learns from it.\n", "click_model");
    app.option_defaults()->always_capture_default();
    app.get_formatter()->column_width(28);
    app.add_option("files,--days", options.files, "logs, one for each day, plain or of gzip; -: the standard input")->type_name("FILE")->default_str("");
    app.add_option("--batch", options.batch, "examples that make a step")->check(number_in(1, 1 << 20));
    auto* const dim = app.add_option("--dim", model.dim, "numbers per key")->check(number_in(1, clicks::most_dim));
    auto* const bottom = app.add_option("--bottom", model.bottom, "sizes of the hidden layers for the numbers")->delimiter(',')->check(number_in(1, clicks::most_width))->type_name("N,...");
    auto* const top = app.add_option("--top", model.top, "sizes of the hidden layers for the interactions")->delimiter(',')->check(number_in(1, clicks::most_width))->type_name("N,...");
    auto* const sightings = app.add_option("--sightings", model.sightings, "a key gets a row when it is seen this often")->check(number_in(1, clicks::most_sightings));
    auto* const seed = app.add_option("--seed", model.seed, "of the first parameters")->check(number_in(0, 1e15));
    app.add_option("--forget", model.forget, "a key that was not seen for this many days loses its row; 0: never")->check(number_in(0, 1'000'000));
    app.add_option("--rate", model.rate, "learning rate of the table's row-wise AdaGrad")->check(number_in(0, 100));
    app.add_option("--dense-rate", model.dense_rate, "learning rate of the layers' Adam")->check(number_in(0, 100));
    app.add_option("--group", options.group, "print the AUC within each value of this category, too, 1 to 26")->check(number_in(1, 26))->default_str("");
    app.add_option("--threads", options.threads, "0: all cores; any number gives the same result")->check(number_in(0, 1024));
    app.add_option("--parts", model.parts, "parts of a batch, which the ranks of mpirun share out")->check(number_in(1, 1024));
    app.add_flag("--shard", options.shard, "each rank of mpirun has a part of the table");
    app.add_option("--save", options.save, "write the model there after each day")->type_name("FILE")->default_str("");
    app.add_option("--load", options.load, "begin with such a model")->type_name("FILE")->default_str("");
    app.add_flag("--test", options.test, "only predict the logs");
    app.add_flag("--serve", options.serve, "then answer lines of the standard input, with or without a label, with probabilities");
    for (auto* const option : {dim, bottom, top, sightings, seed}) option->description(option->get_description() + "; of --load, if given");
    app.footer("Exit status: 0, or 2 if an argument or a log cannot be used; a sentence on stderr says why.");
    try {
        app.parse(argc, argv);
        auto const from_stdin = std::ranges::count(options.files, "-");
        if (options.files.empty() && !options.load) throw BadInput("nothing to learn from: give logs, or a model by --load");
        if (options.test && !options.load) throw BadInput("--test needs a model: give one by --load");
        if (from_stdin > 1 || (from_stdin == 1 && options.serve)) throw BadInput("the standard input can be read only once");
        if (comm.size() > 1 && (from_stdin != 0 || options.serve)) throw BadInput("only one rank has a standard input");
        if (model.parts < static_cast<std::size_t>(comm.size()))
            throw BadInput("--parts " + std::to_string(model.parts) + " leaves ranks without work: give at least " + std::to_string(comm.size()));
        if (options.shard)
            run<clicks::ShardedTable>(comm, options);
        else
            run<clicks::WholeTable>(comm, options);
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
