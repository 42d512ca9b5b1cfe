// rowan/distributed/detail/key_fetch_inl.hpp: the functions of key_fetch.hpp.
#pragma once

#include <rowan/distributed/detail/key_fetch.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/sparse/key_index.hpp>

#include <numeric>
#include <utility>

namespace rowan::inline v0::detail {

template <class Key>
void KeyMessage<Key>::add(Key key) {
    list.push_back(key);
}

template <class Key>
void KeyMessage<Key>::receive(ProcessGroup const& group, KeyMessage const& own, std::span<std::size_t const> send,
                              std::span<std::size_t const> receive) {
    list.resize(total(receive));
    group.alltoallv(sizeof(Key), bytes_of(own.list), send, bytes_of(list), receive)->wait();
}

ROWAN_CALLED_FUNCTION void KeyMessage<std::string>::add(std::string const& key) {
    lengths.push_back(static_cast<std::uint16_t>(key.size()));
    text += key;
}

ROWAN_CALLED_FUNCTION std::vector<std::size_t> KeyMessage<std::string>::bytes(
    std::span<std::size_t const> counts) const {
    std::vector<std::size_t> sums;
    auto at = lengths.begin();
    for (std::size_t const n : counts) {
        sums.push_back(std::accumulate(at, at + static_cast<std::ptrdiff_t>(n), std::size_t{0}));
        at += static_cast<std::ptrdiff_t>(n);
    }
    return sums;
}

ROWAN_CALLED_FUNCTION void KeyMessage<std::string>::receive(ProcessGroup const& group, KeyMessage const& own,
                                                            std::span<std::size_t const> send,
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

/// A key of the distinct ones of a batch.
template <class Key>
Key const& batch_key(KeyIndex<Key> const& distinct, std::size_t k) {
    return KeyIndexAccess::key(distinct, static_cast<std::int64_t>(k));
}

template <key_type Key>
void KeyFetch<Key>::deal(Cpu exec, Keys<Key> const& keys, int ranks, bool counts, std::uint64_t hash_seed) {
    counts_ = counts;
    KeyIndex<Key> distinct({.record_uses = counts, .hash_seed = hash_seed});
    rows_ = distinct.find_or_insert(exec, keys);
    std::size_t const n = distinct.size();
    std::vector<int> owners(n);
    for (std::size_t i = 0; i < n; ++i) owners[i] = key_owner(batch_key(distinct, i), ranks);
    ByRank const by(owners, static_cast<std::size_t>(ranks));
    send_ = by.counts;
    std::vector<std::int64_t> places(n);
    for (std::size_t const i : by.order) {
        places[i] = static_cast<std::int64_t>(own_.size());
        own_.add(batch_key(distinct, i));
        if (counts) times_.push_back(KeyIndexAccess::uses(distinct, static_cast<std::int64_t>(i)).count);
    }
    replace_rows(exec, places);
    found_.resize(n);
}

template <key_type Key>
void KeyFetch<Key>::ask(ProcessGroup const& group) {
    receive_ = exchange_counts(group, send_);
    asked_.receive(group, own_, send_, receive_);
    if (!counts_) return;
    asked_times_.resize(total(receive_));
    group.alltoallv(sizeof(std::int64_t), bytes_of(std::as_const(times_)), send_, bytes_of(asked_times_), receive_)
        ->wait();
}

template <key_type Key>
Tensor<std::int64_t> KeyFetch<Key>::answer(Cpu exec, ProcessGroup const& group, Tensor<std::int64_t> const& rows) {
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

template <key_type Key>
void KeyFetch<Key>::replace_rows(Cpu exec, std::vector<std::int64_t> const& by) {
    KeyIndexAccess::for_keys(exec, rows_.size(), [&, rows = rows_.data()](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) rows[i] = by[static_cast<std::size_t>(rows[i])];
    });
}

ROWAN_TEMPLATE(class KeyFetch<std::int64_t>)
ROWAN_TEMPLATE(class KeyFetch<std::uint64_t>)
ROWAN_TEMPLATE(class KeyFetch<std::string>)

}  // namespace rowan::inline v0::detail

#endif
