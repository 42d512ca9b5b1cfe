// rowan/train/detail/trained_tables_of.hpp: TrainedTablesOf, what a trainer does with tables by keys and in files.
#pragma once

#include <rowan/train/detail/trained_tables.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/strings.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/detail/table_inputs_of.hpp>
#include <rowan/train/detail/table_lookups.hpp>
#include <rowan/train/detail/told_keys.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace rowan::inline v0::detail {

/// The tables of a trainer. A template, which kinds of tables instantiate.
template <class = void>
class TrainedTablesOf final : public TrainedTables {
public:
    ~TrainedTablesOf() override {  // a file is closed, unless parameters refer to it
        for (Variable* const v : variables_) {
            if (is_in_file(*v)) v->value().clear();
            auto& table = new_role(*v).table;
            if (table != nullptr) table->trained = false;
            table = nullptr;
        }
    }

    void find(std::span<Variable* const> parameters, std::span<Operator* const> order,
              std::span<Variable* const> inputs) override;
    void make(std::span<Variable* const> all, std::span<std::uint64_t const> seeds, Parameters const* resume,
              Feeds const& initial) override;
    void meet(Ranks const& ranks, std::span<Feeds const> batches, PartRange parts, std::int64_t trainer,
              std::function<void()> const& begin) override;
    bool by_keys() const override { return !places_.empty(); }
    void tell_ranks(NamedValues& to) const override;
    void bind(Cpu exec, std::span<Feeds const> batches, std::int64_t step, DeferredTables const* deferred) override;
    void place(Cpu exec, std::size_t part) override;
    void write(Cpu exec, std::span<ParameterGradient const> gradients) const override;
    void keep() const override;
    void report() const override;
    void end(DeferredTables const* deferred) noexcept override;
    void show(DeferredTables const* deferred) const override;
    void save(Parameters& to, Saving saving) const override;
    void saved_others() const override {
        for (auto const& t : tables_) role_of(*t.variable).table->saved_others();
    }
    std::shared_ptr<TableInputs> new_inputs() const override;

private:
    /// Where the net looks up keys in one or several tables.
    struct Places {
        Variable* variable;
        std::vector<Value> found = {};  // of each part, of each table
    };
    struct Table {
        Variable* variable;
        Variable const* time = nullptr;  // the data with the time of a step, or its number
        std::unique_ptr<AnyTable::View> view = nullptr;
    };
    static FindTablePart parts_of(Variable const& v, Parameters const& from) {
        return [&](std::string_view part) -> Value const& {
            return from.find(part.empty() ? v.name() : part_name(v, part));
        };
    }
    /// The keys of a part in these places.
    static void read(Variable const& places, Feeds const& feeds, std::span<Value> keys);
    /// The time of a part.
    static std::int64_t time_of(Table const& table, Feeds const& feeds);
    /// The time of a step, from those of its parts.
    static std::int64_t time_of(Table const& table, std::span<std::int64_t const> parts);

    std::vector<Table> tables_;
    std::vector<Places> places_;
    /// What ranks have told: for each of places_ the keys of each part, of each table; and for each table the times of parts.
    std::vector<std::vector<Value>> met_;
    std::vector<std::vector<std::int64_t>> met_times_;
    std::vector<Variable*> variables_;  // of tables and their states
};

template <class V>
std::shared_ptr<TableInputs> TrainedTablesOf<V>::new_inputs() const {
    return std::make_shared<TableInputsOf<>>();
}

ROWAN_CALLED_FUNCTION std::shared_ptr<TrainedTables> new_trained_tables() {
    return std::make_shared<TrainedTablesOf<>>();
}

