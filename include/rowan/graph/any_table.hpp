// rowan/graph/any_table.hpp: AnyTable, a table whose rows have names, as a parameter of a net holds it.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/value.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rowan::inline v0::detail {

/// The parts of a saved table besides its rows, such as "keys": values by names.
using AddTablePart = std::function<void(std::string_view part, Value value)>;
using FindTablePart = std::function<Value const&(std::string_view part)>;

/// Which row each name has, for nets that do not train.
class AnyTableIndex {
public:
    AnyTableIndex() = default;
    AnyTableIndex(AnyTableIndex const&) = delete;
    AnyTableIndex& operator=(AnyTableIndex const&) = delete;
    virtual ~AnyTableIndex() = default;

    /// The rows of names, of their shape and levels. Any number of threads may call it.
    virtual Value find(Cpu exec, Value const& names) const = 0;
};

/// A table whose rows have names, with elements of any type, and the states of its optimizer.
class AnyTable {
public:
    AnyTable() = default;
    AnyTable(AnyTable const&) = delete;
    AnyTable& operator=(AnyTable const&) = delete;
    virtual ~AnyTable() = default;

    /// The rows of the names of a step, see row_view: given up on destruction, unless `commit` was called.
    class View {
    public:
        View() = default;
        View(View const&) = delete;
        View& operator=(View const&) = delete;
        virtual ~View() = default;
        virtual void commit() = 0;
    };
    /// Sets places[i] to the rows of names[i], of its shape and levels; new names have rows.
    virtual std::unique_ptr<View> view(Cpu exec, std::span<Value const> names, std::span<Value> places) = 0;

    /// All rows, or all of a state, which is added if it is new: aliases, valid until the table grows.
    virtual Value rows() const = 0;
    virtual Value state(std::string const& name, bool one_per_row) = 0;

    /// Calls add(part, value) for all but rows and states.
    virtual void save(AddTablePart const& add) const = 0;
    /// Replaces the table by what was saved. States begin anew.
    virtual void load(Value const& rows, FindTablePart const& find) = 0;
    /// Replaces a state.
    virtual void load_state(std::string const& name, bool one_per_row, Value const& value) = 0;
};

/// Makes tables of a kind: `wire` is dtype<T>::wire of their elements.
struct TableMakers {
    std::function<std::shared_ptr<AnyTable>(std::int32_t wire, std::size_t width, std::uint64_t seed)> table;
    std::function<std::unique_ptr<AnyTableIndex>(FindTablePart const& find)> index;
};

}  // namespace rowan::inline v0::detail
