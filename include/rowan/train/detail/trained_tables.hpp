// rowan/train/detail/trained_tables.hpp: TrainedTables, the tables of a trainer that are by keys or in files.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/detail/deferred_tables.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// What a table is made with, but for its seed and states.
ROWAN_IF_CALLED TableSpec table_spec(Variable const& table);

/// What reads the table of a parameter in these.
/// errors   GraphError if they lack a part; those of the kind
ROWAN_IF_CALLED std::unique_ptr<AnyTableReader> table_reader(Variable const& table, Parameters const& parameters);

/// The tables by keys and in files that a predictor reads. Any number of threads may call const functions.
class TableInputs {
public:
    TableInputs() = default;
    TableInputs(TableInputs const&) = delete;
    TableInputs& operator=(TableInputs const&) = delete;
    virtual ~TableInputs() = default;

    /// Adds places, which are input number `input` of the net.
    /// errors   GraphError if parameters lack a part of a table; those of the kinds
    virtual void add(std::size_t input, Variable const& places, Parameters const& parameters) = 0;
    /// All rows of a table in a file.
    virtual Value rows(Variable const& table, Parameters const& parameters) = 0;
    /// Sets the inputs to the rows of a batch's keys.
    virtual void find(Cpu exec, Feeds const& feeds, std::span<Value> values) const = 0;
    /// Whether data of this name are keys of one of them.
    virtual bool reads(std::string_view data) const = 0;
};

/// The tables of a trainer that are by keys or in files. A step binds them: it finds the rows of keys, of which new ones are
/// provisional until it ends. Values of parameters and states are aliases, which a table that grows replaces.
class TrainedTables {
public:
    TrainedTables() = default;
    TrainedTables(TrainedTables const&) = delete;
    TrainedTables& operator=(TrainedTables const&) = delete;
    virtual ~TrainedTables() = default;

    /// Whether a parameter or state is a table's.
    static bool has(Variable const& v) noexcept { return role_of(v).kind != nullptr || role_of(v).state_of != nullptr; }
    /// Whether it is in a file.
    static bool is_in_file(Variable const& v) noexcept {
        Variable const* const table = role_of(v).state_of != nullptr ? role_of(v).state_of : &v;
        return role_of(*table).kind != nullptr && role_of(*table).kind->in_file;
    }

    /// Finds the tables among parameters, and what reads them in a net of these operators and inputs.
    /// errors   GraphError if something else than a lookup of keys reads a table by keys, two are in one file, or the data
    ///          with the time of its steps is not declared
    virtual void find(std::span<Variable* const> parameters, std::span<Operator* const> order,
                      std::span<Variable* const> inputs) = 0;
    /// Makes the tables, with the states among `all`, or takes those of `resume`, or first values of `initial`.
    /// errors   GraphError if parts are missing, or another trainer has one of the tables; those of the kinds
    virtual void make(std::span<Variable* const> all, std::span<std::uint64_t const> seeds, Parameters const* resume,
                      Feeds const& initial) = 0;

    /// Calls begin(), and tells all ranks the keys of the parts that this one runs, so that each rank gives all of them the
    /// same rows. All ranks call it before `bind`, if there are tables by keys.
    /// errors   those of begin and of fed_value, on all ranks; Error if ranks have other keys for the only part
    virtual void meet(Ranks const& ranks, std::span<Feeds const> batches, PartRange parts, std::int64_t trainer,
                      std::function<void()> const& begin) = 0;
    virtual bool by_keys() const = 0;
    /// Adds what ranks must have the same: options of kinds, keys, and the rows of keys.
    virtual void tell_ranks(NamedValues& to) const = 0;

    /// Finds the rows of the keys in batches, for the step of this number. Rows that have missed steps make up for these.
    /// errors   those of the kinds, of fed_value and of DeferredTables; nothing has changed
    virtual void bind(Cpu exec, std::span<Feeds const> batches, std::int64_t step, DeferredTables const* deferred) = 0;
    /// Sets the values of places to the rows of a part's keys.
    virtual void place(Cpu exec, std::size_t part) = 0;
    /// Does what may fail before tables change by these gradients.
    virtual void write(Cpu exec, std::span<ParameterGradient const> gradients) const = 0;
    /// Keeps new keys.
    virtual void keep() const = 0;
    /// Tells what keys have lost their rows.
    virtual void report() const = 0;
    /// Ends a step: what was not kept is given up.
    virtual void end(DeferredTables const* deferred) noexcept = 0;

    /// Sets the values of tables and states, which move as tables grow.
    virtual void show(DeferredTables const* deferred) const = 0;
    /// Adds what parameters have besides the values of variables, and refers to tables in files.
    virtual void save(Parameters& to, Saving saving) const = 0;
    /// All that was made with Saving::with_others is saved.
    virtual void saved_others() const = 0;

    /// What a predictor needs.
    virtual std::shared_ptr<TableInputs> new_inputs() const = 0;
};

/// Without tables. Kinds of tables give it to trainers and predictors, so that programs without them do not compile it.
ROWAN_IF_CALLED std::shared_ptr<TrainedTables> new_trained_tables();

}  // namespace rowan::inline v0::detail
