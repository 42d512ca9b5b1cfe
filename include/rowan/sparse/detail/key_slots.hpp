// rowan/sparse/detail/key_slots.hpp: KeySlots, the hash table of a KeyIndex: hashes of 64 bits to row numbers.
#pragma once

#include <rowan/core/allocator.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace rowan::inline v0::detail {

/// A hash table with linear probing. The first position of a hash is its upper bits, so slots are nearly in the order
/// of their hashes, and ranges of slots belong to ranges of hashes. At most 3/4 of the slots are in use; so a search
/// looks at 2.5 slots on average for a hash that is there, and at 8.5 for one that is not (Knuth, The Art of Computer
/// Programming 3, 6.4), most of them in one cache line of 4.
class KeySlots {
public:
    struct Slot {
        std::uint64_t hash;
        std::int64_t row;  // the row number + 1, or 0 if the slot is free
    };

    KeySlots() : slots_(smallest) {}

    std::size_t size() const noexcept { return slots_.size(); }
    std::size_t room() const noexcept { return slots_.size() / 4 * 3; }  ///< the number of slots that may be in use

    Slot& operator[](std::size_t i) { return slots_[i]; }
    Slot const& operator[](std::size_t i) const { return slots_[i]; }

    /// The first position of a hash.
    std::size_t home(std::uint64_t hash) const noexcept { return static_cast<std::size_t>(hash >> shift()); }
    void prefetch(std::size_t home) const noexcept { __builtin_prefetch(&slots_[home]); }

    /// The slot of a hash for whose row `same` is true, or the free slot where it belongs.
    template <class Same>
    std::size_t find(std::size_t home, std::uint64_t hash, Same const& same) const {
        for (std::size_t i = home;; i = next(i)) {
            Slot const& slot = slots_[i];
            if (slot.row == 0 || (slot.hash == hash && same(slot.row - 1))) return i;
        }
    }

    /// Frees a slot: those behind it move up.
    void erase(std::size_t i) noexcept {
        std::size_t const mask = slots_.size() - 1;
        for (std::size_t j = next(i); slots_[j].row != 0; j = next(j)) {
            if (((j - home(slots_[j].hash)) & mask) < ((j - i) & mask)) continue;  // it would be before its home
            slots_[i] = slots_[j];
            i = j;
        }
        slots_[i] = {};
    }

    /// Has room for `n` slots in use.
    /// errors   std::bad_alloc; the table is unchanged
    /// cost     if the table grows, one pass over the old slots and over the new ones
    void reserve(std::size_t n) {
        if (n <= room()) return;
        if (n > std::size_t{1} << 59) throw std::bad_array_new_length();
        KeySlots grown(std::bit_ceil(n / 3 * 4 + 4));
        for (Slot const& slot : slots_) {
            if (slot.row == 0) continue;
            grown[grown.find(grown.home(slot.hash), slot.hash, [](auto) { return false; })] = slot;
        }
        slots_.swap(grown.slots_);
    }

    /// The largest number of slots that a search for a hash in the table looks at.
    std::size_t longest_probe() const {
        std::size_t most = 0;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i].row != 0) most = std::max(most, ((i - home(slots_[i].hash)) & (slots_.size() - 1)) + 1);
        }
        return most;
    }

private:
    static constexpr std::size_t smallest = 16;

    explicit KeySlots(std::size_t n) : slots_(n) {}

    int shift() const noexcept { return 64 - std::countr_zero(slots_.size()); }
    std::size_t next(std::size_t i) const noexcept { return (i + 1) & (slots_.size() - 1); }

    Buffer<Slot> slots_;  // a power of two
};

}  // namespace rowan::inline v0::detail
