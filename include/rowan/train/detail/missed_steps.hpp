// rowan/train/detail/missed_steps.hpp: MissedSteps, the steps of a deferred optimizer that rows of a parameter have missed.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/graph/detail/any_table.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace rowan::inline v0::detail {

class DeferredTables;

/// The steps of a deferred optimizer that rows of a parameter have missed.
class MissedSteps {
public:
    MissedSteps() = default;
    MissedSteps(MissedSteps const&) = delete;
    MissedSteps& operator=(MissedSteps const&) = delete;
    virtual ~MissedSteps() = default;

    /// Brings the rows of ids in [0, height) up to date, but those of rows that a parameter of which only some rows exist
    /// does not have. `positions`: these are not ids, but places in such a parameter.
    virtual void catch_up(Cpu exec, Ids<> const& ids, bool positions) = 0;
    /// Fits a table that has grown or shrunk, and of which these rows are new.
    virtual void fit(std::span<std::int64_t const> inserted) = 0;
    /// Brings all rows up to date.
    virtual void flush(Cpu exec) = 0;
    /// Whether the table is in a file.
    virtual bool in_file() const = 0;
    /// Adds the parts "made", of each row how many steps, of 2 bytes, and "history", the options of these, if rows may have
    /// missed some; and takes them.
    virtual void save(AddTablePart const& add) const = 0;
    virtual void load(FindTablePart const& find) = 0;
    /// From now on, each step brings all rows up to date, as all are read between steps.
    virtual void flush_each_step() = 0;
    /// What a trainer needs for its tables with missed steps.
    virtual std::unique_ptr<DeferredTables> new_tables() const = 0;
};

}  // namespace rowan::inline v0::detail