template <class V>
ROWAN_RARE void TrainedTablesOf<V>::find(std::span<Variable* const> parameters, std::span<Operator* const> order,
                                         std::span<Variable* const> inputs) {
    auto const has_table = [&](std::string_view name) {
        return std::ranges::any_of(tables_, [&](Table const& t) { return t.variable->name() == name; });
    };
    for (Variable* const v : parameters) {
        if (role_of(*v).kind == nullptr) continue;
        tables_.push_back({v});
        auto const& time = role_of(*v).kind->time;
        if (time.empty()) continue;
        Variable const* const data = v->scope().find(time);
        if (data == nullptr || data->role() != Role::data || data->spec().type != VarType::LOD_TENSOR ||
            data->spec().dtype != dtype<std::int64_t>::wire)
            throw GraphError({"the time of ", v->name(), " is \"", time, "\", which is no layer::data<std::int64_t>"});
        tables_.back().time = data;
    }
    for (Variable* const v : parameters) {
        if (is_table_part(v->name()) && has_table(std::string_view(v->name()).substr(0, v->name().rfind('#'))))
            throw GraphError({"the name of the parameter ", v->name(), " is that of a part of a table by keys"});
    }
    for (auto const& t : tables_) {
        auto const& path = role_of(*t.variable).kind->path_of_file;
        auto const same = [&](Table const& other) {
            return &other != &t && role_of(*other.variable).kind->path_of_file == path;
        };
        if (!path.empty() && std::ranges::any_of(tables_, same))
            throw GraphError({t.variable->name(), " is in the file ", path, ", as is another table"});
    }
    for (Variable* const v : inputs) {
        if (v->role() != Role::places) continue;
        for (Variable const* const table : role_of(*v).tables) {
            if (!has_table(table->name()))
                throw GraphError({table->name(), " is a table by keys, which the cost reads and does not train"});
        }
        places_.push_back({v});
    }
    each_read_of(order, [&](Operator const& op, std::size_t slot, OutsideOf const& outside) {
        Variable const* const v = op.inputs[slot];
        if (v == nullptr || role_of(*v).kind == nullptr || !role_of(*v).kind->by_keys) return;
        bool looked_up = false;
        for (Variable* const input : op.inputs) {
            Variable const* const from = input == nullptr ? nullptr : outside(input);
            if (from == nullptr) continue;
            for (Variable const* const table : role_of(*from).tables) looked_up = looked_up || table == v;
        }
        if (!looked_up)
            throw GraphError({v->name(), " is a table by keys, and read by ", op.kernel->name,
                              ": nets read it by layer::embedding, embedding_bag or embedding_bags"});
    });
}

template <class V>
ROWAN_RARE void TrainedTablesOf<V>::make(std::span<Variable* const> all, std::span<std::uint64_t const> seeds,
                                         Parameters const* resume, Feeds const& initial) {
    variables_.reserve(all.size());
    Parameters given;  // of initial
    for (auto const& [name, feed] : initial) given.set(name, feed.value());
    Parameters const& from = resume == nullptr ? given : *resume;
    for (auto const& t : tables_) {
        auto const held = ParametersAccess::table(from, t.variable->name());
        if (role_of(*t.variable).table != nullptr || (held != nullptr && held->trained))
            throw GraphError({"another trainer has the table ", t.variable->name()});
    }
    if (resume != nullptr && tables_.size() > 1) {  // so that none of the files goes back if another cannot
        for (auto const& t : tables_)
            role_of(*t.variable)
                .kind->check_way(table_spec(*t.variable), parts_of(*t.variable, from),
                                 ParametersAccess::table(from, t.variable->name()));
    }
    std::vector<Table const*> order;  // files last, which may go back
    for (bool const files : {false, true}) {
        for (auto const& t : tables_) {
            if (is_in_file(*t.variable) == files) order.push_back(&t);
        }
    }
    for (Table const* const t : order) {
        Variable& v = *t->variable;
        auto spec = table_spec(v);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i] == &v) spec.seed = seeds[i];
            if (role_of(*all[i]).state_of == &v)
                spec.states.push_back({role_of(*all[i]).state.name, role_of(*all[i]).state.one_per_row});
        }
        auto const find_part = parts_of(v, from);
        bool begins = resume == nullptr;
        for (auto const& [name, value] : from) {
            bool const of_table = name == v.name() || name.starts_with(v.name() + "#");
            if (of_table && resume == nullptr && is_in_file(v))
                throw GraphError({"options.initial has \"", name, "\", and ", v.name(), " is in a file"});
            begins = begins && !of_table;
        }
        auto table =
            begins ? role_of(v).kind->make(spec)
                   : role_of(v).kind->load(spec, find_part, resume == nullptr, ParametersAccess::table(from, v.name()));
        table->trained = true;
        new_role(v).table = std::move(table);
        variables_.push_back(&v);
        for (Variable* const state : all) {
            if (role_of(*state).state_of != &v) continue;
            variables_.push_back(state);
            if (resume != nullptr && !is_in_file(v) && resume->contains(state->name()))
                role_of(v).table->load_state(role_of(*state).state.name, resume->find(state->name()));
        }
    }
    show(nullptr);
}

template <class V>
void TrainedTablesOf<V>::show(DeferredTables const* deferred) const {
    for (Variable* const v : variables_) {
        Variable const* const table = role_of(*v).state_of;
        v->value() =
            table == nullptr ? role_of(*v).table->rows() : role_of(*table).table->state(role_of(*v).state.name);
    }
    for (auto const& t : tables_) {
        if (deferred != nullptr && role_of(*t.variable).kind->by_keys)
            deferred->fit(*t.variable, t.view == nullptr ? std::span<std::int64_t const>() : t.view->inserted());
    }
}

