// rowan/train/detail/deferred_tables_inl.hpp: definitions of rowan/train/detail/deferred_tables.hpp.
#pragma once

#include <rowan/train/detail/deferred_tables.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <string>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION DeferredTables::~DeferredTables() {
    for (Table const& t : tables_) {
        t.variable->catch_up = nullptr;
        try {
            t.steps->flush(Cpu{});
        } catch (...) {  // the rows stay behind
        }
    }
}

ROWAN_CALLED_FUNCTION void DeferredTables::add(Variable& table, std::shared_ptr<MissedSteps> steps,
                                               std::optional<TableLookups> lookups) {
    if (table.catch_up)
        throw GraphError(std::string("another trainer defers the updates of ").append(table.name()).append(", too"));
    Table added{&table, std::move(steps), std::move(lookups)};
    if (!added.lookups) added.steps->flush_each_step();
    places_.emplace(&table, tables_.size());
    tables_.push_back(added);
    table.catch_up = [steps = added.steps] { steps->flush(Cpu{}); };
}

ROWAN_CALLED_FUNCTION auto DeferredTables::find(Variable const& table) const -> Table const* {
    auto const at = places_.find(&table);
    return at == places_.end() ? nullptr : &tables_[at->second];
}

ROWAN_CALLED_FUNCTION void DeferredTables::catch_up(Cpu exec, std::span<Feeds const> batches,
                                                    std::span<Variable* const> others) const {
    std::unordered_set<Variable const*> const other(others.begin(), others.end());
    for (Table const& t : tables_) {
        if (t.lookups && !other.contains(t.variable))
            t.steps->catch_up(exec, t.lookups->ids(exec, batches, true), false);
    }
}

ROWAN_CALLED_FUNCTION void DeferredTables::catch_up_others(std::span<Variable* const> read) const {
    for (Variable* const v : read) {
        if (v->catch_up && find(*v) == nullptr) v->catch_up();
    }
}

ROWAN_CALLED_FUNCTION void DeferredTables::catch_up(Cpu exec, Variable const& table, Ids<> const& positions) const {
    if (Table const* const t = find(table)) t->steps->catch_up(exec, positions, true);
}

ROWAN_CALLED_FUNCTION void DeferredTables::flush(Cpu exec) const {
    for (Table const& t : tables_) t.steps->flush(exec);
}

}  // namespace rowan::inline v0::detail

#endif
