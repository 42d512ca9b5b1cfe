// rowan/op/table/hash_rows.hpp: hash_rows_op, the rows of keys of one or several tables, by hashes.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/op/table/join_bags.hpp>
#include <rowan/sparse/hash_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// rows[i] = the row of key i in a table of this height
template <class I>
struct HashRow {
    I const* keys;
    std::int64_t* rows;
    std::uint64_t height, seed;

    ROWAN_HD void operator()(std::size_t i) const {
        rows[i] = static_cast<std::int64_t>(hash_key(std::int64_t{keys[i]}, seed) % height);
    }
};

constexpr void check_heights(std::vector<std::int64_t> const& heights) {
    if (heights.empty()) throw ShapeError("heights.size()", "0", "1 or more");
    for (std::size_t t = 0; t < heights.size(); ++t) {
        if (heights[t] < 1) throw ShapeError({"heights[", t, "]"}, heights[t], "1 or more");
    }
}

}  // namespace detail

/// hash_rows with one hash, so that a net takes keys of any number, without an index. A key of -1 has a row as any
/// other.
/// shapes   ids of any shape -> the same; for several heights with one level of bags, as many for each table
/// errors   ShapeError if there is no height or one is below 1, or the bags are not as many for each table
/// cost     one read of the ids and one write of the rows
struct hash_rows_op : detail::declared<hash_rows_op> {
    static constexpr VarSpec infer(VarSpec const& ids, HashRowsOptions const& options) {
        detail::check_heights(options.heights);
        spec::dense("hash_rows: ids", ids);
        spec::ids("hash_rows: ids", ids);
        if (options.heights.size() != 1 && ids.lod_level != 1)
            spec::the_levels_do_not_match("hash_rows: ids", ids.lod_level, 1);
        return tensor_spec<std::int64_t>(ids.dims, ids.lod_level);
    }

    template <id_type I, class D>
    static LoDTensor<std::int64_t, D> run(D exec, LoDTensor<I, D> const& ids, HashRowsOptions const& options) {
        using Loops = detail::ElementLoops<D>;
        detail::check_heights(options.heights);
        Loops::check(exec, ids.value());
        ids.check();
        std::size_t const tables = options.heights.size(), n = ids.value().size();
        std::size_t const batch = tables == 1 ? 0 : detail::batch_of(ids.lod(), tables);
        auto rows = detail::new_tensor<std::int64_t>(exec, ids.shape());
        auto const end = [&](std::size_t t) {
            return t == tables
                       ? n
                       : static_cast<std::size_t>(t == 0 ? 0 : ids.lod()[0][t * batch]) * ids.value().row_size();
        };
        for (std::size_t t = 0; t < tables; ++t) {
            if (end(t) == end(t + 1)) continue;
            Loops::each(exec, end(t + 1) - end(t), 8,
                        detail::HashRow<I>{ids.value().data() + end(t), rows.data() + end(t),
                                           static_cast<std::uint64_t>(options.heights[t]),
                                           static_cast<std::uint64_t>(options.seed)});
        }
        return {std::move(rows), ids.lod()};
    }
};

}  // namespace rowan::inline v0
