// tests/bench/bench.cpp: data, turns and tables.
#include "bench.hpp"

#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
#include <utility>

namespace bench {

namespace {

// Different numbers in [low, high): pages of zeros would all map to one page of memory.
void fill(rowan::Tensor<float>& t, float low, float high) {
    float* const data = t.data();
    rowan::parallel_for({}, t.size(), std::size_t{1} << 20, [=](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            auto const random = static_cast<std::uint32_t>((i + 1) * 0x9E3779B97F4A7C15u >> 40);
            data[i] = low + (high - low) * static_cast<float>(random) * 0x1p-24f;
        }
    });
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double least(std::vector<double> const& values) { return *std::ranges::min_element(values); }

// "6.1 of 7.9 GiB", if the system provides it.
std::string huge_pages() {
    double resident = 0, huge = 0;
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        if (word == "Rss:") file >> resident;
        if (word == "AnonHugePages:") file >> huge;
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.1f of %.1f GiB", huge / (1 << 20), resident / (1 << 20));
    return text;
}

}  // namespace

Data::Data(Options const& options, std::string table, std::size_t bytes, std::size_t width)
    : table_name_(std::move(table)), height_(bytes / (width * sizeof(float))), width_(width),
      lookups_(options.tiny ? std::size_t{1} << 12 : std::size_t{1} << 18), sets_(options.tiny ? 2 : 8),
      int32_(options.int32) {}

rowan::Tensor<float>& Data::made(rowan::Tensor<float>& t, std::vector<std::size_t> const& shape, float low,
                                 float high) {
    if (t.size() == 0) {
        t = rowan::Tensor<float>::from_shape({shape.begin(), shape.end()});
        fill(t, low, high);
    }
    return t;
}

void Data::draw(std::string const& distribution) {
    std::mt19937_64 random(1);
    auto const height = static_cast<std::int64_t>(height_);
    std::uniform_int_distribution<std::int64_t> uniform(0, height - 1);
    std::uniform_real_distribution<double> exponent(0, 1);
    auto id = [&] {
        if (distribution == "uniform") return uniform(random);
        auto const rank = static_cast<std::int64_t>(std::pow(static_cast<double>(height), exponent(random)) - 1);
        // the factor spreads the frequent rows over the table
        return std::clamp<std::int64_t>(rank, 0, height - 1) * 2654435761 % height;
    };

    ids64_.clear();
    ids32_.clear();
    gradients_.clear();
    unique_.clear();
    for (std::size_t set = 0; set < sets_; ++set) {
        auto& ids = ids64_.emplace_back(rowan::Tensor<std::int64_t>::from_shape({lookups_}));
        std::generate_n(ids.data(), lookups_, id);
        if (int32_) {
            auto& narrow = ids32_.emplace_back(rowan::Tensor<std::int32_t>::from_shape({lookups_}));
            std::transform(ids.data(), ids.data() + lookups_, narrow.data(),
                           [](auto i) { return static_cast<std::int32_t>(i); });
        }
        std::vector<std::int64_t> sorted(ids.data(), ids.data() + lookups_);
        std::ranges::sort(sorted);
        unique_.push_back(static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin()));
    }
}

Traffic Data::traffic(std::size_t set) const {
    auto const n = static_cast<double>(lookups_);
    auto const passes = static_cast<double>((std::bit_width(height_ - 1) + 7) / 8);
    return {.lookups = n,
            .unique = static_cast<double>(unique_[set]),
            .row = static_cast<double>(width_ * sizeof(float)),
            .id = int32_ ? 4.0 : 8.0,
            .sort = 28.0 * passes * n};
}

rowan::Ids<> Data::ids(std::size_t set) const {
    if (int32_) return ids32_[set];
    return ids64_[set];
}

rowan::SelectedRows<float> const& Data::gradient(std::size_t set) {
    while (values_.size() < sets_) {
        fill(values_.emplace_back(rowan::Tensor<float>::from_shape({lookups_, width_})), -1, 1);
    }
    while (gradients_.size() < sets_) {
        std::size_t const k = gradients_.size();
        gradients_.emplace_back(static_cast<std::int64_t>(height_), ids64_[k], values_[k].share());
    }
    return gradients_[set];
}

Suite::Suite(Options const& options, Data& data, std::string distribution, int threads)
    : options_(options), data_(data), distribution_(std::move(distribution)), threads_(threads) {}

