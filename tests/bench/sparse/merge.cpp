// tests/bench/sparse/merge.cpp: merge to new memory and existing memory.
#include "../bench.hpp"

#include <rowan/sparse/merge.hpp>

namespace bench {

void merge(Suite& suite) {
    auto floor = [](Traffic const& t) { return (t.lookups + t.unique) * (t.row + t.id) + t.sort; };
    suite.add("merge", floor, [](Data& data, std::size_t set) { use(rowan::merge(data.exec, data.gradient(set))); });
    suite.add("merge_into", floor,
              [](Data& data, std::size_t set) { rowan::merge_into(data.exec, data.gradient(set), data.merged()); });
}

}  // namespace bench
