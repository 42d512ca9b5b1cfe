// tests/bench/sparse/adagrad.cpp: a step of sparse AdaGrad, from a gradient with duplicates.
#include "../bench.hpp"

#include <rowan/sparse/adagrad.hpp>

namespace bench {

void adagrad(Suite& suite) {
    auto floor = [](Traffic const& t) { return t.lookups * t.row + 4 * t.unique * t.row + t.sort; };
    suite.add("adagrad", floor, [](Data& data, std::size_t set) {
        rowan::adagrad(data.exec, data.param(), data.moment2(), data.gradient(set), {.learning_rate = 0.01});
    });
}

}  // namespace bench
