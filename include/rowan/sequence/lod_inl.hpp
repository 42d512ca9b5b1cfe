// rowan/sequence/lod_inl.hpp: definitions of rowan/sequence/lod.hpp.
#pragma once

#include <rowan/sequence/lod.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_at_most(char const* field, Ids<> const& list, std::size_t i, std::int64_t most) {
    constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
    if (list[i] < 0 || list[i] > most) throw IndexError(field, i, list[i], most == max ? max : most + 1);
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION Lod& Lod::operator=(Lod other) noexcept {
    memory_.swap(other.memory_);
    levels_ = other.levels_;
    offsets_ = other.offsets_;
    return *this;
}

ROWAN_FUNCTION Lod::Lod(std::initializer_list<Ids<>> levels) : Lod(std::span(levels.begin(), levels.size())) {}

ROWAN_FUNCTION Lod Lod::from_lengths(std::initializer_list<Ids<>> levels) {
    return from_lengths(std::span(levels.begin(), levels.size()));
}

ROWAN_FUNCTION Lod Lod::from_row_ids(Ids<> row_ids, Height sequences) {
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

ROWAN_FUNCTION std::vector<std::int64_t> Lod::lengths(std::size_t level) const {
    auto const offsets = (*this)[level];
    std::vector<std::int64_t> lengths(offsets.size() - 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = offsets[i + 1] - offsets[i];
    return lengths;
}

ROWAN_FUNCTION std::vector<std::vector<std::int64_t>> Lod::absolute() const {
    std::vector<std::vector<std::int64_t>> rows(levels_);
    for (std::size_t level = levels_; level-- > 0;) {
        for (std::int64_t const e : offsets_[level]) {
            rows[level].push_back(level + 1 == levels_ ? e : rows[level + 1][static_cast<std::size_t>(e)]);
        }
    }
    return rows;
}

ROWAN_FUNCTION Lod Lod::slice_levels(std::size_t begin, std::size_t end) const {
    detail::check_range("slice_levels", begin, end, levels_);
    Lod lod;
    lod.memory_ = memory_;
    lod.levels_ = end - begin;
    std::copy(offsets_.begin() + static_cast<std::ptrdiff_t>(begin),
              offsets_.begin() + static_cast<std::ptrdiff_t>(end), lod.offsets_.begin());
    return lod;
}

ROWAN_FUNCTION bool Lod::equals(Lod const& other) const noexcept {
    return std::ranges::equal(all(), other.all(), [](auto x, auto y) { return std::ranges::equal(x, y); });
}

ROWAN_FUNCTION std::ostream& Lod::print(std::ostream& out) const {
    char const* comma = "";
    out << '{';
    for (auto const offsets : all()) {
        out << std::exchange(comma, ", ") << '{';
        for (std::size_t i = 0; i < offsets.size(); ++i) out << (i == 0 ? "" : ", ") << offsets[i];
        out << '}';
    }
    return out << '}';
}

ROWAN_FUNCTION void Lod::check_level(std::size_t level) const {
    if (level >= levels_) throw IndexError("level", level, levels_);
}

ROWAN_FUNCTION void Lod::check_rows(std::size_t rows) const {
    if (levels_ == 0 || static_cast<std::size_t>(this->rows()) == rows) return;
    throw LodError(levels_ - 1, offsets_[levels_ - 1].size() - 1, this->rows(),
                   "is not " + std::to_string(rows) + ", the number of rows");
}

ROWAN_FUNCTION void Lod::check(std::size_t level, std::span<std::int64_t const> offsets) {
    if (offsets[0] != 0) throw LodError(level, 0, offsets[0], "is not 0, where the first sequence begins");
    for (std::size_t i = 1; i < offsets.size(); ++i) {
        if (offsets[i] >= offsets[i - 1]) continue;
        throw LodError(level, i, offsets[i], "is less than the offset before it, " + std::to_string(offsets[i - 1]));
    }
}

ROWAN_FUNCTION void Lod::check_end(std::size_t level, std::span<std::int64_t const> offsets, std::size_t sequences) {
    if (static_cast<std::size_t>(offsets.back()) == sequences) return;
    throw LodError(level, offsets.size() - 1, offsets.back(),
                   "is not " + std::to_string(sequences) + ", the number of sequences of the next level");
}

}  // namespace rowan::inline v0

#endif
