// rowan/io/row_stores.hpp: row_stores, for models whose tables stay in their files.
#pragma once

#include <rowan/graph/value.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/model.hpp>
#include <rowan/io/open_rows.hpp>
#include <rowan/io/row_store_options.hpp>
#include <rowan/sparse/detail/stored_type.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// An option of load_model and load_parameters: parameters with these names stay in the file, as stores; without names,
/// those that were saved as a RowStore. Lookups and bags read them, on the host.
///     auto const model = load_model("model.rowan", {.open = row_stores<float>({"lookup_table_0.w_0"})});
/// errors   none; the result: as open_rows, and GraphError if the file does not have one of the names
/// cost     O(names)
template <class T = float>
std::function<Value(CheckpointFile const&, std::string const&)> row_stores(std::vector<std::string> names = {},
                                                                           RowStoreOptions const& options = {}) {
    return [names = std::move(names), options](CheckpointFile const& file, std::string const& name) {
        for (std::string const& one : names) {
            if (!file.has(one)) throw GraphError({file.path(), " has no variable \"", one, "\", a name of row_stores"});
        }
        Value value;
        auto const opens = [&] {
            if (!names.empty()) return std::ranges::find(names, name) != names.end();
            auto const& lod = file.desc(name).lod_desc;
            return lod && detail::is_row_type(lod->tensor.data_type);
        };
        if (opens())
            value.set(
                detail::open_elements<T>(detail::checkpoint_elements(file, name), file.path() + ": " + name, options));
        return value;
    };
}

}  // namespace rowan::inline v0
