// rowan/sequence/lod.hpp: Lod, level-of-detail offsets that partition a flat batch into sequences.
#pragma once

#include <rowan/core/detail/kept_span.hpp>
#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>
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
ROWAN_IF_CALLED void check_list(std::string const& field, Ids<> const& list);

/// Throws IndexError unless 0 <= list[i] <= most.
ROWAN_IF_CALLED void check_at_most(char const* field, Ids<> const& list, std::size_t i, std::int64_t most);

/// Throws LodError if there are more than Lod::max_levels levels.
ROWAN_IF_CALLED void check_level_count(std::size_t levels);

inline constexpr std::size_t max_lod_levels = 16;

/// The lists of the levels of a Lod.
struct LevelLists {
    /// `levels` outlives it.
    template <class R>
    explicit LevelLists(R const& levels) : count(std::ranges::size(levels)) {
        using Level = std::ranges::range_reference_t<R const>;
        check_level_count(count);
        std::size_t i = 0;
        if constexpr (std::is_lvalue_reference_v<Level> || std::ranges::borrowed_range<Level>) {
            for (auto const& level : levels) lists[i++] = Ids<>(level);
        } else {
            auto const made = std::make_shared<std::vector<std::remove_cvref_t<Level>>>();
            for (auto&& level : levels) made->push_back(std::move(level));
            for (auto const& level : *made) lists[i++] = Ids<>(level);
            kept = made;
        }
    }

    std::size_t count;
    std::array<Ids<>, max_lod_levels> lists;
    std::shared_ptr<void const> kept;  // what the lists refer to, if the range made it
};

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
    static constexpr std::size_t max_levels = detail::max_lod_levels;

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
    requires(!std::same_as<std::remove_cvref_t<R>, Lod>) explicit Lod(R const& levels)
        : Lod(detail::LevelLists(levels)) {}

    /// Makes a Lod from the lengths of the sequences of each level.
    /// errors   LodError if there are more than max_levels lists, a length is negative, or the sum of a list exceeds
    ///          2^63 - 1 or is not the number of sequences of the next level; ShapeError if a list is a tensor whose
    ///          rank is not 1
    /// cost     one allocation for all offsets, and one pass
    ROWAN_IF_CALLED static Lod from_lengths(std::initializer_list<Ids<>> levels);

    template <detail::id_lists R>
    static Lod from_lengths(R const& levels) {
        return of_lengths(detail::LevelLists(levels));
    }

    /// Makes one level of `sequences` sequences, where row i belongs to sequence row_ids[i].
    /// errors   IndexError if row_ids decrease or an id is not in [0, sequences); ShapeError if row_ids are a tensor
    ///          whose rank is not 1 or the offsets exceed 2^63 - 1 bytes; std::bad_alloc
    /// cost     16 bytes per sequence during the call, 8 afterwards
    ROWAN_IF_CALLED static Lod from_row_ids(Ids<> row_ids, Height sequences);

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
    ROWAN_IF_CALLED std::vector<std::int64_t> lengths(std::size_t level) const;

    /// The offsets of all levels, counted in rows: {{0, 2}, {0, 1, 3}} becomes {{0, 3}, {0, 1, 3}}.
    /// errors   std::bad_alloc
    /// cost     O(offsets)
    ROWAN_IF_CALLED std::vector<std::vector<std::int64_t>> absolute() const;

    /// Levels [begin, end). If end < levels(), their last offsets count sequences of level `end` instead of rows.
    /// errors   IndexError unless begin <= end <= levels()
    /// cost     O(levels): offsets are shared
    ROWAN_IF_CALLED Lod slice_levels(std::size_t begin, std::size_t end) const;

    /// Validates a level number.
    /// errors   IndexError if level is not in [0, levels())
    /// cost     O(1)
    void check_level(std::size_t level) const;

    /// Validates that the levels match a batch of `rows` rows.
    /// errors   LodError unless there are no levels or the last one ends with `rows`
    /// cost     O(1)
    ROWAN_IF_CALLED void check_rows(std::size_t rows) const;

    friend bool operator==(Lod const& a, Lod const& b) noexcept { return a.equals(b); }

    /// Prints the offsets: `{{0, 2, 5}, {0, 3, 9, 11, 17, 20}}`.
    friend std::ostream& operator<<(std::ostream& out, Lod const& lod) { return lod.print(out); }

private:
    friend struct detail::LodAccess;

    ROWAN_IF_CALLED explicit Lod(detail::LevelLists const& levels);
    ROWAN_IF_CALLED static Lod of_lengths(detail::LevelLists const& levels);

    bool equals(Lod const& other) const noexcept;
    std::ostream& print(std::ostream& out) const;

    ROWAN_IF_CALLED static void check(std::size_t level, std::span<std::int64_t const> offsets);

    ROWAN_IF_CALLED static void check_end(std::size_t level, std::span<std::int64_t const> offsets,
                                          std::size_t sequences);

    // The offsets of the lists, or of lengths.
    ROWAN_IF_CALLED void build(std::span<Ids<> const> levels, bool are_lengths);

    std::shared_ptr<void const> memory_;  // keeps the offsets alive
    std::size_t levels_ = 0;
    std::array<std::span<std::int64_t const>, max_levels> offsets_;
};

namespace detail {

/// A level of sequences of these lengths.
/// errors   LodError as Lod::from_lengths
ROWAN_IF_CALLED Lod level_of_lengths(std::vector<std::int64_t> const& lengths);
/// Lod::from_lengths.
ROWAN_IF_CALLED Lod levels_of_lengths(std::vector<std::vector<std::int64_t>> const& lengths);

/// "list[i]", for messages.
ROWAN_IF_CALLED std::string element_name(char const* list, std::size_t i);

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
