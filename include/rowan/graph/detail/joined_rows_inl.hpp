// rowan/graph/detail/joined_rows_inl.hpp: Value's slices, and gathering, concatenating and scattering of rows.
#pragma once

#include <rowan/graph/detail/joined_rows.hpp>
#include <rowan/graph/value.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/detail/row_blocks.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/detail/take_sequences.hpp>
#include <rowan/sequence/sub_lod.hpp>

#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// For each of n parts the one that becomes it, where part i of all, counted over the lists, becomes part to[k][i].
/// errors   ShapeError if the lists do not have n parts in all
ROWAN_IF_CALLED std::vector<std::int64_t> sources_of(std::span<std::span<std::int64_t const> const> to, std::size_t n);
ROWAN_CALLED_FUNCTION std::vector<std::int64_t> sources_of(std::span<std::span<std::int64_t const> const> to,
                                                           std::size_t n) {
    std::size_t targets = 0;
    for (auto const& list : to) targets += list.size();
    if (targets != n) throw ShapeError("values", {n, " sequences"}, targets);
    std::vector<std::int64_t> from(n);
    std::int64_t i = 0;
    for (auto const& list : to) {
        for (std::int64_t const target : list) from[static_cast<std::size_t>(target)] = i++;
    }
    return from;
}

}  // namespace detail

ROWAN_CALLED_FUNCTION Value Value::slice(std::size_t begin, std::size_t end) const {
    Lod const& levels = lod();
    if (levels.empty()) return held().part(begin, end, {});
    levels.check_rows(rows());
    auto part = sub_lod(levels, 0, begin, end);
    return held().part(static_cast<std::size_t>(part.row_begin), static_cast<std::size_t>(part.row_end),
                       std::move(part.lod));
}

ROWAN_CALLED_FUNCTION Value Value::gather(AnyExec exec, std::span<std::int64_t const> from) const {
    Rows const x = held().tensor(exec);
    auto shape = x.shape;
    if (lod().empty()) {
        shape[0] = from.size();
        Value out = held().alike(exec, shape, {});
        x.device->take(exec, from.size(), x.bytes, x.data, from.data(), out.held().tensor(exec).data);
        return out;
    }
    detail::TakenSequences taken(lod(), {from.begin(), from.end()});
    std::vector<void const*> sequences;
    for (std::int64_t const row : taken.from)
        sequences.push_back(static_cast<std::byte const*>(x.data) + static_cast<std::size_t>(row) * x.bytes);
    shape[0] = static_cast<std::size_t>(taken.starts.back());
    Value out = held().alike(exec, shape, std::move(taken.lod));
    x.device->join(exec, taken.starts, x.bytes, sequences.data(), out.held().tensor(exec).data);
    return out;
}

/// The rows of values of one type.
ROWAN_CALLED_FUNCTION detail::RowBlocks Value::blocks_of(AnyExec exec, std::span<Value* const> values) {
    if (values.empty()) throw ShapeError("values", "0", "at least 1");
    Base const& first = values[0]->held();
    detail::RowBlocks rows("rows of the values", values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        Value const* const v = values[k];
        if (v->empty() || (v->held().type != first.type && !detail::same_name(*v->held().type, *first.type)))
            throw TypeError("the value", v->kind(), first.name());
        Rows const x = v->held().tensor(exec);
        rows.add(detail::element_name("values", k).c_str(), x.shape, x.data);
    }
    return rows;
}

ROWAN_CALLED_FUNCTION Value Value::concat(AnyExec exec, std::span<Value* const> values) {
    detail::RowBlocks const rows = blocks_of(exec, values);
    Base const& first = values[0]->held();
    Lod lod;
    if (std::size_t const levels = first.lod().levels(); levels != 0) {
        std::vector<Lod> lods;
        for (std::size_t k = 0; k < values.size(); ++k) {
            Value const* const v = values[k];
            if (v->lod().levels() != levels)
                throw ShapeError({detail::element_name("values", k), ".lod().levels()"}, v->lod().levels(), levels);
            v->lod().check_rows(v->rows());
            lods.push_back(v->lod());
        }
        lod = detail::join_lods(lods);
    }
    Value out = first.alike(exec, rows.shape(), std::move(lod));
    Rows const all = out.held().tensor(exec);
    all.device->join(exec, rows.starts(), all.bytes, rows.data(), all.data);
    return out;
}

ROWAN_CALLED_FUNCTION Value Value::scatter(AnyExec exec, std::span<Value* const> values,
                                           std::span<std::span<std::int64_t const> const> to) {
    detail::RowBlocks const rows = blocks_of(exec, values);
    Base const& first = values[0]->held();
    if (!first.lod().empty()) {
        Value const all = concat(exec, values);
        return all.gather(exec, detail::sources_of(to, all.count()));
    }
    Value out = first.alike(exec, rows.shape(), {});
    Rows const all = out.held().tensor(exec);
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (values[k]->rows() != to[k].size()) throw ShapeError("value.shape(0)", values[k]->rows(), to[k].size());
        all.device->put(exec, to[k].size(), all.bytes, rows.data()[k], to[k].data(), all.data);
    }
    return out;
}

}  // namespace rowan::inline v0

#endif
