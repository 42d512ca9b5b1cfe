// rowan/train/detail/table_lookups_inl.hpp: definitions of rowan/train/detail/table_lookups.hpp.
#pragma once

#include <rowan/train/detail/table_lookups.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/graph/detail/op_call.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/lookup_table.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/train/detail/feed.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<std::int64_t> TableLookups::rows(Cpu exec, std::span<Feeds const> batches) const {
    std::vector<std::int64_t> all;
    auto const add = [&](Lookup const& lookup, Ids<> const& list) {
        auto const known = [n = height()](std::int64_t id) { return id >= 0 && id < n; };
        if (!lookup.unknown) check_ids(exec, lookup.ids->name().c_str(), list, height());
        list.visit([&](auto some) {
            if (lookup.unknown) {
                std::ranges::copy_if(some, std::back_inserter(all), known);
            } else {
                all.insert(all.end(), some.begin(), some.end());
            }
        });
    };
    for (Lookup const& lookup : lookups) {
        if (!lookup.unknown) continue;
        if (*lookup.unknown < 0 || *lookup.unknown >= height()) throw IndexError("unknown", *lookup.unknown, height());
        all.push_back(*lookup.unknown);
    }
    for (Feeds const& feeds : batches) {
        for (Lookup const& lookup : lookups) {
            visit_ids(fed_value(*lookup.ids, feeds), [&](auto const& ids) { add(lookup, ids); });
        }
    }
    RowPlan<> const plan(exec, all, height());
    return {plan.rows().begin(), plan.rows().end()};
}

ROWAN_FUNCTION void check_shard(Variable const& table, Value const& value, std::vector<std::int64_t> const& own) {
    auto const rows = value.row_numbers();
    if (rows != own)
        throw ShapeError(std::string(table.name()).append(".rows()"), std::to_string(rows.size()).append(" rows"),
                         std::string("the ")
                             .append(std::to_string(own.size()))
                             .append(" of this rank, as load_parameters(comm, …) gives them"));
}

/// The row that a lookup reads for ids that its table does not have.
inline std::optional<std::int64_t> unknown_of(Operator const& lookup) {
    if (lookup.kernel->is<lookup_table_op>()) return attributes_for<lookup_table_op>(lookup.attributes).unknown;
    return attributes_for<embedding_bag_op>(lookup.attributes).unknown;
}

ROWAN_FUNCTION std::vector<TableLookups> table_lookups(Variable& target) {
    auto const order = trace(std::array{&target});
    name_variables(order);
    std::vector<TableLookups> all;
    for (Operator const* const op : order) {
        bool const looks_up = op->kernel->is<lookup_table_op>() || op->kernel->is<embedding_bag_op>();
        for (Variable* const table : op->inputs) {
            if (!table->sharded()) continue;
            auto const what = [&] { return std::string("the sharded table ").append(table->name()); };
            if (!looks_up)
                throw GraphError(what()
                                     .append(" is read by ")
                                     .append(op->kernel->name)
                                     .append(": nets read it outside of steps and branches, by layer::embedding, or by "
                                             "layer::embedding_bag without weights"));
            Variable const* const ids = op->inputs[1];
            if (ids->role() != Role::data)
                throw GraphError(
                    what()
                        .append(" is looked up with ids that are computed, ")
                        .append(describe(*ids))
                        .append(": they must be layer::data, as the rows are fetched before the net runs"));
            auto at = std::ranges::find(all, table, &TableLookups::table);
            if (at == all.end()) at = all.insert(at, {table});
            TableLookups::Lookup const lookup{ids, unknown_of(*op)};
            if (std::ranges::find(at->lookups, lookup) == at->lookups.end()) at->lookups.push_back(lookup);
        }
    }
    return all;
}

}  // namespace rowan::inline v0::detail

#endif
