// tests/bench/sparse/sgd.cpp: a step of sparse SGD.
#include "../bench.hpp"

#include <rowan/sparse/sgd.hpp>

namespace bench {

void sgd(Suite& suite) {
    // scatter_add's bytes: the step needs no sorting
    auto floor = [](Traffic const& t) { return t.lookups * (t.row + t.id) + 2 * t.unique * t.row; };
    suite.add("sgd", floor,
              [](Data& data, std::size_t set) { rowan::sgd(data.exec, data.param(), data.gradient(set), 0.01); });
}

}  // namespace bench
