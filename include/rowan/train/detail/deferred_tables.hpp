// rowan/train/detail/deferred_tables.hpp: DeferredTables, the tables of a trainer whose optimizers are deferred.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/detail/missed_steps.hpp>
#include <rowan/train/detail/table_lookups.hpp>
#include <rowan/train/feeds.hpp>

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace rowan::inline v0::detail {

/// The tables of a trainer whose optimizers are deferred. Until its destruction, which brings all rows up to date, other
/// trainers of the net find the tables by Variable::catch_up.
class DeferredTables {
public:
    DeferredTables() = default;
    DeferredTables(DeferredTables const&) = delete;
    DeferredTables& operator=(DeferredTables const&) = delete;
    ~DeferredTables();

    /// Adds a table with the lookups of a step, or none if each step reads all of its rows.
    /// errors   GraphError if another trainer defers its updates, too
    /// cost     O(lookups)
    ROWAN_IF_CALLED void add(Variable& table, std::shared_ptr<MissedSteps> steps, std::optional<TableLookups> lookups);

    /// Brings the rows up to date that batches name, but those of the tables in `others`; and all rows of the variables
    /// in `read` whose updates another trainer defers.
    ROWAN_IF_CALLED void catch_up(Cpu exec, std::span<Feeds const> batches, std::span<Variable* const> others) const;
    ROWAN_IF_CALLED void catch_up_others(std::span<Variable* const> read) const;
    /// Brings rows of a table up to date, if it is one of these: its rows at these positions.
    ROWAN_IF_CALLED void catch_up(Cpu exec, Variable const& table, Ids<> const& positions) const;
    /// Brings all rows up to date.
    ROWAN_IF_CALLED void flush(Cpu exec) const;

private:
    struct Table {
        Variable* variable;
        std::shared_ptr<MissedSteps> steps;
        std::optional<TableLookups> lookups;  // nothing where each step reads all rows
    };

    ROWAN_IF_CALLED Table const* find(Variable const& table) const;

    std::vector<Table> tables_;
    std::unordered_map<Variable const*, std::size_t> places_;  // in tables_
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/deferred_tables_inl.hpp>
