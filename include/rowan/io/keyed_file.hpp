// rowan/io/keyed_file.hpp: KeyedFile, a table by keys whose rows are in a file.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/table_file.hpp>
#include <rowan/sparse/keyed_table.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace rowan::inline v0 {

/// The rows and states of a KeyedTable in a TableFile that grows: see KeyedFile.
template <class T = float>
class RowsInFile {
public:
    /// errors   Error if the file has a fixed height
    /// cost     O(1)
    explicit RowsInFile(TableFile<T> file) : file_(std::move(file)) {
        if (!file_.grows())
            throw Error({file_.path(), " has a fixed height: a table by keys needs one made with .grows"});
    }

    TableFile<T>& file() noexcept { return file_; }  ///< to save it
    TableFile<T> const& file() const noexcept { return file_; }

private:
    template <class, key_type, class>
    friend class KeyedTable;

    static constexpr bool in_memory = false;
    std::int64_t height() const noexcept { return file_.height(); }
    std::int64_t most_rows() const noexcept { return std::numeric_limits<std::int64_t>::max(); }
    Tensor<T>& tensor() noexcept { return file_.rows(); }
    Tensor<T> const& tensor() const noexcept { return file_.rows(); }
    std::size_t states() const noexcept { return file_.states().size(); }
    template <class S>
    Tensor<S>& state(std::string_view name) {
        return file_.template state<S>(name);
    }
    template <class S>
    bool has_state(std::string_view name) const {
        return file_.template has_state<S>(name);
    }
    void reserve(std::int64_t) {}
    void grow(std::int64_t height) { detail::TableFileAccess::resize(file_, height); }
    void shrink(std::int64_t height) noexcept { detail::TableFileAccess::shrink(file_, height); }
    void change(Cpu exec, Ids<> const& rows) { file_.change(exec, rows); }
    void reset_states(std::int64_t row) { detail::TableFileAccess::reset_states(file_, row); }

    TableFile<T> file_;
};

/// A KeyedTable whose rows and states are in a file, which may be larger than the memory; keys are in memory. What the index
/// holds is saved beside the file, as of the same moment:
///     TableFile<float>::create("users.table", {.width = 64, .states = {TableState::of<float>("moment", 64)}, .grows = true});
///     KeyedFile<float> users({.width = 64}, RowsInFile(TableFile<float>("users.table")));
///     auto view = users.view(keys);
///     auto x = gather(view.rows(), view.at());
///     adagrad(view, x_grad);
///     users.where().file().save_and_keep();
///     save(users.index().contents(), users.where().file().saves());     in a checkpoint; then forget_saves_before
///     ...
///     file.go_back(saves);
///     KeyedFile<float> again({.width = 64}, contents, RowsInFile(std::move(file)));
/// States begin with zeros. A step that is given up leaves the file as it was; free rows may have other values.
template <class T = float, key_type Key = std::int64_t>
using KeyedFile = KeyedTable<T, Key, RowsInFile<T>>;

}  // namespace rowan::inline v0
