// rowan/sparse/row_store.hpp: RowStore, a table that is only read, with rows of any format, in memory or in a file.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/fwd.hpp>
#include <rowan/sparse/detail/row_source.hpp>
#include <rowan/sparse/detail/stored_rows.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/row_format.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Rows of `bytes` bytes in memory, which are shared.
/// errors   ShapeError unless `rows` has the shape [height, bytes]
ROWAN_IF_CALLED std::shared_ptr<RowSource const> rows_in_memory(std::size_t bytes, Tensor<std::uint8_t> const& rows);
/// The bytes of all rows.
/// errors   Error if they are not in memory
ROWAN_IF_CALLED Tensor<std::uint8_t> bytes_of_rows(std::shared_ptr<RowSource const> const& source);

/// Rows of a tensor, which `owner` keeps alive.
ROWAN_IF_CALLED std::shared_ptr<RowSource const> rows_of_elements(std::int64_t height, std::size_t bytes,
                                                                  void const* data, std::shared_ptr<void const> owner);

/// The place of a row in a list of ids.
struct RowPlace {
    std::int64_t id;
    std::size_t position;
};
using EncodedRowList = std::span<std::byte const* const>;
/// Calls f(rows, first, places) with pieces of the rows at `ids`: rows[i] is row `first + i` of the list if `places` is
/// null, else row places[i].position. A list of more rows than are kept is read in ascending order.
ROWAN_IF_CALLED void each_piece(
    Cpu exec, RowSource const& source, Ids<> const& ids,
    std::function<void(EncodedRowList rows, std::size_t first, RowPlace const* places)> const& f);
/// The rows at `ids` of a source whose rows are in memory.
ROWAN_IF_CALLED ListedRows listed_rows(Cpu exec, RowSource const& source, Ids<> const& ids);
/// The rows at `ids`: where they are in memory, or else in `room`.
ROWAN_IF_CALLED ListedRows fetch_rows(Cpu exec, RowSource const& source, Ids<> const& ids, Buffer<std::byte>& room);

/// What functions of a RowStore use, without checks of the ids.
struct RowStoreAccess {
    /// Writes rows ids[i] to `to`.
    template <class T>
    static void copy(Cpu exec, RowStore<T> const& store, Ids<> const& ids, T* to) {
        store.copy(exec, ids, to);
    }
    /// Writes rows [begin, end) to `to`.
    template <class T>
    static void copy_range(Cpu exec, RowStore<T> const& store, std::int64_t begin, std::int64_t end, T* to) {
        store.copy_range(exec, begin, end, to);
    }
    /// The stored rows ids[i]: where they are in memory, or else in `room`.
    template <class T>
    static ListedRows fetch(Cpu exec, RowStore<T> const& store, Ids<> const& ids, Buffer<std::byte>& room) {
        return fetch_rows(exec, *store.source_, ids, room);
    }
    /// The memory of all rows, if they are in memory.
    template <class T>
    static std::span<std::byte const> memory(RowStore<T> const& store) {
        if (store.source_->data() == nullptr) return {};
        return {store.source_->data(), static_cast<std::size_t>(store.height()) * store.row_bytes()};
    }
    template <class T>
    static StoredRows const& rows(RowStore<T> const& store) {
        return store.rows_;
    }
    template <class T>
    static Tensor<std::uint8_t> bytes(RowStore<T> const& store) {
        return bytes_of_rows(store.source_);
    }
};

}  // namespace detail

/// Rows that are being read before they are needed, see RowStore::prefetch.
using RowPrefetch = std::shared_ptr<void>;

/// A table that is only read, as rows of elements T: in memory, or in a file that open_rows has opened. How the rows
/// are stored does not concern the type, so gather, embedding_bag and nets read tables of 8 bits as they read a tensor.
///     RowStore<float> const store = quantize_rows(table, RowFormat::int8);
///     auto rows = gather(store, {2, 0, 2});
/// Copies share the rows. Any number of threads may use it at the same time.
template <class T>
class RowStore {
public:
    using value_type = T;

    /// The rows of a tensor, which are shared.
    /// errors   ShapeError if it has rank 0
    /// cost     O(1)
    explicit RowStore(Tensor<T> const& table) : RowStore(RowFormat::elements, width_of(table), source_of(table)) {}

    /// Rows in memory, which are shared: those of quantize_rows, of FBGEMM or of PyTorch's quantized embedding bags.
    /// shapes   rows [height, row_bytes(format, width, sizeof(T))]
    /// errors   ShapeError if rows has another shape, or the format no rows of this width; TypeError if rows of this
    ///          format cannot be read as T
    /// cost     O(1)
    RowStore(RowFormat format, std::size_t width, Tensor<std::uint8_t> const& rows)
        : RowStore(format, width, detail::rows_in_memory(rowan::row_bytes(format, width, sizeof(T)), rows)) {}

    /// The rows of a source, of the width and format.
    RowStore(RowFormat format, std::size_t width, std::shared_ptr<detail::RowSource const> source)
        : rows_(detail::StoredRows::of<T>(format, width)), source_(std::move(source)) {}

    std::int64_t height() const noexcept { return source_->height(); }       ///< the number of rows
    std::size_t width() const noexcept { return rows_.width; }               ///< the elements of a row
    RowFormat format() const noexcept { return rows_.format; }               ///< how a row is stored
    std::size_t row_bytes() const noexcept { return source_->row_bytes(); }  ///< the bytes of a row
    RowStore share() const { return *this; }                                 ///< a copy, which shares the rows