template <class V>
std::int64_t TrainedTablesOf<V>::time_of(Table const& table, Feeds const& feeds) {
    Value const value = fed_value(*table.time, feeds);
    auto const& one = value.get<LoDTensor<std::int64_t>>().value();
    if (one.size() != 1) throw ShapeError({table.time->name(), ".size()"}, one.size(), "1, the time of the batch");
    return one.data()[0];
}

template <class V>
std::int64_t TrainedTablesOf<V>::time_of(Table const& table, std::span<std::int64_t const> parts) {
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (parts[i] < parts[i - 1])
            throw ValueError({table.time->name(), " of part ", i}, parts[i],
                             {parts[i - 1], " or more, that of the part before"});
    }
    return parts.back();
}

template <class V>
void TrainedTablesOf<V>::read(Variable const& places, Feeds const& feeds, std::span<Value> keys) {
    auto found = keys_by_table(places, fed_value(*role_of(places).data, feeds));
    for (std::size_t k = 0; k < found.size(); ++k) keys[k] = std::move(found[k]);
}

template <class V>
void TrainedTablesOf<V>::meet(Ranks const& ranks, std::span<Feeds const> batches, PartRange parts, std::int64_t trainer,
                              std::function<void()> const& begin) {
    met_.clear();
    met_times_.clear();
    std::vector<std::vector<Value>> keys(places_.size());
    std::vector<std::vector<std::int64_t>> times(tables_.size());
    std::vector<std::byte> own;
    auto words = ranks.agree(TrainCall::keys, trainer, [&](Ranks::Words& told) {
        begin();
        for (std::size_t p = 0; p < places_.size(); ++p)
            keys[p].resize(batches.size() * role_of(*places_[p].variable).tables.size());
        for (auto i = static_cast<std::size_t>(parts.begin); i < static_cast<std::size_t>(parts.end); ++i) {
            for (std::size_t p = 0; p < places_.size(); ++p) {
                std::size_t const n = role_of(*places_[p].variable).tables.size();
                auto const mine = std::span(keys[p]).subspan(i * n, n);
                read(*places_[p].variable, batches[i], mine);
                for (Value const& some : mine) append_keys(own, some);
            }
            for (auto const& t : tables_) {
                if (t.time != nullptr) append_numbers(own, std::array{time_of(t, batches[i])});
            }
        }
        told = {parts.total, static_cast<std::int64_t>(own.size()), parts.total == 1 ? hash_of(own) : 0};
    });
    check_same_word(words, 0, " has another number of batches for a step than ");
    check_same_word(words, 2, " has other keys for the only part of a step than ");
    if (parts.total == 1) return;  // each rank has them
    ranks.must([&] {
        words.resize(static_cast<std::size_t>(ranks.size()), words[0]);  // one if all are the same
        std::vector<std::size_t> bytes;
        std::size_t total = 0;
        for (auto const& told : words) {
            bytes.push_back(static_cast<std::size_t>(told[1]));
            total += bytes.back();
        }
        std::vector<std::byte> all(total);
        ranks.begin_gather(own, all, bytes)();
        std::span<std::byte const> from = all;
        for (int r = 0; r < ranks.size(); ++r) {
            auto const theirs = PartRange::of_rank(parts.total, r, ranks.size());
            for (auto i = theirs.begin; i < theirs.end; ++i) {
                for (std::size_t p = 0; p < places_.size(); ++p) {
                    auto const& role = role_of(*places_[p].variable);
                    std::size_t const n = role.tables.size();
                    for (std::size_t k = 0; k < n; ++k) {
                        Value told = take_keys(from, role.data->spec().type);
                        // those of this rank have shapes and levels
                        if (r != ranks.rank()) keys[p][static_cast<std::size_t>(i) * n + k] = std::move(told);
                    }
                }
                for (std::size_t k = 0; k < tables_.size(); ++k) {
                    if (tables_[k].time != nullptr) times[k].push_back(take_number(from));
                }
            }
        }
        met_ = std::move(keys);
        met_times_ = std::move(times);
    });
}

template <class V>
ROWAN_RARE void TrainedTablesOf<V>::tell_ranks(NamedValues& to) const {
    for (auto const& t : tables_) {
        auto const& v = *t.variable;
        to.add(std::string("the kind of ").append(v.name()), role_of(v).kind->text());
        std::vector<std::int64_t> rows;
        auto const add = [&](std::string_view part, Value value) {
            to.add(std::string("a hash of ").append(part_name(v, part)), hash_of(value.elements().bytes));
            if (part != "rows") return;
            auto const& own = value.template get<LoDTensor<std::int64_t>>().value();
            rows.assign(own.begin(), own.end());
        };
        role_of(v).table->save(add, Saving::nothing);
        if (!role_of(v).kind->by_keys) continue;
        for (Variable const* const of : variables_) {  // rows that no key has may differ
            if (of != &v && role_of(*of).state_of != &v) continue;
            Value some = of->value().gather(Cpu{}, rows);
            to.add(std::string("a hash of ").append(of->name()), hash_of(some.elements().bytes));
        }
    }
}

