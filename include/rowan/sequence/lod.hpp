// rowan/sequence/lod.hpp: level-of-detail offsets, which cut a flat batch into sequences.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <ostream>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

struct LodAccess;

/// Lists of numbers, which may be looked at twice.
template <class R>
concept id_lists = std::ranges::sized_range<R const> && std::ranges::forward_range<R const> &&
    std::convertible_to<std::ranges::range_reference_t<R const>, Ids<>>;

/// A list of numbers has rank 1.
inline void check_list(std::string const& field, Ids<> const& list) {
    if (list.shape().size() != 1) throw ShapeError(field + " rank", std::to_string(list.shape().size()), "1");
}

/// IndexError unless 0 <= list[i] <= most.
void check_at_most(char const* field, Ids<> const& list, std::size_t i, std::int64_t most);

}  // namespace detail

/// How the rows of a batch form sequences, those longer sequences, and so on: one list of offsets for each level.
///
///     level 0   0       2                 5     2 paragraphs, of 2 and 3 sentences
///     level 1   0   3   9   11   17   20        5 sentences, of 3, 6, 2, 6 and 3 words
///     rows      0 … 2 3 … 8 9 10 11…16 17…19    20 words
///
/// Offsets are relative: those of level i count the sequences of level i + 1, the last level's count rows. Sequences may be empty at
/// any level; {0} is a level of no sequences. A Lod does not change: copies share the offsets. Those of a level lie one after the other
/// as int64, lod[level].data() is the offsets buffer of an Arrow LargeList as it is; Arrow's List has int32 ones, which are taken by copy.
class Lod {
public:
    /// More levels than that are refused.
    static constexpr std::size_t max_levels = 16;

    /// No levels: rows that form no sequences.
    Lod() = default;

    Lod(Lod const&) = default;
    Lod(Lod&& other) noexcept
        : memory_(std::move(other.memory_)), levels_(std::exchange(other.levels_, 0)), offsets_(other.offsets_) {}
    Lod& operator=(Lod other) noexcept;
    ~Lod() = default;

    /// Takes offsets, one list for each level.
    /// errors   LodError if there are more than max_levels lists, a list is empty, does not begin with 0, descends, or does not end with
    ///          the number of sequences of the next level; ShapeError if one is a tensor of another rank than 1
    /// cost     one block for all offsets
    Lod(std::initializer_list<Ids<>> levels);

    template <detail::id_lists R>
    requires(!std::same_as<std::remove_cvref_t<R>, Lod>) explicit Lod(R const& levels) {
        build(levels, [](std::size_t level, Ids<> const& list, std::int64_t* offsets) {
            if (list.size() == 0) throw LodError(level, 0, 0, "is missing: a level has at least the offset 0");
            for (std::size_t i = 0; i < list.size(); ++i) offsets[i] = list[i];
            check(level, {offsets, list.size()});
            return list.size();
        });
    }

    /// Takes the lengths of the sequences of each level.
    /// errors   LodError if one is negative or their sum does not fit 63 bits, or is not the number of sequences of the next level
    /// cost     one block for all offsets, and one pass
    static Lod from_lengths(std::initializer_list<Ids<>> levels);

    template <detail::id_lists R>
    static Lod from_lengths(R const& levels) {
        Lod lod;
        lod.build(levels, [](std::size_t level, Ids<> const& list, std::int64_t* offsets) {
            offsets[0] = 0;
            for (std::size_t i = 0; i < list.size(); ++i) {
                if (list[i] < 0) throw LodError(level, i, list[i], "is negative, and should be a length");
                if (list[i] > std::numeric_limits<std::int64_t>::max() - offsets[i]) {
                    throw LodError(level, i, list[i], "is a length that makes the sum overflow");
                }
                offsets[i + 1] = offsets[i] + list[i];
            }
            return list.size() + 1;
        });
        return lod;
    }

    /// One level of `sequences` sequences, row i belonging to sequence row_ids[i].
    /// errors   IndexError if row_ids descend or one is not in [0, sequences); ShapeError if they are a tensor of another rank than 1 or
    ///          so many offsets cannot be; std::bad_alloc
    /// cost     16 bytes for each sequence while it works, 8 in the end
    static Lod from_row_ids(Ids<> row_ids, Height sequences);

    std::size_t levels() const noexcept { return levels_; }  ///< how many; 0: rows that form no sequences
    bool empty() const noexcept { return levels_ == 0; }

    /// The offsets of a level, one more than it has sequences.
    /// errors   IndexError if level is not in [0, levels())
    std::span<std::int64_t const> operator[](std::size_t level) const {
        check_level(level);
        return offsets_[level];
    }

