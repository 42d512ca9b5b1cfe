// expect: rowan::ShardedTable: save and load are in <rowan/distributed/table_files.hpp>: include it
#include <rowan/distributed.hpp>

void save(rowan::ShardedTable<float, rowan::Cpu, rowan::Self> const& table) { table.save<float>("folder", "name", 0, {}); }
