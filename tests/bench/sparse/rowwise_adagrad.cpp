// tests/bench/sparse/rowwise_adagrad.cpp: a step of AdaGrad with one state number for each row.
#include "../bench.hpp"

#include <rowan/sparse/rowwise_adagrad.hpp>

namespace bench {

void rowwise_adagrad(Suite& suite) {
    // a row's state costs a cache line, read and written
    auto floor = [](Traffic const& t) { return t.lookups * t.row + t.unique * (2 * t.row + 128) + t.sort; };
    suite.add("rowwise_adagrad", floor, [](Data& data, std::size_t set) {
        rowan::rowwise_adagrad(data.exec, data.param(), data.row_moment(), data.gradient(set), {.learning_rate = 0.01});
    });
}

}  // namespace bench
