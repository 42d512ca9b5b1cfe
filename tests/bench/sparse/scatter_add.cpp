// tests/bench/sparse/scatter_add.cpp: rows added into a table.
#include "../bench.hpp"

#include <rowan/sparse/scatter_add.hpp>

namespace bench {

void scatter_add(Suite& suite) {
    auto floor = [](Traffic const& t) { return t.lookups * (t.row + t.id) + 2 * t.unique * t.row; };
    suite.add("scatter_add", floor, [](Data& data, std::size_t set) {
        rowan::scatter_add(data.exec, data.param(), data.ids(set), data.values(set));
    });
}

}  // namespace bench
