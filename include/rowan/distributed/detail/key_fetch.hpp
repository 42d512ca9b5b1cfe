// rowan/distributed/detail/key_fetch.hpp: KeyFetch, keys whose rows lie on several ranks.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/sparse/key_index.hpp>
#include <rowan/sparse/keys.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

    std::size_t size() const { return list.size(); }
    void add(Key key);
    void receive(ProcessGroup const& group, KeyMessage const& own, std::span<std::size_t const> send,
                 std::span<std::size_t const> receive);
};

template <>
struct KeyMessage<std::string> {
    std::vector<std::string_view> list{};  // of what has come
    std::vector<std::uint16_t> lengths{};
    std::string text{};
    static_assert(KeyIndex<std::string>::longest_key <= 0xFFFF);

    std::size_t size() const { return lengths.size(); }
    ROWAN_IF_CALLED void add(std::string const& key);
    /// The number of bytes of the keys of each rank.
    ROWAN_IF_CALLED std::vector<std::size_t> bytes(std::span<std::size_t const> counts) const;
    ROWAN_IF_CALLED void receive(ProcessGroup const& group, KeyMessage const& own, std::span<std::size_t const> send,
                                 std::span<std::size_t const> receive);
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
    void deal(Cpu exec, Keys<Key> const& keys, int ranks, bool counts, std::uint64_t hash_seed);

    /// Tells the owners the keys.
    void ask(ProcessGroup const& group);
    /// The keys that this rank has and others, or itself, ask for, those of rank 0 first; a key may repeat.
    Keys<Key> asked() const { return asked_.list; }
    /// How often each occurs; null without `counts`.
    std::int64_t const* times() const { return counts_ ? asked_times_.data() : nullptr; }

    /// Sends the rows of asked(), or -1, and returns those of the batch: row i of rank r is i * ranks + r.
    Tensor<std::int64_t> answer(Cpu exec, ProcessGroup const& group, Tensor<std::int64_t> const& rows);

private:
    void replace_rows(Cpu exec, std::vector<std::int64_t> const& by);

    bool counts_ = false;
    Tensor<std::int64_t> rows_;  // for each key of the batch, its place among the distinct ones; at last its row
    KeyMessage<Key> own_, asked_;
    std::vector<std::size_t> send_, receive_;
    std::vector<std::int64_t> times_, asked_times_, found_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/key_fetch_inl.hpp>
