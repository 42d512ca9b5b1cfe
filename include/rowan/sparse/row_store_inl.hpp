// rowan/sparse/row_store_inl.hpp: definitions of rowan/sparse/row_store.hpp.
#pragma once

#include <rowan/sparse/row_store.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::shared_ptr<RowSource const> rows_in_memory(std::size_t bytes,
                                                                      Tensor<std::uint8_t> const& rows) {
    if (rows.dimension() != 2 || rows.shape()[1] != bytes)
        throw ShapeError("rows.shape()", shape_text(rows.shape()), {"[height, ", bytes, "]"});
    auto const shared = std::make_shared<Tensor<std::uint8_t> const>(rows.share());
    return rows_of_elements(height_of(rows), bytes, shared->data(), shared);
}

ROWAN_CALLED_FUNCTION Tensor<std::uint8_t> bytes_of_rows(std::shared_ptr<RowSource const> const& source) {
    if (source->data() == nullptr && source->height() != 0) throw Error("the rows of the store are not in memory");
    auto* const data = const_cast<std::byte*>(source->data());
    return Tensor<std::uint8_t>::borrow(reinterpret_cast<std::uint8_t*>(data),
                                        {static_cast<std::size_t>(source->height()), source->row_bytes()}, source);
}

ROWAN_CALLED_FUNCTION std::shared_ptr<RowSource const> rows_of_elements(std::int64_t height, std::size_t bytes,
                                                                        void const* data,
                                                                        std::shared_ptr<void const> owner) {
    return std::make_shared<MemoryRows const>(height, bytes, static_cast<std::byte const*>(data), std::move(owner));
}

struct AreAscending {
    template <class I>
    bool operator()(std::span<I const> list) const {
        return std::is_sorted(list.begin(), list.end());
    }
};

ROWAN_CALLED_FUNCTION void each_piece(
    Cpu exec, RowSource const& source, Ids<> const& ids,
    std::function<void(EncodedRowList rows, std::size_t first, RowPlace const* places)> const& f) {
    if (ids.visit(AreAscending{}) || ids.size() <= source.rows_at_hand())
        return source.read(exec, ids, [&](std::size_t first, EncodedRowList rows) { f(rows, first, nullptr); });
    Buffer<RowPlace> places(ids.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = {ids[i], i};
    std::sort(places.begin(), places.end(), [](RowPlace const& a, RowPlace const& b) {
        return a.id < b.id || (a.id == b.id && a.position < b.position);
    });
    Buffer<std::int64_t> sorted(places.size());
    std::transform(places.begin(), places.end(), sorted.begin(), [](RowPlace const& place) { return place.id; });
    source.read(exec, sorted, [&](std::size_t first, EncodedRowList rows) { f(rows, first, places.data() + first); });
}

struct ListOfIds {
    ListedRows& rows;

    void operator()(std::span<std::int64_t const> list) const { rows.wide = list.data(); }
    void operator()(std::span<std::int32_t const> list) const { rows.narrow = list.data(); }
};

ROWAN_CALLED_FUNCTION ListedRows listed_rows(Cpu exec, RowSource const& source, Ids<> const& ids) {
    source.will_read(exec, ids);
    ListedRows rows{source.data(), source.row_bytes(), nullptr, nullptr};
    ids.visit(ListOfIds{rows});
    return rows;
}

ROWAN_CALLED_FUNCTION ListedRows fetch_rows(Cpu exec, RowSource const& source, Ids<> const& ids,
                                            Buffer<std::byte>& room) {
    if (source.data() != nullptr) return listed_rows(exec, source, ids);
    std::size_t const bytes = source.row_bytes();
    room.resize(ids.size() * bytes);
    each_piece(exec, source, ids, [&](EncodedRowList rows, std::size_t first, RowPlace const* places) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::size_t const position = places == nullptr ? first + i : places[i].position;
            std::copy_n(rows[i], bytes, room.data() + position * bytes);
        }
    });
    return {room.data(), bytes, nullptr, nullptr};
}

}  // namespace rowan::inline v0::detail

#endif
