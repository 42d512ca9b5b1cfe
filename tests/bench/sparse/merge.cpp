// tests/bench/sparse/merge.cpp: merge to new memory, memory from a pool, and existing memory.
#include "../bench.hpp"

#include <rowan/core/memory_pool.hpp>
#include <rowan/sparse/merge.hpp>

#include <memory>

namespace bench {

void merge(Suite& suite) {
    auto floor = [](Traffic const& t) { return (t.lookups + t.unique) * (t.row + t.id) + t.sort; };
    suite.add("merge", floor, [](Data& data, std::size_t set) { use(rowan::merge(data.exec, data.gradient(set))); });
    suite.add("merge_pooled", floor, [pool = std::make_shared<rowan::MemoryPool>()](Data& data, std::size_t set) {
        rowan::MemoryPool::Guard const guard(*pool);
        use(rowan::merge(data.exec, data.gradient(set)));
    });
    suite.add("merge_into", floor,
              [](Data& data, std::size_t set) { rowan::merge_into(data.exec, data.gradient(set), data.merged()); });
}

}  // namespace bench
