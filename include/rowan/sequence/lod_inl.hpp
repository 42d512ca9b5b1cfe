// rowan/sequence/lod_inl.hpp: definitions of rowan/sequence/lod.hpp.
#pragma once

#include <rowan/sequence/lod.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>

#include <algorithm>
#include <limits>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void check_list(std::string const& field, Ids<> const& list) {
    if (list.shape().size() != 1) throw ShapeError({field, " rank"}, list.shape().size(), "1");
}

ROWAN_CALLED_FUNCTION void check_at_most(char const* field, Ids<> const& list, std::size_t i, std::int64_t most) {
    constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
    if (list[i] < 0 || list[i] > most) throw IndexError(field, i, list[i], most == max ? max : most + 1);
}

ROWAN_CALLED_FUNCTION void check_level_count(std::size_t levels) {
    if (levels > Lod::max_levels) {
        throw LodError(Lod::max_levels, 0, static_cast<std::int64_t>(levels),
                       {"levels are more than ", Lod::max_levels});
    }
}

ROWAN_CALLED_FUNCTION std::string element_name(char const* list, std::size_t i) {
    return std::string(list).append("[").append(std::to_string(i)).append("]");
}

ROWAN_CALLED_FUNCTION Lod level_of_lengths(std::vector<std::int64_t> const& lengths) {
    return Lod::from_lengths({lengths});
}

