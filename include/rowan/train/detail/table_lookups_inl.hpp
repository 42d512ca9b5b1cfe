// rowan/train/detail/table_lookups_inl.hpp: definitions of rowan/train/detail/table_lookups.hpp.
#pragma once

#include <rowan/train/detail/table_lookups.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/graph/detail/op_call.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/train/detail/feed.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> TableLookups::ids(Cpu exec, std::span<Feeds const> batches,
                                                                  bool known) const {
    std::vector<std::int64_t> all;
    auto const in_table = [n = height()](std::int64_t id) { return id >= 0 && id < n; };
    auto const add = [&](Lookup const& lookup, Ids<> const& list) {
        bool const some = known || lookup.unknown;
        if (!some) check_ids(exec, lookup.ids->name().c_str(), list, height());
        list.visit([&](auto numbers) {
            if (some) {
                std::ranges::copy_if(numbers, std::back_inserter(all), in_table);
            } else {
                all.insert(all.end(), numbers.begin(), numbers.end());
            }
        });
    };
    for (Lookup const& lookup : lookups) {
        if (!lookup.unknown) continue;
        if (!known && !in_table(*lookup.unknown)) throw IndexError("unknown", *lookup.unknown, height());
        if (in_table(*lookup.unknown)) all.push_back(*lookup.unknown);
    }
    for (Feeds const& feeds : batches) {
        for (Lookup const& lookup : lookups) {
            visit_ids(fed_value(*lookup.ids, feeds), [&](auto const& ids) { add(lookup, ids); });
        }
    }
    return all;
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> TableLookups::rows(Cpu exec, std::span<Feeds const> batches) const {
    RowPlan<> const plan(exec, ids(exec, batches), height());
    return {plan.rows().begin(), plan.rows().end()};
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_shard(Variable const& table, Value const& value,
                                                  std::vector<std::int64_t> const& own) {
    auto const rows = value.row_numbers();
    if (rows != own)
        throw ShapeError({table.name(), ".rows()"}, {rows.size(), " rows"},
                         {"the ", own.size(), " of this rank, as load_parameters(comm, …) gives them"});
}

/// The row that a lookup reads for ids that are not in the table, if it has one.
inline std::optional<std::int64_t> unknown_of(Operator const& op) {
    if (op.kernel->is<lookup_table_op>()) return attributes_for<lookup_table_op>(op.attributes).unknown;
    if (op.kernel->is<embedding_bag_op>() || op.kernel->is<weighted_embedding_bag_op>())
        return attributes_for<embedding_bag_op>(op.attributes).unknown;
    return {};
}

/// Adds lookups to tables, each once.
class AddedLookups {
public:
    void add(TableLookups& to, TableLookups::Lookup const& lookup) {
        if (added_.emplace(to.table, lookup.ids, lookup.unknown).second) to.lookups.push_back(lookup);
    }

private:
    std::set<std::tuple<Variable const*, Variable const*, std::optional<std::int64_t>>> added_;
};

/// Calls f for all that the operators read, also in the steps of recurrent layers.
inline void each_read_of(std::span<Operator* const> order, ReadVisitor const& f) {
    for (Operator const* const op : order)
        each_read(
            *op, [](Variable* v) { return v; }, f);
}

inline bool is_data(Variable const* v) { return v != nullptr && v->role() == Role::data; }

ROWAN_CALLED_FUNCTION ROWAN_RARE std::unordered_map<Variable const*, std::optional<TableLookups>> all_lookups(
    Variable& target) {
    std::unordered_map<Variable const*, std::optional<TableLookups>> all;
    AddedLookups added;
    each_read_of(trace(std::array{&target}), [&](Operator const& op, std::size_t slot, OutsideOf const& outside) {
        Variable* const table = op.inputs[slot];
        auto& of_table = all.try_emplace(table, TableLookups{table}).first->second;
        bool known = false;
        for (SlotLookup const& of : op.kernel->lookups) {
            if (of.table != slot) continue;
            Variable const* const ids = outside(op.inputs[of.ids]);
            known = is_data(ids);
            if (!known) break;
            if (of_table) added.add(*of_table, {ids, unknown_of(op)});
        }
        if (!known) of_table.reset();
    });
    return all;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<TableLookups> table_lookups(Variable& target) {
    auto const order = trace(std::array{&target});
    name_variables(order);
    std::vector<TableLookups> all;
    std::unordered_map<Variable const*, std::size_t> places;
    AddedLookups added;
    each_read_of(order, [&](Operator const& op, std::size_t slot, OutsideOf const& outside) {
        Variable* const table = op.inputs[slot];
        if (!table->sharded()) return;
        auto const what = [&] { return std::string("the sharded table ").append(table->name()); };
        if (!op.kernel->is<lookup_table_op>() && !op.kernel->is<embedding_bag_op>() &&
            !op.kernel->is<weighted_embedding_bag_op>())
            throw GraphError(
                what()
                    .append(" is read by ")
                    .append(op.kernel->name)
                    .append(": nets read it outside of branches, by layer::embedding or layer::embedding_bag"));
        Variable const* const ids = outside(op.inputs[1]);
        if (!is_data(ids))
            throw GraphError(what()
                                 .append(" is looked up with ids that are computed, ")
                                 .append(describe(*op.inputs[1]))
                                 .append(": they must be layer::data, or the elements of it that a step reads, as the "
                                         "rows are fetched before the net runs"));
        auto const [place, is_new] = places.try_emplace(table, all.size());
        if (is_new) all.push_back({table});
        added.add(all[place->second], {ids, unknown_of(op)});
    });
    return all;
}

}  // namespace rowan::inline v0::detail

#endif
