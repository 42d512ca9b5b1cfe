// rowan/train/detail/deferred_tables.hpp: DeferredTables, the tables of a trainer whose optimizers are deferred.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/detail/missed_steps.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace rowan::inline v0::detail {

/// The tables of a trainer whose optimizers are deferred. Until its destruction, which brings all rows up to date, other
/// trainers of the net find the tables by Variable::catch_up. Programs without deferred optimizers compile none.
class DeferredTables {
public:
    DeferredTables() = default;
    DeferredTables(DeferredTables const&) = delete;
    DeferredTables& operator=(DeferredTables const&) = delete;
    virtual ~DeferredTables() = default;

    /// Adds a table. Each step reads the rows that the net of `cost` looks up, or, if that is nullptr, all.
    /// errors   GraphError if another trainer defers its updates, too, or it is in a file, and all its rows are read
    /// cost     O(lookups); of the first one a pass over the net
    virtual void add(Variable& table, std::shared_ptr<MissedSteps> steps, Variable* cost) = 0;
    virtual bool contains(Variable const& table) const = 0;

    /// Brings the rows up to date that batches name, but those of the tables in `others`.
    virtual void catch_up(Cpu exec, std::span<Feeds const> batches, std::span<Variable* const> others) const = 0;
    /// Brings rows of a table up to date, if it is one of these: its rows at these positions.
    virtual void catch_up(Cpu exec, Variable const& table, Ids<> const& positions) const = 0;
    /// Fits a table by keys, if it is one of these, to its rows now, of which some are new.
    virtual void fit(Variable const& table, std::span<std::int64_t const> inserted) const = 0;
    /// Brings all rows up to date, of tables in files if `files`.
    virtual void flush(Cpu exec, bool files) const = 0;
    /// Adds what rows of tables in files have missed, and takes it.
    virtual void save(Parameters& to) const = 0;
    virtual void load(Parameters const& from) const = 0;
};

/// Without tables.
ROWAN_IF_CALLED std::unique_ptr<DeferredTables> new_deferred_tables();

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/deferred_tables_inl.hpp>