    /// How many sequences a level has.
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(1)
    std::size_t sequences(std::size_t level) const { return (*this)[level].size() - 1; }

    /// How many rows the last level covers; 0 without levels.
    std::int64_t rows() const noexcept { return levels_ == 0 ? 0 : offsets_[levels_ - 1].back(); }

    /// The lengths of the sequences of a level.
    /// errors   IndexError if there is no such level
    /// cost     O(sequences of the level)
    std::vector<std::int64_t> lengths(std::size_t level) const;

    /// Every level's offsets counted in rows: {{0, 2}, {0, 1, 3}} over rows is {{0, 3}, {0, 1, 3}}.
    /// errors   std::bad_alloc
    /// cost     O(offsets)
    std::vector<std::vector<std::int64_t>> absolute() const;

    /// The levels from `begin` on, before `end`; where end < levels(), they cover sequences of level `end` instead of rows.
    /// errors   IndexError unless begin <= end <= levels()
    /// cost     O(levels): offsets are shared
    Lod slice_levels(std::size_t begin, std::size_t end) const;

    /// Is there such a level?
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(1)
    void check_level(std::size_t level) const;

    /// Do the levels fit a batch of so many rows?
    /// errors   LodError unless there are no levels or the last ends with `rows`
    /// cost     O(1)
    void check_rows(std::size_t rows) const;

    friend bool operator==(Lod const& a, Lod const& b) noexcept { return a.equals(b); }

    /// {{0, 2, 5}, {0, 3, 9, 11, 17, 20}}
    friend std::ostream& operator<<(std::ostream& out, Lod const& lod) { return lod.print(out); }

private:
    friend struct detail::LodAccess;

    std::span<std::span<std::int64_t const> const> all() const noexcept { return {offsets_.data(), levels_}; }
    bool equals(Lod const& other) const noexcept;
    std::ostream& print(std::ostream& out) const;

    static void check(std::size_t level, std::span<std::int64_t const> offsets);

    static void check_end(std::size_t level, std::span<std::int64_t const> offsets, std::size_t sequences);

    // fill(level, list, offsets) writes the offsets of a level and returns how many they are: at most one more than the list has numbers.
    template <class R, class Fill>
    void build(R const& levels, Fill const& fill) {
        std::size_t const count = std::ranges::size(levels);
        if (count > max_levels) {
            throw LodError(max_levels, 0, static_cast<std::int64_t>(count),
                           "levels are more than " + std::to_string(max_levels));
        }
        std::size_t size = 0;
        for (std::size_t at = 0; auto const& level : levels) {
            Ids<> const list(level);
            detail::check_list("lod[" + std::to_string(at) + "]", list);
            size += list.size() + 1;
            ++at;
        }
        auto const block = std::make_shared_for_overwrite<std::int64_t[]>(size);
        std::int64_t* next = block.get();
        for (auto const& level : levels) {
            std::size_t const n = fill(levels_, Ids<>(level), next);
            offsets_[levels_] = {next, n};
            if (levels_ > 0) check_end(levels_ - 1, offsets_[levels_ - 1], n - 1);
            ++levels_;
            next += n;
        }
        memory_ = block;
    }

    std::shared_ptr<void const> memory_;  // keeps the offsets alive
    std::size_t levels_ = 0;
    std::array<std::span<std::int64_t const>, max_levels> offsets_;
};

namespace detail {

/// What rowan's own algorithms may do: make a Lod of offsets that are right because of where they come from.
struct LodAccess {
    /// `memory` keeps the offsets alive.
    template <class Levels>
    static Lod make(std::shared_ptr<void const> memory, Levels const& levels) {
        Lod lod;
        lod.memory_ = std::move(memory);
        for (std::span<std::int64_t const> const offsets : levels) lod.offsets_[lod.levels_++] = offsets;
        return lod;
    }
    /// The same of offsets that may be wrong.
    /// errors   LodError, as the constructor of Lod
    template <class Levels>
    static Lod checked(std::shared_ptr<void const> memory, Levels const& levels) {
        Lod lod = make(std::move(memory), levels);
        for (std::size_t l = 0; l < lod.levels_; ++l) {
            Lod::check(l, lod.offsets_[l]);
            if (l > 0) Lod::check_end(l - 1, lod.offsets_[l - 1], lod.offsets_[l].size() - 1);
        }
        return lod;
    }
    static std::shared_ptr<void const> const& memory(Lod const& lod) { return lod.memory_; }
};

}  // namespace detail

}  // namespace rowan::inline v0

#include <rowan/sequence/lod_inl.hpp>
