// expect: rowan::ShardedKeyedTable: save and load are in <rowan/distributed/keyed_table_files.hpp>: include it
#include <rowan/distributed.hpp>

void save(rowan::ShardedKeyedTable<float, std::int64_t, rowan::Self> const& table) { table.save<float>("folder", "name", 0, {}); }
