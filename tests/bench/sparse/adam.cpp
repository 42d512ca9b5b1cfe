// tests/bench/sparse/adam.cpp: a step of lazy Adam.
#include "../bench.hpp"

#include <rowan/sparse/adam.hpp>

namespace bench {

void adam(Suite& suite) {
    auto floor = [](Traffic const& t) { return t.lookups * t.row + 6 * t.unique * t.row + t.sort; };
    suite.add("adam", floor, [](Data& data, std::size_t set) {
        rowan::adam(data.exec, data.param(), data.moment1(), data.moment2(), data.gradient(set), {.step = 10});
    });
}

}  // namespace bench