void Suite::add(std::string const& op, Floor floor, Run run) {
    std::string const name = op + "/f32/cpu/" + distribution_ + "/table=" + data_.table_name() +
                             "/n=" + std::to_string(data_.lookups()) + "/width=" + std::to_string(data_.width()) +
                             (options_.int32 ? "/ids=i32" : "") + "/threads=" + std::to_string(threads_);
    if (std::regex_search(name, options_.filter)) cases_.push_back({op, name, std::move(floor), std::move(run), {}});
}

void Suite::time(Case& c, std::size_t set, bool warm_up) {
    auto const start = std::chrono::steady_clock::now();
    c.run(data_, set);
    std::chrono::duration<double, std::milli> const ms = std::chrono::steady_clock::now() - start;
    if (warm_up) return;
    c.ms.push_back(ms.count());
    c.speed = std::max(c.speed, c.floor(data_.traffic(set)) / ms.count() * 1e-6);
}

void Suite::measure(Streams& streams) {
    if (cases_.empty()) return;
    if (options_.list) {
        for (Case const& c : cases_) std::cout << c.name << '\n';
        return;
    }
    if (streams.a.size() == 0) {
        for (auto* stream : {&streams.a, &streams.b, &streams.c}) {
            *stream = rowan::Tensor<float>::from_shape(
                {(options_.tiny ? std::size_t{1} << 20 : std::size_t{512} << 20) / sizeof(float)});
            fill(*stream, 1, 2);
        }
    }
    data_.draw(distribution_);
    data_.exec = {.threads = threads_};

    auto const bytes = static_cast<double>(streams.a.size() * sizeof(float));
    auto moved = [=](double factor) { return [=](Traffic const&) { return factor * bytes; }; };
    Case memcpy{"memcpy", "", moved(2), [&](Data& data, std::size_t) { copy(streams, data.exec); }, {}};
    Case triad{"triad", "", moved(3), [&](Data& data, std::size_t) { bench::triad(streams, data.exec); }, {}};
    auto const gathered = [](Traffic const& t) { return t.unique * t.row + t.lookups * (t.row + 8); };
    Case rows{"random_rows", "", gathered, random_rows, {}};
    for (std::size_t turn = 0; turn <= 2 * data_.sets(); ++turn) {
        std::size_t const set = turn % data_.sets();
        time(memcpy, set, turn == 0);
        for (Case& c : cases_) time(c, set, turn == 0);
        time(triad, set, turn == 0);
        time(rows, set, turn == 0);
    }
    print(memcpy, triad, rows);
}

void Suite::print(Case const& memcpy, Case const& triad, Case const& rows) const {
    double unique = 0;
    for (std::size_t set = 0; set < data_.sets(); ++set) unique += data_.traffic(set).unique;
    unique /= static_cast<double>(data_.sets());

    if (options_.json) {
        for (Case const& c : cases_) {
            std::string const rest = c.name.substr(c.op.size() + 1);
            std::printf(R"({"peer": "rowan", "op": "%s", "case": "%s", )", c.op.c_str(), rest.c_str());
            std::printf(R"("ms_min": %.6f, "ms_median": %.6f, )", least(c.ms), median(c.ms));
            std::printf(R"("unique": %.0f, "gbs": %.3f, "memcpy_gbs": %.3f, "triad_gbs": %.3f, "rows_gbs": %.3f})",
                        unique, c.speed, memcpy.speed, triad.speed, rows.speed);
            std::printf("\n");
        }
    } else {
        std::printf(
            "%zu data sets with %.0f different rows; memcpy %.1f GB/s, triad %.1f GB/s, random rows %.1f GB/s; "
            "huge pages: %s\n",
            data_.sets(), unique, memcpy.speed, triad.speed, rows.speed, huge_pages().c_str());
        std::printf("%-74s %9s %9s %7s %9s %8s %14s\n", "", "min ms", "median ms", "GB/s", "of memcpy", "of triad",
                    "of random rows");
        for (Case const& c : cases_) {
            std::printf("%-74s %9.3f %9.3f %7.1f %8.0f%% %7.0f%% %13.0f%%\n", c.name.c_str(), least(c.ms), median(c.ms),
                        c.speed, 100 * c.speed / memcpy.speed, 100 * c.speed / triad.speed, 100 * c.speed / rows.speed);
        }
        std::printf("\n");
    }
    std::fflush(stdout);
}

}  // namespace bench
