// rowan/graph/detail/any_table.hpp: AnyTable, a table by keys or in a file, as a parameter of a net holds it.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/var_spec.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// The parts of a saved table besides its rows, such as "keys": values by names.
using AddTablePart = std::function<void(std::string_view part, Value value)>;
using FindTablePart = std::function<Value const&(std::string_view part)>;

/// What becomes of tables in files when parameters are made that refer to them.
enum class Saving {
    nothing,      ///< they may have rows that are not saved
    alone,        ///< they are saved
    with_others,  ///< they are saved, and can go back to the save before until all else is
};

/// A table with elements of any type, and the states of its optimizer. A parameter and its states are its tensors.
class AnyTable {
public:
    AnyTable() = default;
    AnyTable(AnyTable const&) = delete;
    AnyTable& operator=(AnyTable const&) = delete;
    virtual ~AnyTable() = default;

    /// The rows of the keys of a step: see row_view. It is given up on destruction, unless `commit` was called.
    class View {
    public:
        View() = default;
        View(View const&) = delete;
        View& operator=(View const&) = delete;
        virtual ~View() = default;

        virtual std::span<std::int64_t const> inserted() const = 0;  ///< the rows of new keys
        /// Does of `commit` what may fail.
        virtual void write() = 0;
        virtual void commit() = 0;
        /// Tells the user what commit has removed.
        virtual void report() const = 0;
    };
    /// Of a table by keys: sets places[i] to the rows of the keys names[i], of their shape and levels; new keys have rows.
    /// `time` is that of the step.
    virtual std::unique_ptr<View> view(Cpu exec, std::span<Value const> names, std::span<Value> places,
                                       std::int64_t time) = 0;
    /// Of a table in a file: called before rows change.
    virtual void write(Cpu exec, Ids<> const& rows) = 0;

    /// All rows, or all of a state: aliases, which have the rows that there are now.
    virtual Value rows() const = 0;
    virtual Value state(std::string const& name) = 0;
    /// Replaces a state of a table in memory.
    virtual void load_state(std::string const& name, Value const& value) = 0;

    /// Calls add(part, value) for all but rows and states of a table in memory.
    virtual void save(AddTablePart const& add, Saving saving) = 0;
    /// All that was made with Saving::with_others is saved.
    virtual void saved_others() {}

    bool trained = false;  ///< by a trainer, which has it alone
};

/// What a table is made with.
struct TableSpec {
    struct State {
        std::string name;
        bool one_per_row;  ///< or as many as a row has elements
    };
    std::int32_t wire = 0;           ///< dtype<T>::wire of its elements
    Dims dims = {};                  ///< height, or UNK of a table by keys, and width
    VarType names = {};              ///< the kind of the data that names its rows
    std::uint64_t seed = 0;          ///< of its first values
    std::vector<State> states = {};  ///< of its optimizer
};

/// Which row each key has, or the rows of a file, for nets that do not train. Any number of threads may use it.
class AnyTableReader {
public:
    AnyTableReader() = default;
    AnyTableReader(AnyTableReader const&) = delete;
    AnyTableReader& operator=(AnyTableReader const&) = delete;
    virtual ~AnyTableReader() = default;

    /// The rows of keys, of their shape and levels.
    virtual Value find(Cpu exec, Value const& names) const = 0;
    /// Of a table in a file: all rows.
    virtual Value rows() const = 0;
};

class TrainedTables;

/// A kind of tables.
class AnyTableKind {
public:
    AnyTableKind() = default;
    AnyTableKind(AnyTableKind const&) = delete;
    AnyTableKind& operator=(AnyTableKind const&) = delete;
    virtual ~AnyTableKind() = default;

    /// A new table.
    virtual std::shared_ptr<AnyTable> make(TableSpec const& spec) const = 0;
    /// A saved one: `held`, if it is in a file that this process has open, or null. States in memory begin anew, and if
    /// `anew`, so does time. A table in a file goes back to the save of these parts.
    virtual std::shared_ptr<AnyTable> load(TableSpec const& spec, FindTablePart const& find, bool anew,
                                           std::shared_ptr<AnyTable> const& held) const = 0;
    /// Checks that a table in a file can go back to the save of these parts.
    virtual void check_way(TableSpec const&, FindTablePart const&, std::shared_ptr<AnyTable> const&) const {}
    virtual std::unique_ptr<AnyTableReader> open(TableSpec const& spec, FindTablePart const& find) const = 0;

    /// What trainers and predictors need for their tables.
    virtual std::shared_ptr<TrainedTables> tables() const = 0;
    /// The options that ranks must have the same.
    virtual std::string text() const = 0;

    bool by_keys = false;  ///< whether rows have keys; else they have numbers
    bool in_file = false;  ///< whether rows and states are in a file, and parameters refer to it
    std::string path_of_file = {};
    std::string time = {};  ///< of a table by keys: the data with the time of a step; empty: its number
};

/// What a variable has to do with tables by keys and in files.
struct TableRole {
    std::shared_ptr<AnyTableKind const> kind = nullptr;  ///< of a parameter that is such a table
    std::shared_ptr<AnyTable> table = nullptr;           ///< of such a parameter, while it is trained
    std::optional<VarType> keys = {};                    ///< of a table by keys: the kind of its keys
    Variable* data = nullptr;                            ///< of places: the keys
    std::vector<Variable*> tables = {};  ///< of places: the tables, of which the first has the first bags
    Variable const* state_of = nullptr;  ///< of a state: the table,
    TableSpec::State state = {};         ///< and which state it is
};

/// That of a variable, which may have none.
inline TableRole const& role_of(Variable const& v) noexcept {
    static TableRole const none;
    return v.table_role == nullptr ? none : *v.table_role;
}
inline TableRole& new_role(Variable& v) {
    if (v.table_role == nullptr) v.table_role = std::make_shared<TableRole>();
    return *v.table_role;
}

}  // namespace rowan::inline v0::detail
