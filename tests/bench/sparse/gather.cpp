// tests/bench/sparse/gather.cpp: rows of a table, to a new tensor, one from a pool, and an existing one.
#include "../bench.hpp"

#include <rowan/core/memory_pool.hpp>
#include <rowan/sparse/gather.hpp>

#include <memory>

namespace bench {

void gather(Suite& suite) {
    auto floor = [](Traffic const& t) { return t.unique * t.row + t.lookups * (t.row + t.id); };
    suite.add("gather", floor,
              [](Data& data, std::size_t set) { use(rowan::gather(data.exec, data.param(), data.ids(set))); });
    suite.add("gather_pooled", floor, [pool = std::make_shared<rowan::MemoryPool>()](Data& data, std::size_t set) {
        rowan::MemoryPool::Guard const guard(*pool);
        use(rowan::gather(data.exec, data.param(), data.ids(set)));
    });
    suite.add("gather_into", floor, [](Data& data, std::size_t set) {
        rowan::gather_into(data.exec, data.param(), data.ids(set), data.output());
    });
}

}  // namespace bench
