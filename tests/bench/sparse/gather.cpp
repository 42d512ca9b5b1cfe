// tests/bench/sparse/gather.cpp: rows of a table, to a new tensor and an existing one.
#include "../bench.hpp"

#include <rowan/sparse/gather.hpp>

namespace bench {

void gather(Suite& suite) {
    auto floor = [](Traffic const& t) { return t.unique * t.row + t.lookups * (t.row + t.id); };
    suite.add("gather", floor,
              [](Data& data, std::size_t set) { use(rowan::gather(data.exec, data.param(), data.ids(set))); });
    suite.add("gather_into", floor, [](Data& data, std::size_t set) {
        rowan::gather_into(data.exec, data.param(), data.ids(set), data.output());
    });
}

}  // namespace bench