    /// The bytes of all rows, which keep the memory or the mapping alive; written to in neither case.
    /// shapes   [height, row_bytes]
    /// errors   Error if they are neither in memory nor mapped
    /// cost     O(1)
    Tensor<std::uint8_t> const bytes() const { return detail::RowStoreAccess::bytes(*this); }

    /// Begins to read rows from the file, such as those of the next batch, and returns at once. With direct access, the
    /// rows that fit into the half of the cache that is for all results of prefetch stay there as long as the result
    /// exists; without readers nothing is read. With mapped access, the system is asked for the pages. Rows in memory
    /// need no reading.
    /// errors   IndexError if an id is not in [0, height)
    /// cost     a sort of the ids; their reads go on in the background
    [[nodiscard]] RowPrefetch prefetch(Cpu exec, Ids<> const& ids) const {
        detail::check_ids(exec, "ids", ids, height());
        return source_->prefetch(exec, ids);
    }
    [[nodiscard]] RowPrefetch prefetch(Ids<> const& ids) const { return prefetch(Cpu(), ids); }

private:
    friend struct detail::RowStoreAccess;

    void copy(Cpu exec, Ids<> const& ids, T* to) const {
        if (source_->data() != nullptr)
            return rows_.copy(exec, ids.size(), detail::listed_rows(exec, *source_, ids), to);
        std::size_t const row = width();
        detail::Buffer<T> piece;
        using Rows = detail::EncodedRowList;
        detail::each_piece(exec, *source_, ids, [&](Rows rows, std::size_t first, detail::RowPlace const* places) {
            auto const at = [&](std::size_t i) { return rows[i]; };
            if (places == nullptr) return rows_.copy(exec, rows.size(), at, to + first * row);
            piece.resize(rows.size() * row);
            rows_.copy(exec, rows.size(), at, piece.data());
            for (std::size_t i = 0; i < rows.size(); ++i)
                std::copy_n(piece.data() + i * row, row, to + places[i].position * row);
        });
    }

    void copy_range(Cpu exec, std::int64_t begin, std::int64_t end, T* to) const {
        if (auto const* const data = source_->data()) {
            detail::ConsecutiveRows<std::byte const> const from{data + static_cast<std::size_t>(begin) * row_bytes(),
                                                                row_bytes()};
            return rows_.copy(exec, static_cast<std::size_t>(end - begin), from, to);
        }
        std::vector<std::int64_t> ids;
        for (constexpr std::int64_t most = 1 << 16; begin < end; begin += most) {
            ids.resize(static_cast<std::size_t>(std::min(most, end - begin)));
            std::iota(ids.begin(), ids.end(), begin);
            copy(exec, ids, to);
            to += ids.size() * width();
        }
    }

    static std::size_t width_of(Tensor<T> const& table) {
        detail::check_rows("table", table);
        return table.row_size();
    }
    static std::shared_ptr<detail::RowSource const> source_of(Tensor<T> const& table) {
        auto const shared = std::make_shared<Tensor<T> const>(table.share());
        return detail::rows_of_elements(detail::height_of(table), table.row_size() * sizeof(T), shared->data(), shared);
    }

    detail::StoredRows rows_;
    std::shared_ptr<detail::RowSource const> source_;
};

/// Writes row `ids[i]` of the store to row i of `out`, with the elements that its format gives.
/// shapes   store [height, width], ids of any shape, out ids.shape + [width]
/// errors   ShapeError if out has another shape; IndexError if an id is not in [0, height); Error if out shares memory
///          with ids or the store; IoError if a row cannot be read from its file: rows of `out` may then have been
///          written
/// cost     one read of the rows, as they are stored, and one write; of a file that is not mapped, each page that is
///          not in the cache is read once, for which a list of more rows than half of the cache holds is sorted, with 24
///          bytes of temporary memory for each
template <class T>
void gather_into(Cpu exec, RowStore<T> const& store, std::type_identity_t<Ids<>> ids, Tensor<T>& out) {
    auto shape = ids.shape();
    shape.push_back(store.width());
    if (out.shape() != shape)
        throw ShapeError("out.shape()", detail::shape_text(out.shape()), detail::shape_text(shape));
    detail::check_ids(exec, "ids", ids, store.height());
    detail::check_apart("out", detail::bytes_of(out), "ids", ids.bytes());
    detail::check_apart("out", detail::bytes_of(out), "store", detail::RowStoreAccess::memory(store));
    detail::RowStoreAccess::copy(exec, store, ids, out.data());
}

/// The rows of the store at `ids`, in the order of `ids`.
/// shapes   store [height, width], ids of any shape -> ids.shape + [width]
/// errors   as gather_into
/// cost     as gather_into, and one allocation for the result
template <class T>
Tensor<T> gather(Cpu exec, RowStore<T> const& store, std::type_identity_t<Ids<>> ids) {
    detail::check_ids(exec, "ids", ids, store.height());
    auto shape = ids.shape();
    shape.push_back(store.width());
    auto out = Tensor<T>::from_shape(shape);
    detail::RowStoreAccess::copy(exec, store, ids, out.data());
    return out;
}

template <class T>
void gather_into(RowStore<T> const& store, std::type_identity_t<Ids<>> ids, Tensor<T>& out) {
    gather_into(Cpu(), store, ids, out);
}
template <class T>
Tensor<T> gather(RowStore<T> const& store, std::type_identity_t<Ids<>> ids) {
    return gather(Cpu(), store, ids);
}

}  // namespace rowan::inline v0

#include <rowan/sparse/row_store_inl.hpp>
