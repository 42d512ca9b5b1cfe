// rowan/train/detail/deferred_tables_inl.hpp: definitions of rowan/train/detail/deferred_tables.hpp.
#pragma once

#include <rowan/train/detail/deferred_tables.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/detail/table_lookups.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class = void>
class TablesOfTrainer final : public DeferredTables {
public:
    ~TablesOfTrainer() override {
        for (Table const& t : tables_) {
            t.variable->catch_up = nullptr;
            try {
                if (!t.steps->in_file()) t.steps->flush(Cpu{});  // what a file has not saved is lost
            } catch (...) {                                      // the rows stay behind
            }
        }
    }

    void add(Variable& table, std::shared_ptr<MissedSteps> steps, Variable* cost) override {
        if (table.catch_up) throw GraphError({"another trainer defers the updates of ", table.name(), ", too"});
        Table added{&table, std::move(steps), {}};
        if (role_of(table).kind != nullptr && role_of(table).kind->by_keys) {
            added.lookups = TableLookups{&table};  // what binds the keys brings their rows up to date
        } else if (cost != nullptr) {
            if (!lookups_) lookups_.emplace(all_lookups(*cost));
            added.lookups = std::move((*lookups_)[&table]);
        }
        if (!added.lookups && role_of(table).kind != nullptr)
            throw GraphError({table.name(),
                              " is in a file, and its optimizer deferred: nets read it by lookups of "
                              "layer::data, so that not all rows are brought up to date in each step"});
        if (!added.lookups) added.steps->flush_each_step();
        places_.emplace(&table, tables_.size());
        tables_.push_back(added);
        table.catch_up = [steps = added.steps] { steps->flush(Cpu{}); };
    }
    bool contains(Variable const& table) const override { return places_.contains(&table); }

    void catch_up(Cpu exec, std::span<Feeds const> batches, std::span<Variable* const> others) const override {
        for (Table const& t : tables_) {
            if (t.lookups && std::ranges::find(others, t.variable) == others.end())
                t.steps->catch_up(exec, t.lookups->ids(exec, batches, true), false);
        }
    }
    void catch_up(Cpu exec, Variable const& table, Ids<> const& positions) const override {
        if (auto const at = places_.find(&table); at != places_.end())
            tables_[at->second].steps->catch_up(exec, positions, true);
    }
    void fit(Variable const& table, std::span<std::int64_t const> inserted) const override {
        if (auto const at = places_.find(&table); at != places_.end()) tables_[at->second].steps->fit(inserted);
    }
    void flush(Cpu exec, bool files) const override {
        for (Table const& t : tables_) {
            if (files || !t.steps->in_file()) t.steps->flush(exec);
        }
    }
    void save(Parameters& to) const override {
        for (Table const& t : tables_) {
            if (t.steps->in_file())
                t.steps->save([&](std::string_view part, Value value) {
                    to.set(part_name(*t.variable, part), std::move(value));
                });
        }
    }
    void load(Parameters const& from) const override {
        for (Table const& t : tables_) {
            if (from.contains(part_name(*t.variable, "made")))
                t.steps->load(
                    [&](std::string_view part) -> Value const& { return from.find(part_name(*t.variable, part)); });
        }
    }

private:
    struct Table {
        Variable* variable;
        std::shared_ptr<MissedSteps> steps;
        std::optional<TableLookups> lookups;  // nothing where each step reads all rows
    };

    std::vector<Table> tables_;
    std::unordered_map<Variable const*, std::size_t> places_;                                  // in tables_
    std::optional<std::unordered_map<Variable const*, std::optional<TableLookups>>> lookups_;  // of tables to add
};

ROWAN_CALLED_FUNCTION std::unique_ptr<DeferredTables> new_deferred_tables() {
    return std::make_unique<TablesOfTrainer<>>();
}

}  // namespace rowan::inline v0::detail

#endif
