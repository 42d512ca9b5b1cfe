// rowan/distributed/infer_inl.hpp: definitions of rowan/distributed/infer.hpp.
#pragma once

#include <rowan/distributed/infer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/distributed/detail/shards.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/graph/detail/shard_rows.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/detail/table_lookups.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION Parameters fetched_parameters(ProcessGroup const& group, Cpu exec, Variable& predict,
                                                    Feeds const& feeds, Parameters const& parameters) {
    Parameters mine;
    std::vector<TableLookups> tables;
    std::vector<std::vector<std::int64_t>> named;
    static_cast<void>(agree_on_values(group, Collective::infer, [&](NamedValues& same) {
        tables = table_lookups(predict);
        mine = parameters.share();
        for (auto const& t : tables) {
            check_fits(*t.table, parameters.find(t.table->name()));
            auto const rows = static_cast<std::int64_t>(parameters.find(t.table->name()).row_values().rows());
            Partition const partition = shards_of(*t.table, group.size());
            std::int64_t const own = partition.rows_of(group.rank());
            if (rows != own)
                throw ShapeError({t.table->name(), ".rows()"}, rows, {own, ", the number of this rank's rows"});
            std::int64_t const first = own == 0 ? 0 : parameters.find(t.table->name()).row_number(0);
            if (own != 0 && first != partition.global(group.rank(), 0))  // any other placement differs so on a rank
                throw ShapeError({t.table->name(), ".rows()[0]"}, first,
                                 {partition.global(group.rank(), 0), ", where the table is placed as in this net"});
            named.push_back(t.rows(exec, std::span(&feeds, 1)));
            same.add(std::string("the sharded table ").append(t.table->name()),
                     dtype_text(t.table->spec().dtype).append(shape_text(t.table->spec().dims)));
            same.add(std::string("the placement of ").append(t.table->name()), placement_text(t.table->placement));
        }
    }));
    after_agreement(group, [&] {
        if (tables.empty()) return;
        std::vector<TableRows> asked;
        std::vector<Value const*> own;
        for (std::size_t i = 0; i < tables.size(); ++i) {
            own.push_back(&parameters.find(tables[i].table->name()));
            asked.push_back({own[i], tables[i].table->placement, named[i]});
        }
        auto const fetched = fetch_rows(group, node_route(group), exec, asked);
        fetched->ask({});
        fetched->begin_rest(own, [](std::size_t, Ids<> const&) {});
        fetched->end_rest(own);
        for (std::size_t i = 0; i < tables.size(); ++i) mine.set(tables[i].table->name(), std::move(fetched->rows[i]));
    });
    return mine;
}

}  // namespace rowan::inline v0::detail

#endif