template <class V>
void TrainedTablesOf<V>::bind(Cpu exec, std::span<Feeds const> batches, std::int64_t step,
                              DeferredTables const* deferred) {
    auto keys = std::exchange(met_, {});
    auto times = std::exchange(met_times_, {});
    keys.resize(places_.size());
    times.resize(tables_.size());
    for (std::size_t p = 0; p < places_.size(); ++p) {
        Variable const& v = *places_[p].variable;
        std::size_t const n = role_of(v).tables.size();
        if (keys[p].empty()) {
            keys[p].resize(batches.size() * n);
            for (std::size_t i = 0; i < batches.size(); ++i) read(v, batches[i], std::span(keys[p]).subspan(i * n, n));
        }
        places_[p].found.resize(keys[p].size());
    }
    for (auto& t : tables_) {
        if (!role_of(*t.variable).kind->by_keys) continue;
        std::vector<Value> mine, found;
        std::vector<Value*> to;
        for (std::size_t i = 0; i < batches.size(); ++i) {  // in the order of parts
            for (std::size_t p = 0; p < places_.size(); ++p) {
                auto const& of = role_of(*places_[p].variable).tables;
                for (std::size_t k = 0; k < of.size(); ++k) {
                    if (of[k] != t.variable) continue;
                    mine.push_back(keys[p][i * of.size() + k].share());
                    to.push_back(&places_[p].found[i * of.size() + k]);
                }
            }
        }
        found.resize(mine.size());
        auto& of_parts = times[static_cast<std::size_t>(&t - tables_.data())];
        for (std::size_t i = of_parts.size(); t.time != nullptr && i < batches.size(); ++i)
            of_parts.push_back(time_of(t, batches[i]));
        try {
            t.view =
                role_of(*t.variable).table->view(exec, mine, found, t.time == nullptr ? step : time_of(t, of_parts));
        } catch (IndexError const& e) {  // its position is in the keys of all parts
            throw e.moved_to({"the keys of ", t.variable->name()}, IndexError::no_position);
        }
        for (std::size_t i = 0; i < to.size(); ++i) *to[i] = std::move(found[i]);
    }
    show(deferred);
    if (deferred == nullptr) return;
    for (auto const& p : places_) {
        auto const& of = role_of(*p.variable).tables;
        for (std::size_t i = 0; i < p.found.size(); ++i)
            deferred->catch_up(exec, *of[i % of.size()], p.found[i].template get<LoDTensor<std::int64_t>>().value());
    }
}

template <class V>
void TrainedTablesOf<V>::place(Cpu exec, std::size_t part) {
    for (auto& p : places_) {
        std::size_t const n = role_of(*p.variable).tables.size();
        p.variable->value() = joined_places(exec, std::span(p.found).subspan(part * n, n));
    }
}

template <class V>
void TrainedTablesOf<V>::write(Cpu exec, std::span<ParameterGradient const> gradients) const {
    for (auto const& t : tables_) {
        if (t.view != nullptr) t.view->write();
    }
    for (auto const& g : gradients) {
        if (is_in_file(*g.parameter)) role_of(*g.parameter).table->write(exec, g.gradient->value().row_numbers());
    }
}

template <class V>
void TrainedTablesOf<V>::keep() const {
    for (auto const& t : tables_) {
        if (t.view != nullptr) t.view->commit();
    }
}

template <class V>
void TrainedTablesOf<V>::report() const {
    std::exception_ptr first;
    for (auto const& t : tables_) {
        try {
            if (t.view != nullptr) t.view->report();
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    if (first) std::rethrow_exception(first);
}

template <class V>
void TrainedTablesOf<V>::end(DeferredTables const* deferred) noexcept {
    for (auto& t : tables_) {
        t.view = nullptr;
    }
    met_.clear();
    met_times_.clear();
    for (auto& p : places_) {
        p.found.clear();
        p.variable->value().clear();
    }
    try {
        show(deferred);
    } catch (...) {  // without memory: the next step shows them
        for (Variable* const v : variables_) v->value().clear();
    }
}

template <class V>
ROWAN_RARE void TrainedTablesOf<V>::save(Parameters& to, Saving saving) const {
    for (auto const& t : tables_) {
        auto const& v = *t.variable;
        role_of(v).table->save(
            [&](std::string_view part, Value value) { to.set(part_name(v, part), std::move(value)); }, saving);
    }
    for (Variable const* const v : variables_) {
        if (is_in_file(*v))
            ParametersAccess::refer(to, v->name(),
                                    role_of(role_of(*v).state_of == nullptr ? *v : *role_of(*v).state_of).table);
    }
}

}  // namespace rowan::inline v0::detail

#endif
