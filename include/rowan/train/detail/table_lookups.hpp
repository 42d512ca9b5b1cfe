// rowan/train/detail/table_lookups.hpp: TableLookups, the sharded tables of a net and the data that name their rows.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/train/feeds.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rowan::inline v0::detail {

/// A table of a net, and the data whose ids are looked up in it.
struct TableLookups {
    /// Data with ids, and the row that is read for those that are not in the table.
    struct Lookup {
        Variable const* ids;
        std::optional<std::int64_t> unknown;
        bool operator==(Lookup const&) const = default;
    };
    Variable* table;
    std::vector<Lookup> lookups = {};

    std::int64_t height() const { return table->spec().dims[0]; }

    /// The ids of batches, and the rows for unknown ids. Those that the table does not have are left out if there is such
    /// a row, or if `known`.
    /// errors   IndexError if a row for unknown ids, or without one an id, is not in [0, height), unless `known`; as
    ///          fed_value
    /// cost     one read of the ids
    ROWAN_IF_CALLED std::vector<std::int64_t> ids(Cpu exec, std::span<Feeds const> batches, bool known = false) const;

    /// The rows that batches name, ascending, with those for unknown ids.
    /// errors   IndexError if a row for unknown ids, or without one an id, is not in [0, height); as fed_value
    /// cost     a sort of the ids
    ROWAN_IF_CALLED std::vector<std::int64_t> rows(Cpu exec, std::span<Feeds const> batches) const;
};

/// For each variable that a net reads, the data whose ids are looked up in it, or nothing if the net reads it in another
/// way, too.
/// cost     one pass over the net
ROWAN_IF_CALLED std::unordered_map<Variable const*, std::optional<TableLookups>> all_lookups(Variable& target);

/// The sharded tables that a net reads. Names its variables.
/// errors   GraphError if one is read by an operator that is not a lookup, or by one whose ids are neither data nor, in a
///          step of a recurrent layer, elements of data
/// cost     one pass over the net
ROWAN_IF_CALLED std::vector<TableLookups> table_lookups(Variable& target);

/// Checks that a value of a sharded table has the rows of this process.
/// errors   ShapeError if not
/// cost     one read of the row numbers
ROWAN_IF_CALLED void check_shard(Variable const& table, Value const& value, std::vector<std::int64_t> const& own);

/// Calls f(the tensor of ids) of a value on the host.
template <class F>
void visit_ids(Value const& v, F const& f) {
    if (v.is<LoDTensor<std::int32_t>>()) {
        f(v.get<LoDTensor<std::int32_t>>().value());
    } else {
        f(v.get<LoDTensor<std::int64_t>>().value());
    }
}

/// Finds the table of which a name is that of the table or of one of its states.
class TableNames {
public:
    void add(Variable* table) { tables_.emplace(table->name(), table); }
    /// The table, or nullptr if it is another name; of several, the one with the longest name.
    /// cost     O(length of the name)
    Variable* find(std::string_view name) const {
        auto found = tables_.find(name);
        for (auto at = name.rfind('@'); found == tables_.end() && at != std::string_view::npos; at = name.rfind('@')) {
            name = name.substr(0, at);
            found = tables_.find(name);
        }
        return found == tables_.end() ? nullptr : found->second;
    }

private:
    std::unordered_map<std::string_view, Variable*> tables_;  // by names, which the tables keep
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/table_lookups_inl.hpp>
