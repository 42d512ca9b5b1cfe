// rowan/sparse/detail/row_source.hpp: RowSource, where the bytes of a RowStore's rows are.
#pragma once

#include <rowan/core/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

/// Rows of equal size, in memory or elsewhere. Any number of threads may call it at the same time.
class RowSource {
public:
    RowSource(std::int64_t height, std::size_t row_bytes, std::byte const* data)
        : height_(height), row_bytes_(row_bytes), data_(data) {}
    RowSource(RowSource const&) = delete;
    RowSource& operator=(RowSource const&) = delete;
    virtual ~RowSource() = default;

    std::int64_t height() const noexcept { return height_; }
    std::size_t row_bytes() const noexcept { return row_bytes_; }
    /// The first row, if the rows have consecutive addresses; otherwise nullptr.
    std::byte const* data() const noexcept { return data_; }

    /// Called before the rows at `ids` are read from data(). The ids are in [0, height()).
    virtual void will_read(Cpu, Ids<> const&) const {}

    /// Rows [first, first + rows.size()) of a list of ids: their addresses, which are valid during the call.
    using Piece = std::function<void(std::size_t first, std::span<std::byte const* const> rows)>;
    /// Calls f, on this thread, with consecutive pieces of the rows at `ids`, if there is no data(). The ids are in
    /// [0, height()).
    /// errors   IoError; those of f
    virtual void read(Cpu, Ids<> const&, Piece const&) const {}

    /// The rows that are at hand once they were read. Of a longer list, parts are read again unless it is ascending.
    virtual std::size_t rows_at_hand() const noexcept { return std::numeric_limits<std::size_t>::max(); }

    /// Begins to read rows, and keeps them at hand while the result exists. The ids are in [0, height()).
    virtual std::shared_ptr<void> prefetch(Cpu, Ids<> const&) const { return nullptr; }

private:
    std::int64_t height_;
    std::size_t row_bytes_;
    std::byte const* data_;
};

/// Rows in memory, which `owner` keeps alive.
inline constexpr std::byte no_bytes{};
class MemoryRows final : public RowSource {
public:
    MemoryRows(std::int64_t height, std::size_t row_bytes, std::byte const* data, std::shared_ptr<void const> owner)
        : RowSource(height, row_bytes, data == nullptr ? &no_bytes : data), owner_(std::move(owner)) {}

private:
    std::shared_ptr<void const> owner_;
};

}  // namespace rowan::inline v0::detail
