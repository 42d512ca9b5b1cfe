// tests/bench/bench.hpp: named cases, their common data, and timing.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <regex>
#include <string>
#include <vector>

namespace bench {

struct Options {
    std::regex filter{""};  // only cases whose names it matches
    bool json = false;
    bool list = false;   // print names, run nothing
    bool int32 = false;  // ids of 32 bits, for operations on ids
    bool tiny = false;   // small tables, for a quick test
    std::vector<int> threads{1, 2};
};

/// The byte model of a data set. A row has `row` bytes, an id `id`; `sort` is the traffic of sorting all ids: keys and
/// positions of 32 bits in a radix sort with 8 bits per pass, and as many passes as the height needs.
struct Traffic {
    double lookups, unique, row, id, sort;
};

/// A table, and several sets of ids and gradients for it, created at the first use. The sets are used in turns, so that
/// the last-level cache cannot hold all touched rows.
class Data {
public:
    Data(Options const& options, std::string table, std::size_t bytes, std::size_t width);

    rowan::Cpu exec;  // for the current case

    std::string const& table_name() const { return table_name_; }
    std::size_t width() const { return width_; }
    std::size_t lookups() const { return lookups_; }
    std::size_t sets() const { return sets_; }

    /// Draws the ids: "uniform", or "zipf", whose logarithm is uniform.
    void draw(std::string const& distribution);
    Traffic traffic(std::size_t set) const;

    rowan::Tensor<float>& param() { return made(param_, {height_, width_}, -0.01f, 0.01f); }
    rowan::Tensor<float>& moment1() { return made(moment1_, {height_, width_}, 0.1f, 0.2f); }
    rowan::Tensor<float>& moment2() { return made(moment2_, {height_, width_}, 0.1f, 0.2f); }
    rowan::Tensor<float>& row_moment() { return made(row_moment_, {height_}, 0.1f, 0.2f); }
    rowan::Tensor<float>& output() { return made(output_, {lookups_, width_}, 0.0f, 1.0f); }
    rowan::SelectedRows<float>& merged() { return merged_; }

    rowan::Ids<> ids(std::size_t set) const;
    std::int64_t const* wide_ids(std::size_t set) const { return ids64_[set].data(); }
    rowan::Tensor<float> const& values(std::size_t set) { return gradient(set).value(); }
    rowan::SelectedRows<float> const& gradient(std::size_t set);

private:
    static rowan::Tensor<float>& made(rowan::Tensor<float>& t, std::vector<std::size_t> const& shape, float low,
                                      float high);

    std::string table_name_;
    std::size_t height_, width_, lookups_, sets_;
    bool int32_;
    rowan::Tensor<float> param_, moment1_, moment2_, row_moment_, output_;
    rowan::SelectedRows<float> merged_;
    std::vector<rowan::Tensor<float>> values_;
    std::vector<rowan::Tensor<std::int64_t>> ids64_;
    std::vector<rowan::Tensor<std::int32_t>> ids32_;
    std::vector<rowan::SelectedRows<float>> gradients_;
    std::vector<std::size_t> unique_;
};

/// The buffers of memcpy and triad: large, so that nothing stays in a cache.
struct Streams {
    rowan::Tensor<float> a, b, c;
};

/// The cases of one table, distribution and number of threads, timed in turns: each case once with one data set, then
/// each again with the next. memcpy, triad and the plain loop over random rows are cases, too, so that all use the bandwidth
/// of the same minutes.
class Suite {
public:
    using Floor = std::function<double(Traffic const&)>;  // the minimum of bytes to move
    using Run = std::function<void(Data&, std::size_t set)>;

    Suite(Options const& options, Data& data, std::string distribution, int threads);

    /// Adds a case if the filter matches its name.
    void add(std::string const& op, Floor floor, Run run);
    /// Times all added cases and prints the results.
    void measure(Streams& streams);

private:
    struct Case {
        std::string op, name;
        Floor floor;
        Run run;
        std::vector<double> ms;
        double speed = 0;  // GB/s of the best turn
    };

    void time(Case& c, std::size_t set, bool warm_up);
    void print(Case const& memcpy, Case const& triad, Case const& rows) const;

    Options const& options_;
    Data& data_;
    std::string distribution_;
    int threads_;
    std::vector<Case> cases_;
};

/// Prevents the compiler from removing the computation of `value`.
template <class T>
void use(T const& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

// Each function adds the cases of an operation, and is in the file with its name.
void gather(Suite&);
void scatter_add(Suite&);
void merge(Suite&);
void sgd(Suite&);
void adagrad(Suite&);
void rowwise_adagrad(Suite&);
void adam(Suite&);

// core/bandwidth.cpp
void copy(Streams& streams, rowan::Cpu exec);
void triad(Streams& streams, rowan::Cpu exec);
/// Copies the rows of a set one after the other, each prefetched 16 rows ahead.
void random_rows(Data& data, std::size_t set);

}  // namespace bench
