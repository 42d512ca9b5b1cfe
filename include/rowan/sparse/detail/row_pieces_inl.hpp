// rowan/sparse/detail/row_pieces_inl.hpp: the functions of row_pieces.hpp.
#pragma once

#include <rowan/sparse/detail/row_pieces.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <limits>
#include <numeric>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION RowPieces RowPieces::like() const {
    RowPieces none;
    none.height = height;
    none.shape = shape;
    none.row_bytes = row_bytes;
    return none;
}

ROWAN_CALLED_FUNCTION void RowPieces::resize(std::size_t n) {
    rows.resize(n);
    keys.resize(n);
    if (row_bytes != 0 && n > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) / row_bytes)
        throw ShapeError("rows", n, "fewer: their size in bytes exceeds 2^63 - 1");
    bytes = Storage<std::byte>(n * row_bytes);
    lent = false;
}

/// All pieces as one list.
struct PieceList {
    std::vector<std::int64_t> rows, keys;
    std::vector<std::byte const*> at;

    ROWAN_IF_CALLED explicit PieceList(std::span<RowPieces const> in) {
        std::size_t n = 0;
        for (auto const& p : in) n += p.rows.size();
        rows.reserve(n);
        keys.reserve(n);
        at.reserve(n);
        for (auto const& p : in) {
            rows.insert(rows.end(), p.rows.begin(), p.rows.end());
            keys.insert(keys.end(), p.keys.begin(), p.keys.end());
            for (std::size_t i = 0; i < p.rows.size(); ++i) at.push_back(p.bytes.data() + i * p.row_bytes);
        }
    }
};

ROWAN_CALLED_FUNCTION RowPieces sum_pieces(Cpu exec, ElementSums const& type, std::span<RowPieces const> in,
                                           std::span<std::int64_t const> ends) {
    auto out = in[0].like();
    PieceList const list(in);
    RowPlan<> const plan(exec, list.rows, in[0].height);
    std::size_t const rows = plan.rows().size(), width = out.row_bytes / type.sum_bytes;
    std::int64_t const last_key = list.keys.empty() ? 0 : *std::max_element(list.keys.begin(), list.keys.end());
    auto const piece = [&](std::size_t i) { return static_cast<std::size_t>(plan.positions()[i]); };
    auto const begin_of = [&](std::size_t k) { return static_cast<std::size_t>(plan.offsets()[k]); };
    std::size_t const work = list.rows.size() * width, grain = rows_per_range(out.row_bytes);
    // The end of the pieces that are of the node of piece i.
    auto const end_of_node = [&](std::size_t i, std::size_t end) {
        if (ends.size() <= 1) return end;
        std::int64_t const last = ends[node_of(ends, list.keys[piece(i)])];
        while (++i < end && list.keys[piece(i)] < last) {
        }
        return i;
    };
    std::vector<std::size_t> first(rows + 1);  // of the result's pieces of each row
    if (ends.size() <= 1) {
        std::iota(first.begin(), first.end(), std::size_t{0});
    } else {
        parallel_work(exec, work, rows, grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                for (std::size_t i = begin_of(k); i < begin_of(k + 1); i = end_of_node(i, begin_of(k + 1)))
                    ++first[k + 1];
            }
        });
        std::partial_sum(first.begin(), first.end(), first.begin());
    }
    out.resize(first.back());
    parallel_work(exec, work, rows, grain, [&](std::size_t begin, std::size_t end) {
        TreeSum sum(type, width, last_key);
        for (std::size_t k = begin; k < end; ++k) {
            std::size_t to = first[k];
            for (std::size_t i = begin_of(k); i < begin_of(k + 1); ++to) {
                out.rows[to] = plan.rows()[k];
                out.keys[to] = list.keys[piece(i)];
                sum.begin(out.bytes.data() + to * out.row_bytes);
                for (std::size_t const last = end_of_node(i, begin_of(k + 1)); i < last; ++i)
                    sum.add(list.keys[piece(i)], list.at[piece(i)]);
                sum.end();
            }
        }
    });
    return out;
}

ROWAN_CALLED_FUNCTION RowPieces node_pieces(Cpu exec, ElementSums const& type, std::vector<RowPieces>&& parts,
                                            std::int64_t first, std::int64_t total) {
    if (parts.size() == 1) return std::move(parts[0]);
    std::int64_t const end = first + static_cast<std::int64_t>(parts.size());
    return sum_pieces(exec, type, parts, whole_nodes(first, end, total));
}

ROWAN_CALLED_FUNCTION RowPieces narrow_pieces(Cpu exec, ElementSums const& type, RowPieces&& in) {
    if (type.narrow == nullptr && !in.lent) return std::move(in);
    std::size_t const width = in.row_bytes / type.sum_bytes, n = in.rows.size() * width;
    Storage<std::byte> bytes(n * type.bytes);
    parallel_work(exec, n, n, serial_below, [&](std::size_t begin, std::size_t end) {
        auto const* const from = in.bytes.data() + begin * type.sum_bytes;
        auto* const to = bytes.data() + begin * type.bytes;
        if (type.narrow != nullptr) {
            type.narrow(end - begin, from, to);
        } else {
            std::memcpy(to, from, (end - begin) * type.bytes);
        }
    });
    in.bytes = std::move(bytes);
    in.row_bytes = width * type.bytes;
    in.lent = false;
    return std::move(in);
}

}  // namespace rowan::inline v0::detail

#endif