ROWAN_CALLED_FUNCTION Lod levels_of_lengths(std::vector<std::vector<std::int64_t>> const& lengths) {
    return Lod::from_lengths(lengths);
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION Lod& Lod::operator=(Lod other) noexcept {
    memory_.swap(other.memory_);
    levels_ = other.levels_;
    offsets_ = other.offsets_;
    return *this;
}

ROWAN_FUNCTION Lod::Lod(std::initializer_list<Ids<>> levels) { build({levels.begin(), levels.size()}, false); }

ROWAN_CALLED_FUNCTION Lod::Lod(detail::LevelLists const& levels) { build({levels.lists.data(), levels.count}, false); }

ROWAN_CALLED_FUNCTION Lod Lod::from_lengths(std::initializer_list<Ids<>> levels) {
    Lod lod;
    lod.build({levels.begin(), levels.size()}, true);
    return lod;
}

ROWAN_CALLED_FUNCTION Lod Lod::of_lengths(detail::LevelLists const& levels) {
    Lod lod;
    lod.build({levels.lists.data(), levels.count}, true);
    return lod;
}

ROWAN_CALLED_FUNCTION void Lod::build(std::span<Ids<> const> levels, bool are_lengths) {
    detail::check_level_count(levels.size());
    std::size_t size = 0;
    for (std::size_t at = 0; Ids<> const& list : levels) {
        detail::check_list("lod[" + std::to_string(at) + "]", list);
        size += list.size() + 1;
        ++at;
    }
    auto const block = std::make_shared_for_overwrite<std::int64_t[]>(size);
    std::int64_t* next = block.get();
    for (Ids<> const& list : levels) {
        std::size_t const n = list.size() + (are_lengths ? 1 : 0);
        if (are_lengths) {
            next[0] = 0;
            for (std::size_t i = 0; i < list.size(); ++i) {
                if (list[i] < 0) throw LodError(levels_, i, list[i], "is negative, expected a length");
                if (list[i] > std::numeric_limits<std::int64_t>::max() - next[i]) {
                    throw LodError(levels_, i, list[i], "is a length that makes the sum overflow");
                }
                next[i + 1] = next[i] + list[i];
            }
        } else {
            if (n == 0) throw LodError(levels_, 0, 0, "is missing: a level has at least the offset 0");
            for (std::size_t i = 0; i < n; ++i) next[i] = list[i];
            check(levels_, {next, n});
        }
        offsets_[levels_] = {next, n};
        if (levels_ > 0) check_end(levels_ - 1, offsets_[levels_ - 1], n - 1);
        ++levels_;
        next += n;
    }
    memory_ = block;
}

ROWAN_CALLED_FUNCTION Lod Lod::from_row_ids(Ids<> row_ids, Height sequences) {
    detail::check_list("row_ids", row_ids);
    detail::check_ids(Cpu{}, "row_ids", row_ids, sequences);
    std::size_t const offsets = static_cast<std::size_t>(std::int64_t{sequences}) + 1;
    detail::checked_size("offsets", std::array{offsets}, sizeof(std::int64_t));
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(std::int64_t{sequences}));
    for (std::size_t i = 0; i < row_ids.size(); ++i) {
        if (i > 0 && row_ids[i] < row_ids[i - 1]) {
            throw IndexError("row_ids", i, row_ids[i], "is less than the id before it: ids must ascend");
        }
        ++lengths[static_cast<std::size_t>(row_ids[i])];
    }
    return from_lengths({lengths});
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> Lod::lengths(std::size_t level) const {
    auto const offsets = (*this)[level];
    std::vector<std::int64_t> lengths(offsets.size() - 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = offsets[i + 1] - offsets[i];
    return lengths;
}

ROWAN_CALLED_FUNCTION std::vector<std::vector<std::int64_t>> Lod::absolute() const {
    std::vector<std::vector<std::int64_t>> rows(levels_);
    for (std::size_t level = levels_; level-- > 0;) {
        for (std::int64_t const e : offsets_[level]) {
            rows[level].push_back(level + 1 == levels_ ? e : rows[level + 1][static_cast<std::size_t>(e)]);
        }
    }
    return rows;
}

ROWAN_CALLED_FUNCTION Lod Lod::slice_levels(std::size_t begin, std::size_t end) const {
    detail::check_range("slice_levels", begin, end, levels_);
    Lod lod;
    lod.memory_ = memory_;
    lod.levels_ = end - begin;
    std::copy(offsets_.begin() + static_cast<std::ptrdiff_t>(begin),
              offsets_.begin() + static_cast<std::ptrdiff_t>(end), lod.offsets_.begin());
    return lod;
}

ROWAN_FUNCTION bool Lod::equals(Lod const& other) const noexcept {
    if (levels_ != other.levels_) return false;
    for (std::size_t l = 0; l < levels_; ++l) {
        auto const x = offsets_[l], y = other.offsets_[l];
        if (!std::equal(x.begin(), x.end(), y.begin(), y.end())) return false;
    }
    return true;
}

ROWAN_FUNCTION std::ostream& Lod::print(std::ostream& out) const {
    char const* comma = "";
    out << '{';
    for (std::size_t l = 0; l < levels_; ++l) {
        auto const offsets = offsets_[l];
        out << std::exchange(comma, ", ") << '{';
        for (std::size_t i = 0; i < offsets.size(); ++i) out << (i == 0 ? "" : ", ") << offsets[i];
        out << '}';
    }
    return out << '}';
}

ROWAN_FUNCTION void Lod::check_level(std::size_t level) const {
    if (level >= levels_) throw IndexError("level", level, levels_);
}

ROWAN_CALLED_FUNCTION void Lod::check_rows(std::size_t rows) const {
    if (levels_ == 0 || static_cast<std::size_t>(this->rows()) == rows) return;
    throw LodError(levels_ - 1, offsets_[levels_ - 1].size() - 1, this->rows(),
                   {"is not ", rows, ", the number of rows"});
}

ROWAN_CALLED_FUNCTION void Lod::check(std::size_t level, std::span<std::int64_t const> offsets) {
    if (offsets[0] != 0) throw LodError(level, 0, offsets[0], "is not 0, where the first sequence begins");
    for (std::size_t i = 1; i < offsets.size(); ++i) {
        if (offsets[i] >= offsets[i - 1]) continue;
        throw LodError(level, i, offsets[i], {"is less than the offset before it, ", offsets[i - 1]});
    }
}

ROWAN_CALLED_FUNCTION void Lod::check_end(std::size_t level, std::span<std::int64_t const> offsets,
                                          std::size_t sequences) {
    if (static_cast<std::size_t>(offsets.back()) == sequences) return;
    throw LodError(level, offsets.size() - 1, offsets.back(),
                   {"is not ", sequences, ", the number of sequences of the next level"});
}

}  // namespace rowan::inline v0

#endif
