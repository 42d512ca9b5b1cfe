// rowan/core/error_inl.hpp: definitions of rowan/core/error.hpp.
#pragma once

#include <rowan/core/error.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <charconv>

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE IndexError::IndexError(std::string field, std::size_t position, std::string const& reason)
    : IndexError(std::move(field), position, static_cast<std::int64_t>(position), static_cast<std::int64_t>(position),
                 reason) {}

ROWAN_FUNCTION ROWAN_RARE IndexError::IndexError(std::string field, std::size_t position, std::int64_t value,
                                                 std::string const& reason)
    : IndexError(std::move(field), position, value, value, text(std::to_string(value), reason)) {}

ROWAN_FUNCTION ROWAN_RARE IndexError IndexError::moved_to(std::string field, std::size_t position) const {
    return IndexError(std::move(field), position, value_, bound_, reason_);
}

ROWAN_FUNCTION ROWAN_RARE IndexError::IndexError(std::string field, std::size_t position, std::int64_t value,
                                                 std::int64_t bound, std::string reason)
    : Error(field +
            (position == no_position ? std::string(" ")
                                     : std::string("[").append(std::to_string(position)).append("] ")) +
            reason),
      field_(std::move(field)), reason_(std::move(reason)), position_(position), value_(value), bound_(bound) {}

ROWAN_FUNCTION ROWAN_RARE std::string IndexError::outside(std::string const& value, std::string const& bound) {
    return text(value, "is not in [0, " + bound + ")");
}

ROWAN_FUNCTION ROWAN_RARE std::string IndexError::text(std::string const& value, std::string const& reason) {
    return std::string("= ").append(value).append(" ").append(reason);
}

ROWAN_FUNCTION ROWAN_RARE ShapeError::ShapeError(std::string field, std::string actual, std::string expected)
    : Error(field + " is " + actual + ", expected " + expected), field_(std::move(field)), actual_(std::move(actual)),
      expected_(std::move(expected)) {}

ROWAN_FUNCTION ROWAN_RARE ValueError::ValueError(std::string field, double value, std::string expected)
    : ValueError(std::move(field), value, text(value), std::move(expected)) {}

ROWAN_FUNCTION ROWAN_RARE ValueError::ValueError(std::string field, double value, std::string const& text,
                                                 std::string expected)
    : Error(field + " is " + text + ", expected " + expected), field_(std::move(field)), expected_(std::move(expected)),
      value_(value) {}

ROWAN_FUNCTION ROWAN_RARE std::string ValueError::text(double value) {
    char shortest[32];
    return {shortest, std::to_chars(shortest, shortest + sizeof shortest, value).ptr};
}

ROWAN_FUNCTION ROWAN_RARE LodError::LodError(std::size_t level, std::size_t position, std::int64_t value,
                                             std::string reason)
    : Error("lod[" + std::to_string(level) + "][" + std::to_string(position) + "] = " + std::to_string(value) + " " +
            reason),
      reason_(std::move(reason)), level_(level), position_(position), value_(value) {}

ROWAN_FUNCTION ROWAN_RARE TypeError::TypeError(std::string field, std::string actual, std::string expected)
    : Error(field + " is " + actual + ", expected " + expected), field_(std::move(field)), actual_(std::move(actual)),
      expected_(std::move(expected)) {}

ROWAN_FUNCTION ROWAN_RARE FormatError::FormatError(std::uint64_t offset, std::string field, std::string const& reason)
    : Error("byte " + std::to_string(offset) + ": " + field + " " + reason), offset_(offset), field_(std::move(field)) {
}

ROWAN_FUNCTION ROWAN_RARE IoError::IoError(std::string const& operation, std::string path, std::string const& reason,
                                           int code)
    : Error(operation + " " + path + ": " + reason), path_(std::move(path)), code_(code) {}

}  // namespace rowan::inline v0

#endif
