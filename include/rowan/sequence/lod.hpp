// rowan/sequence/lod.hpp: Lod, level-of-detail offsets that partition a flat batch into sequences.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/kept_span.hpp>
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

/// A multi-pass range of lists of integers.
template <class R>
concept id_lists = std::ranges::sized_range<R const> && std::ranges::forward_range<R const> &&
    std::convertible_to<std::ranges::range_reference_t<R const>, Ids<>>;

/// Throws ShapeError unless `list` has rank 1.
inline void check_list(std::string const& field, Ids<> const& list) {
    if (list.shape().size() != 1) throw ShapeError(field + " rank", std::to_string(list.shape().size()), "1");
}

/// Throws IndexError unless 0 <= list[i] <= most.
void check_at_most(char const* field, Ids<> const& list, std::size_t i, std::int64_t most);

}  // namespace detail

/// Offsets that group the rows of a batch into sequences, these into outer sequences, and so on: one list per level.
///
///     level 0   0       2                 5     2 paragraphs, of 2 and 3 sentences
///     level 1   0   3   9   11   17   20        5 sentences, of 3, 6, 2, 6 and 3 words
///     rows      0 … 2 3 … 8 9 10 11…16 17…19    20 words
///
/// Offsets are relative: those of level i count the sequences of level i + 1, those of the last level count rows.
/// Sequences may be empty at any level; {0} is a level without sequences. Offsets are immutable and shared by copies of
/// the Lod. The offsets of a level are contiguous int64, so lod[level].data() is a valid offsets buffer of an Arrow
/// LargeList; the int32 offsets of an Arrow List can be passed to the constructor, which copies them.
class Lod {
public:
    /// The maximum number of levels.
    static constexpr std::size_t max_levels = 16;

    /// No levels: the rows form no sequences.
    Lod() = default;

    Lod(Lod const&) = default;
    Lod(Lod&& other) noexcept
        : memory_(std::move(other.memory_)), levels_(std::exchange(other.levels_, 0)), offsets_(other.offsets_) {}
    Lod& operator=(Lod other) noexcept;
    ~Lod() = default;

    /// Copies offsets, one list per level.
    /// errors   LodError if there are more than max_levels lists, or a list is empty, does not begin with 0, decreases,
    ///          or does not end with the number of sequences of the next level; ShapeError if a list is a tensor whose
    ///          rank is not 1
    /// cost     one allocation for all offsets, and one pass
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

    /// Makes a Lod from the lengths of the sequences of each level.
    /// errors   LodError if there are more than max_levels lists, a length is negative, or the sum of a list exceeds
    ///          2^63 - 1 or is not the number of sequences of the next level; ShapeError if a list is a tensor whose
    ///          rank is not 1
    /// cost     one allocation for all offsets, and one pass
    static Lod from_lengths(std::initializer_list<Ids<>> levels);

    template <detail::id_lists R>
    static Lod from_lengths(R const& levels) {
        Lod lod;
        lod.build(levels, [](std::size_t level, Ids<> const& list, std::int64_t* offsets) {
            offsets[0] = 0;
            for (std::size_t i = 0; i < list.size(); ++i) {
                if (list[i] < 0) throw LodError(level, i, list[i], "is negative, expected a length");
                if (list[i] > std::numeric_limits<std::int64_t>::max() - offsets[i]) {
                    throw LodError(level, i, list[i], "is a length that makes the sum overflow");
                }
                offsets[i + 1] = offsets[i] + list[i];
            }
            return list.size() + 1;
        });
        return lod;
    }

    /// Makes one level of `sequences` sequences, where row i belongs to sequence row_ids[i].
    /// errors   IndexError if row_ids decrease or an id is not in [0, sequences); ShapeError if row_ids are a tensor
    ///          whose rank is not 1 or the offsets exceed 2^63 - 1 bytes; std::bad_alloc
    /// cost     16 bytes per sequence during the call, 8 afterwards
    static Lod from_row_ids(Ids<> row_ids, Height sequences);

    std::size_t levels() const noexcept { return levels_; }  ///< the number of levels; 0: the rows form no sequences
    bool empty() const noexcept { return levels_ == 0; }

    /// The offsets of a level: sequences(level) + 1 numbers.
    /// errors   IndexError if level is not in [0, levels())
    std::span<std::int64_t const> operator[](std::size_t level) const& {
        check_level(level);
        return offsets_[level];
    }
    detail::KeptSpan<std::int64_t const> operator[](std::size_t level) && { return {(*this)[level], memory_}; }

    /// The number of sequences of a level.
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(1)
    std::size_t sequences(std::size_t level) const { return (*this)[level].size() - 1; }

    /// The number of rows that the last level covers; 0 without levels.
    std::int64_t rows() const noexcept { return levels_ == 0 ? 0 : offsets_[levels_ - 1].back(); }

    /// The lengths of the sequences of a level.
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(sequences of the level)
    std::vector<std::int64_t> lengths(std::size_t level) const;

    /// The offsets of all levels, counted in rows: {{0, 2}, {0, 1, 3}} becomes {{0, 3}, {0, 1, 3}}.
    /// errors   std::bad_alloc
    /// cost     O(offsets)
    std::vector<std::vector<std::int64_t>> absolute() const;

    /// Levels [begin, end). If end < levels(), their last offsets count sequences of level `end` instead of rows.
    /// errors   IndexError unless begin <= end <= levels()
    /// cost     O(levels): offsets are shared
    Lod slice_levels(std::size_t begin, std::size_t end) const;

    /// Validates a level number.
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(1)
    void check_level(std::size_t level) const;

    /// Validates that the levels match a batch of `rows` rows.
    /// errors   LodError unless there are no levels or the last one ends with `rows`
    /// cost     O(1)
    void check_rows(std::size_t rows) const;

    friend bool operator==(Lod const& a, Lod const& b) noexcept { return a.equals(b); }

    /// Prints the offsets: `{{0, 2, 5}, {0, 3, 9, 11, 17, 20}}`.
    friend std::ostream& operator<<(std::ostream& out, Lod const& lod) { return lod.print(out); }

private:
    friend struct detail::LodAccess;

    std::span<std::span<std::int64_t const> const> all() const noexcept { return {offsets_.data(), levels_}; }
    bool equals(Lod const& other) const noexcept;
    std::ostream& print(std::ostream& out) const;

    static void check(std::size_t level, std::span<std::int64_t const> offsets);

    static void check_end(std::size_t level, std::span<std::int64_t const> offsets, std::size_t sequences);

    // fill(level, list, offsets) writes the offsets of a level and returns their number, at most list.size() + 1.
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

/// Makes a Lod from existing offsets without copying them.
struct LodAccess {
    /// Offsets that are valid by construction. `memory` keeps them alive.
    template <class Levels>
    static Lod make(std::shared_ptr<void const> memory, Levels const& levels) {
        Lod lod;
        lod.memory_ = std::move(memory);
        for (std::span<std::int64_t const> const offsets : levels) lod.offsets_[lod.levels_++] = offsets;
        return lod;
    }
    /// Offsets that are validated. `memory` keeps them alive.
    /// errors   LodError as the constructor of Lod
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
