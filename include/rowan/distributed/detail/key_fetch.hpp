// rowan/distributed/detail/key_fetch.hpp: KeyFetch, keys whose rows lie on several ranks.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>
#include <rowan/sparse/key_index.hpp>
#include <rowan/sparse/keys.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The rank that has a key. Its hash is another than that of an index, whose slots all keys of a rank share. All ranks
/// and files must agree on it, so it has no seed, and keys can be chosen for one rank.
template <class Key>
int key_owner(Key const& key, int ranks) {
    std::uint64_t const hash = hash_key(KeyView<Key>(key), 0x5348415244454421U) >> 32;
    return static_cast<int>(hash * static_cast<std::uint64_t>(ranks) >> 32);
}

/// A list of keys that travels.
template <class Key>
struct KeyMessage {
    std::vector<Key> list;

    void add(Key key) { list.push_back(key); }
    void receive(ProcessGroup const& group, KeyMessage const& own, std::span<std::size_t const> send,
                 std::span<std::size_t const> receive) {
        list.resize(total(receive));
        group.alltoallv(sizeof(Key), bytes_of(own.list), send, bytes_of(list), receive)->wait();
    }
};

template <std::same_as<std::string> Key>
struct KeyMessage<Key> {
    std::vector<std::string_view> list{};  // of what has come
    std::vector<std::uint16_t> lengths{};
    std::string text{};
    static_assert(KeyIndex<Key>::longest_key <= 0xFFFF);

    void add(std::string const& key) {
        lengths.push_back(static_cast<std::uint16_t>(key.size()));
        text += key;
    }
    /// The number of bytes of the keys of each rank.
    std::vector<std::size_t> bytes(std::span<std::size_t const> counts) const {
        std::vector<std::size_t> sums;
        auto at = lengths.begin();
        for (std::size_t const n : counts) {
            sums.push_back(std::accumulate(at, at + static_cast<std::ptrdiff_t>(n), std::size_t{0}));
            at += static_cast<std::ptrdiff_t>(n);
        }
        return sums;
    }
    void receive(ProcessGroup const& group, KeyMessage const& own, std::span<std::size_t const> send,
                 std::span<std::size_t const> receive) {
        lengths.resize(total(receive));
        group.alltoallv(sizeof(lengths[0]), bytes_of(own.lengths), send, bytes_of(lengths), receive)->wait();
        auto const sent = own.bytes(send), coming = bytes(receive);
        text.resize(total(coming));
        group.alltoallv(1, bytes_of(own.text), sent, bytes_of(text), coming)->wait();
        std::size_t at = 0;
        for (std::size_t const n : lengths) {
            list.push_back(std::string_view(text).substr(at, n));
            at += n;
        }
    }
};

/// The keys of a rank's batch: each goes to its owner once, which tells its row.
template <key_type Key>
class KeyFetch {
public:
    KeyFetch() = default;
    KeyFetch(KeyFetch const&) = delete;  // keys that have come refer to their text
    KeyFetch& operator=(KeyFetch const&) = delete;
    ~KeyFetch() = default;

    /// Deals keys to their owners; with `counts`, their owners are told how often each occurs. `hash_seed`: of the hash
    /// table of the batch.
    /// errors   IndexError for a string that is too long; ValueError if exec.threads is negative
    void deal(Cpu exec, Keys<Key> const& keys, int ranks, bool counts, std::uint64_t hash_seed) {
        counts_ = counts;
        KeyIndex<Key> distinct({.record_uses = counts, .hash_seed = hash_seed});
        rows_ = distinct.find_or_insert(exec, keys);
        std::size_t const n = distinct.size();
        std::vector<std::size_t> owners(n);
        send_.assign(static_cast<std::size_t>(ranks), 0);
        for (std::size_t k = 0; k < n; ++k) {
            owners[k] = static_cast<std::size_t>(key_owner(key(distinct, k), ranks));
            ++send_[owners[k]];
        }
        std::vector<std::size_t> next(send_.size()), order(n);
        std::exclusive_scan(send_.begin(), send_.end(), next.begin(), std::size_t{0});
        std::vector<std::int64_t> places(n);
        for (std::size_t k = 0; k < n; ++k) {
            std::size_t const place = next[owners[k]]++;
            order[place] = k;
            places[k] = static_cast<std::int64_t>(place);
        }
        for (std::size_t const k : order) {
            own_.add(key(distinct, k));
            if (counts) times_.push_back(KeyIndexAccess::uses(distinct, static_cast<std::int64_t>(k)).count);
        }
        replace_rows(exec, places);
        found_.resize(n);
    }

    /// Tells the owners the keys.
    void ask(ProcessGroup const& group) {
        receive_ = exchange_counts(group, send_);
        asked_.receive(group, own_, send_, receive_);
        if (!counts_) return;
        asked_times_.resize(total(receive_));
        group.alltoallv(sizeof(std::int64_t), bytes_of(std::as_const(times_)), send_, bytes_of(asked_times_), receive_)
            ->wait();
    }
    /// The keys that this rank has and others, or itself, ask for, those of rank 0 first; a key may repeat.
    Keys<Key> asked() const { return asked_.list; }
    /// How often each occurs; null without `counts`.
    std::int64_t const* times() const { return counts_ ? asked_times_.data() : nullptr; }

    /// Sends the rows of asked(), or -1, and returns those of the batch: row i of rank r is i * ranks + r.
    Tensor<std::int64_t> answer(Cpu exec, ProcessGroup const& group, Tensor<std::int64_t> const& rows) {
        group.alltoallv(sizeof(std::int64_t), bytes_of(rows), receive_, bytes_of(found_), send_)->wait();
        auto row = found_.begin();
        for (std::size_t r = 0; r < send_.size(); ++r) {
            for (auto const end = row + static_cast<std::ptrdiff_t>(send_[r]); row != end; ++row) {
                if (*row >= 0) *row = *row * group.size() + static_cast<std::int64_t>(r);
            }
        }
        replace_rows(exec, found_);
        return std::move(rows_);
    }

private:
    static Key const& key(KeyIndex<Key> const& distinct, std::size_t k) {
        return KeyIndexAccess::key(distinct, static_cast<std::int64_t>(k));
    }
    void replace_rows(Cpu exec, std::vector<std::int64_t> const& by) {
        KeyIndexAccess::for_keys(exec, rows_.size(), [&, rows = rows_.data()](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) rows[i] = by[static_cast<std::size_t>(rows[i])];
        });
    }

    bool counts_ = false;
    Tensor<std::int64_t> rows_;  // for each key of the batch, its place among the distinct ones; at last its row
    KeyMessage<Key> own_, asked_;
    std::vector<std::size_t> send_, receive_;
    std::vector<std::int64_t> times_, asked_times_, found_;
};

}  // namespace rowan::inline v0::detail
