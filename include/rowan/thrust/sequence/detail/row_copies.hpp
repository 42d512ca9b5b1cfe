// rowan/thrust/sequence/detail/row_copies.hpp: copies of rows and row blocks on a device, at addresses from the host.
#pragma once

#include <rowan/detail/copy_rows.hpp>
#include <rowan/thrust/detail/copy_rows.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/on_device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// A table of `blocks` non-empty blocks of consecutive rows: block b begins at row starts[b] and is copied from address
/// from[b] to address to[b]. Addresses are stored as integers so that one array holds the whole table.
struct BlockTable {
    std::size_t blocks;
    std::int64_t const* starts;
    std::int64_t const* from;
    std::int64_t const* to;

    /// The block that contains row i.
    ROWAN_HD std::size_t find(std::size_t i) const { return find_block(starts, blocks, i); }
    ROWAN_HD std::size_t row(std::size_t i, std::size_t block) const {
        return i - static_cast<std::size_t>(starts[block]);
    }
};

template <class W>
ROWAN_HD W const* word_at(std::int64_t address) {
    return reinterpret_cast<W const*>(static_cast<std::uintptr_t>(address));
}
template <class W>
ROWAN_HD W* place_at(std::int64_t address) {
    return reinterpret_cast<W*>(static_cast<std::uintptr_t>(address));
}

/// Copies one word of row k / words from its block to the target of the block.
template <class W>
struct CopyBlockWord {
    BlockTable table;
    FastDivmod words;  // per row

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = words.quotient(k);
        std::size_t const block = table.find(i);
        std::size_t const at = k - static_cast<std::size_t>(table.starts[block]) * words.by;
        place_at<W>(table.to[block])[at] = word_at<W>(table.from[block])[at];
    }
};

/// The same, to row index[i] of `to`.
template <class W>
struct PutBlockWord {
    BlockTable table;
    FastDivmod words;
    std::int64_t const* index;
    W* to;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = words.quotient(k);
        std::size_t const block = table.find(i);
        std::size_t const at = k - static_cast<std::size_t>(table.starts[block]) * words.by;
        to[static_cast<std::size_t>(index[i]) * words.by + k - i * words.by] = word_at<W>(table.from[block])[at];
    }
};

/// Collects the non-empty blocks and the common alignment of their addresses.
class BlockList {
public:
    explicit BlockList(std::size_t most) {
        starts_.reserve(most + 1);
        from_.reserve(most);
        to_.reserve(most);
    }

    void add(std::int64_t start, void const* from, void const* to) {
        starts_.push_back(start);
        from_.push_back(number(from));
        to_.push_back(number(to));
        bits_ |= static_cast<std::size_t>(from_.back() | to_.back());
    }

    std::size_t size() const { return from_.size(); }
    /// The bitwise or of all addresses: its alignment is the lowest of all.
    void const* oddest() const { return reinterpret_cast<void const*>(bits_); }

    /// starts, from and to, concatenated.
    std::vector<std::int64_t> joined() const {
        std::vector<std::int64_t> all = starts_;
        all.insert(all.end(), from_.begin(), from_.end());
        all.insert(all.end(), to_.begin(), to_.end());
        return all;
    }
    BlockTable table(std::int64_t const* joined) const {
        return {size(), joined, joined + size(), joined + 2 * size()};
    }

private:
    static std::int64_t number(void const* p) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p)); }

    std::vector<std::int64_t> starts_;
    std::vector<std::int64_t> from_;
    std::vector<std::int64_t> to_;
    std::size_t bits_ = 0;
};

/// Calls `from` and `to` on the host, once per row or non-empty block, and uploads the addresses that they return.
template <class System>
struct RowCopies<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class From, class To>
    static void rows(Exec const& exec, std::size_t n, std::size_t bytes, From const& from, To const& to) {
        std::vector<std::int64_t> starts(n + 1);
        for (std::size_t i = 0; i <= n; ++i) starts[i] = static_cast<std::int64_t>(i);
        blocks(exec, starts, bytes, from, to);
    }

    template <class From, class To>
    static void blocks(Exec const& exec, std::span<std::int64_t const> starts, std::size_t bytes, From const& from,
                       To const& to) {
        auto source = from;
        auto target = to;
        if (starts.back() == 0 || bytes == 0) return;
        BlockList list(starts.size() - 1);
        for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
            if (starts[i] != starts[i + 1]) list.add(starts[i], source(i), target(i));
        }
        auto const joined = list.joined();
        OnDevice<std::int64_t, Exec> const uploaded(exec, joined);
        with_word(bytes, list.oddest(), nullptr, [&]<class W>() {
            std::size_t const words = bytes / sizeof(W);
            launch(exec, static_cast<std::size_t>(starts.back()) * words,
                   CopyBlockWord<W>{list.table(uploaded.data()), FastDivmod(words)});
        });
    }

    static void take(Exec const& exec, std::size_t n, std::size_t bytes, void const* from, std::int64_t const* index,
                     void* to) {
        copy_device_rows(exec, n, bytes, from, to, RowAt<std::int64_t>{index}, SameRow{});
    }

    static void put(Exec const& exec, std::size_t n, std::size_t bytes, void const* from, std::int64_t const* index,
                    void* to) {
        copy_device_rows(exec, n, bytes, from, to, SameRow{}, RowAt<std::int64_t>{index});
    }

    template <class T, class From>
    static void put_blocks(Exec const& exec, std::span<std::int64_t const> starts, std::size_t width, From const& from,
                           std::int64_t const* index, T* to) {
        std::size_t const bytes = width * sizeof(T);
        if (starts.back() == 0 || bytes == 0) return;
        BlockList list(starts.size() - 1);
        for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
            if (starts[i] != starts[i + 1]) list.add(starts[i], from(i), nullptr);
        }
        auto const joined = list.joined();
        OnDevice<std::int64_t, Exec> const uploaded(exec, joined);
        with_word(bytes, list.oddest(), to, [&]<class W>() {
            std::size_t const words = bytes / sizeof(W);
            launch(exec, static_cast<std::size_t>(starts.back()) * words,
                   PutBlockWord<W>{list.table(uploaded.data()), FastDivmod(words), index, reinterpret_cast<W*>(to)});
        });
    }

    template <class T>
    static void spread(Exec const& exec, std::span<std::int64_t const> starts, std::span<std::int64_t const> places,
                       std::size_t width, T const* from, T padding, std::size_t rows, T* to) {
        launch_always(exec, rows * width, FillWith<T>{to, padding});
        blocks(exec, starts, width * sizeof(T), blocks_at(from, starts, width), blocks_at(to, places, width));
    }
};

}  // namespace rowan::inline v0::detail
