// rowan/train/detail/table_inputs_of.hpp: TableInputsOf, what a predictor reads of tables by keys and in files.
#pragma once

#include <rowan/train/detail/trained_tables.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/train/detail/feed.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION TableSpec table_spec(Variable const& table) {
    return {.wire = table.spec().dtype,
            .dims = table.spec().dims,
            .names = role_of(table).keys.value_or(VarType::LOD_TENSOR)};
}

ROWAN_CALLED_FUNCTION std::unique_ptr<AnyTableReader> table_reader(Variable const& table,
                                                                   Parameters const& parameters) {
    return role_of(table).kind->open(table_spec(table), [&](std::string_view part) -> Value const& {
        return parameters.find(part_name(table, part));
    });
}

/// The keys of a value of data for each of the tables that places name: the first has the first bags.
/// errors   ShapeError if there is another number of bags for each table
template <class = void>
std::vector<Value> keys_by_table(Variable const& places, Value const& data) {
    std::vector<Value> keys;
    std::size_t const n = role_of(places).tables.size();
    if (n == 1) {
        keys.push_back(data.share());
        return keys;
    }
    std::size_t const bags = data.count();
    if (bags % n != 0)
        throw ShapeError({role_of(places).data->name(), ": the number of bags"}, bags,
                         {"a multiple of ", n, ", the tables"});
    for (std::size_t k = 0; k < n; ++k) keys.push_back(data.slice(bags / n * k, bags / n * (k + 1)));
    return keys;
}

/// The rows of these keys, in one value.
template <class = void>
Value joined_places(Cpu exec, std::span<Value> rows) {
    if (rows.size() == 1) return rows[0].share();
    std::vector<Value*> all;
    for (Value& some : rows) all.push_back(&some);
    return Value::concat(exec, all);
}

/// The tables that a predictor reads. A template, which kinds of tables instantiate.
template <class = void>
class TableInputsOf final : public TableInputs {
public:
    void add(std::size_t input, Variable const& places, Parameters const& parameters) override {
        inputs_.push_back({input, &places, {}});
        for (Variable const* const table : role_of(places).tables)
            inputs_.back().readers.push_back(&reader(*table, parameters));
    }
    Value rows(Variable const& table, Parameters const& parameters) override {
        return reader(table, parameters).rows();
    }
    void find(Cpu exec, Feeds const& feeds, std::span<Value> values) const override {
        for (auto const& in : inputs_) {
            auto const& role = role_of(*in.places);
            auto found = keys_by_table(*in.places, fed_value(*role.data, feeds));
            for (std::size_t k = 0; k < found.size(); ++k) {
                try {
                    found[k] = in.readers[k]->find(exec, found[k]);
                } catch (IndexError const& e) {
                    throw e.moved_to(role.data->name(), k == 0 ? e.position() : IndexError::no_position);
                }
            }
            values[in.number] = joined_places(exec, found);
        }
    }
    bool reads(std::string_view data) const override {
        for (auto const& in : inputs_) {
            if (role_of(*in.places).data->name() == data) return true;
        }
        return false;
    }

private:
    struct Input {
        std::size_t number;
        Variable const* places;
        std::vector<AnyTableReader const*> readers;  // of its tables
    };
    /// That of a table, made once.
    AnyTableReader const& reader(Variable const& table, Parameters const& parameters) {
        for (auto const& known : readers_) {
            if (known.first == &table) return *known.second;
        }
        readers_.emplace_back(&table, table_reader(table, parameters));
        return *readers_.back().second;
    }

    std::vector<Input> inputs_;
    std::vector<std::pair<Variable const*, std::unique_ptr<AnyTableReader>>> readers_;
};

}  // namespace rowan::inline v0::detail

#endif
