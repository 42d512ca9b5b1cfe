// rowan/io/keyed_table.hpp: keyed tables in checkpoints.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/detail/key_variable.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/keyed_table.hpp>
#include <rowan/sparse/touched_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

template <class T, class Key, class Value>
void add_keyed_table(Checkpoint& checkpoint, std::string const& name, KeyedTable<T, Key> const& table,
                     Value const& value) {
    auto const contents = table.index().contents();
    using Stored = KeyVariable<Key>;
    Checkpoint added = checkpoint;  // so that an error leaves `checkpoint` as it was
    added.add(name, value);
    added.add(name + ".keys", Stored::of(contents.keys));
    added.add(name + ".rows", Tensor<std::int64_t>(contents.rows));
    added.add(name + ".uses", use_variable(contents.uses));
    added.add(name + ".seen", Stored::of(contents.seen));
    added.add(name + ".sightings", use_variable(contents.sightings));
    added.add(name + ".step", Tensor<std::int64_t>{contents.step});
    checkpoint = std::move(added);
}

/// What add_keyed_table has saved of an index, whose rows are `value`.
/// errors   GraphError, TypeError, ShapeError and FormatError as load_keyed_table
template <class Key, class File, class T>
KeyIndexContents<Key> saved_keys(File const& file, std::string const& name, Tensor<T> const& value) {
    using Stored = KeyVariable<Key>;
    using Numbers = Tensor<std::int64_t>;
    auto const uses = [&](char const* part) { return uses_of(name + part, file.template load<Numbers>(name + part)); };
    auto const keys = [&](char const* part) {
        return Stored::keys(name + part, file.template load<typename Stored::type>(name + part));
    };
    auto const rows = file.template load<Numbers>(name + ".rows"), step = file.template load<Numbers>(name + ".step");
    if (step.size() != 1) throw ShapeError({name, ".step"}, {step.size(), " numbers"}, "1");
    check_rows(name.c_str(), value);
    if (value.row_size() == 0 && value.shape()[0] > rows.size())  // the file has no elements that bound it
        throw ShapeError({name, ".shape(0)"}, value.shape()[0], {rows.size(), ", the number of keys"});
    KeyIndexContents<Key> contents{.height = static_cast<std::int64_t>(value.shape()[0]), .step = step.data()[0]};
    contents.keys = keys(".keys");
    contents.rows.assign(rows.begin(), rows.end());
    contents.uses = uses(".uses");
    contents.seen = keys(".seen");
    contents.sightings = uses(".sightings");
    return contents;
}

}  // namespace detail

/// Adds a table to a checkpoint: its rows as the variable `name`, and what its index holds as `name.keys`, `name.rows`,
/// `name.uses`, `name.seen`, `name.sightings` and `name.step`. States are tensors like any others:
///     add_keyed_table(checkpoint, "users", table);
///     checkpoint.add("users.moment", moment.tensor());
/// errors   those of Checkpoint::add for one of the names
/// cost     O(height); the rows are not copied
template <class T, key_type Key>
void add_keyed_table(Checkpoint& checkpoint, std::string const& name, KeyedTable<T, Key> const& table) {
    detail::add_keyed_table(checkpoint, name, table, table.value());
}

/// Adds the rows of a table that changed to a delta checkpoint, and what its index holds now:
///     auto rows = table.find_or_insert(keys);             in every step
///     touched.grow(table.height());
///     touched.add(rows);
///     add_keyed_table(delta, "users", table, touched);    the new and the changed rows, and which keys there are
///     delta.add("users.moment", touched.of(moment.tensor()));
/// errors   as for a whole table; ShapeError if the set has another height than the table
/// cost     O(height) for the index, 16 bytes and its uses for each key, and one copy of the rows
template <class T, key_type Key>
void add_keyed_table(Checkpoint& delta, std::string const& name, KeyedTable<T, Key> const& table,
                     TouchedRows const& touched) {
    detail::add_keyed_table(delta, name, table, touched.of(table.value()));
}

/// Replaces keys and rows of a table by those that add_keyed_table saved. States get as many rows and begin anew; load
/// theirs afterwards:
///     CheckpointFile file("model.rowan");
///     load_keyed_table(file, "users", table);
///     moment.assign(file.load<Tensor<float>>("users.moment"));
/// `file` is a CheckpointFile or a CheckpointChain.
/// errors   GraphError if a variable is missing; TypeError if the table has another element type, or its keys are
///          strings and those of the file are not; ShapeError if rows without elements are free; ShapeError and
///          IndexError as KeyedTable::assign, which name what is wrong, such as a key that repeats; FormatError if the
///          file is damaged; the table is unchanged
/// cost     reads the variables, and that of KeyedTable::assign
template <class File, class T, key_type Key>
void load_keyed_table(File const& file, std::string const& name, KeyedTable<T, Key>& table) {
    auto const value = file.template load<Tensor<T>>(name);
    table.assign(detail::saved_keys<Key>(file, name, value), value);
}

}  // namespace rowan::inline v0
