// rowan/sparse/touched_rows_inl.hpp: definitions of rowan/sparse/touched_rows.hpp.
#pragma once

#include <rowan/sparse/touched_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION TouchedRows::TouchedRows(Height height)
    : height_(height), bits_(static_cast<std::size_t>(height_ / 64 + (height_ % 64 != 0))) {}

ROWAN_FUNCTION TouchedRows::TouchedRows(TouchedRows&& other) noexcept
    : height_(std::exchange(other.height_, 0)), bits_(std::exchange(other.bits_, {})) {}
ROWAN_FUNCTION TouchedRows& TouchedRows::operator=(TouchedRows const& other) { return *this = TouchedRows(other); }
ROWAN_FUNCTION TouchedRows& TouchedRows::operator=(TouchedRows&& other) noexcept {
    TouchedRows moved(std::move(other));
    std::swap(height_, moved.height_);
    bits_.swap(moved.bits_);
    return *this;
}

ROWAN_CALLED_FUNCTION void TouchedRows::grow(Height height) {
    if (height < height_) throw ShapeError("height", {std::int64_t{height}}, {"at least ", height_});
    bits_.resize(static_cast<std::size_t>(height / 64 + (height % 64 != 0)));
    height_ = height;
}

ROWAN_CALLED_FUNCTION void TouchedRows::shrink(Height height) noexcept {
    if (height >= height_) return;
    bits_.resize(static_cast<std::size_t>(height / 64 + (height % 64 != 0)));
    height_ = height;
    if (height % 64 != 0) bits_.back() &= bit(static_cast<std::size_t>(height)) - 1;
}

ROWAN_CALLED_FUNCTION void TouchedRows::add(Ids<> rows) {
    detail::check_ids(Cpu{}, "rows", rows, height_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const row = static_cast<std::size_t>(rows[i]);
        bits_[row / 64] |= bit(row);
    }
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> TouchedRows::rows() const {
    std::size_t count = 0;
    for (std::uint64_t const word : bits_) count += static_cast<std::size_t>(std::popcount(word));
    std::vector<std::int64_t> rows;
    rows.reserve(count);
    for (std::size_t i = 0; i < bits_.size(); ++i) {
        for (std::uint64_t word = bits_[i]; word != 0; word &= word - 1)
            rows.push_back(static_cast<std::int64_t>(64 * i) + std::countr_zero(word));
    }
    return rows;
}

ROWAN_CALLED_FUNCTION void TouchedRows::clear() noexcept { std::fill(bits_.begin(), bits_.end(), 0); }

}  // namespace rowan::inline v0

#endif
