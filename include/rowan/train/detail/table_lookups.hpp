// rowan/train/detail/table_lookups.hpp: TableLookups, the sharded tables of a net and the data that name their rows.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/graph/detail/op_call.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/lookup_table.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/feeds.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// Calls f(the tensor of ids) of a value on the host.
template <class F>
void visit_ids(Value const& v, F const& f) {
    if (v.is<LoDTensor<std::int32_t>>()) {
        f(v.get<LoDTensor<std::int32_t>>().value());
    } else {
        f(v.get<LoDTensor<std::int64_t>>().value());
    }
}

/// A sharded table of a net, and the data whose ids are looked up in it.
struct TableLookups {
    /// Data with ids, and the row that is read for those that are not in the table.
    struct Lookup {
        Variable const* ids;
        std::optional<std::int64_t> unknown;
        bool operator==(Lookup const&) const = default;
    };
    Variable* table;
    std::vector<Lookup> lookups = {};

    std::int64_t height() const { return table->spec().dims[0]; }

    /// The rows that batches name, ascending, with those for unknown ids.
    /// errors   IndexError if a row for unknown ids, or without one an id, is not in [0, height); as fed_value
    /// cost     a sort of the ids
    std::vector<std::int64_t> rows(Cpu exec, std::span<Feeds const> batches) const {
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
            if (*lookup.unknown < 0 || *lookup.unknown >= height())
                throw IndexError("unknown", *lookup.unknown, height());
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
};

/// The sharded tables that a net reads. Names its variables.
/// errors   GraphError if one is read by an operator that is not a lookup, or by one whose ids are not data
/// cost     one pass over the net
inline std::vector<TableLookups> table_lookups(Variable& target) {
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
            bool const bags = op->kernel->is<embedding_bag_op>();
            TableLookups::Lookup const lookup{ids, bags ? attributes_for<embedding_bag_op>(op->attributes).unknown
                                                        : attributes_for<lookup_table_op>(op->attributes).unknown};
            if (std::ranges::find(at->lookups, lookup) == at->lookups.end()) at->lookups.push_back(lookup);
        }
    }
    return all;
}

/// Checks that a value of a sharded table has the rows of this process.
/// errors   ShapeError if not
/// cost     one read of the row numbers
inline void check_shard(Variable const& table, Value const& value, std::vector<std::int64_t> const& own) {
    auto const rows = value.row_numbers();
    if (rows != own)
        throw ShapeError(std::string(table.name()).append(".rows()"), std::to_string(rows.size()).append(" rows"),
                         std::string("the ")
                             .append(std::to_string(own.size()))
                             .append(" of this rank, as load_parameters(comm, …) gives them"));
}

/// Whether it is the name of the table or of one of its states.
inline bool belongs_to(std::string_view name, Variable const& table) {
    std::string_view const own = table.name();
    return name.starts_with(own) && (name.size() == own.size() || name[own.size()] == '@');
}

}  // namespace rowan::inline v0::detail
