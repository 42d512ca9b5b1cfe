// rowan/core/error_inl.hpp: definitions of rowan/core/error.hpp.
#pragma once

#include <rowan/core/error.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <charconv>

namespace rowan::inline v0 {
namespace detail {

/// The shortest digits that read back as this number.
inline std::string digits(double value) {
    char shortest[32];
    return {shortest, std::to_chars(shortest, shortest + sizeof shortest, value).ptr};
}

}  // namespace detail

ROWAN_FUNCTION ROWAN_RARE std::string ErrorText::text() const {
    std::string joined;
    append(joined, part_);
    return joined;
}

ROWAN_FUNCTION ROWAN_RARE void ErrorText::append(std::string& text, Part const& part) {
    using Kind = Part::Kind;
    switch (part.kind_) {
        case Kind::until_zero:
            text += part.text_;
            break;
        case Kind::counted:
            text.append(part.text_, part.number_);
            break;
        case Kind::signed_number:
            text += std::to_string(static_cast<std::int64_t>(part.number_));
            break;
        case Kind::unsigned_number:
            text += std::to_string(part.number_);
            break;
        case Kind::list:
            for (std::uint64_t i = 0; i < part.number_; ++i) append(text, part.parts_[i]);
            break;
    }
}

ROWAN_FUNCTION ROWAN_RARE Error::Error(ErrorText const& text) : std::runtime_error(text.text()) {}

ROWAN_FUNCTION ROWAN_RARE IndexError::IndexError(ErrorText const& field, std::size_t position, ErrorText const& reason)
    : IndexError(field, position, static_cast<std::int64_t>(position), static_cast<std::int64_t>(position), reason) {}

ROWAN_FUNCTION ROWAN_RARE IndexError::IndexError(ErrorText const& field, std::size_t position, std::int64_t value,
                                                 ErrorText const& reason)
    : IndexError(field, position, value, value, {"= ", value, " ", reason.text()}) {}

ROWAN_FUNCTION ROWAN_RARE IndexError IndexError::moved_to(ErrorText const& field, std::size_t position) const {
    return IndexError(field, position, value_, bound_, reason_);
}

ROWAN_FUNCTION ROWAN_RARE IndexError::IndexError(ErrorText const& field, std::size_t position, std::int64_t value,
                                                 std::int64_t bound, ErrorText const& reason)
    : Error(position == no_position ? ErrorText({field.text(), " ", reason.text()})
                                    : ErrorText({field.text(), "[", position, "] ", reason.text()})),
      field_(field.text()), reason_(reason.text()), position_(position), value_(value), bound_(bound) {}

ROWAN_FUNCTION ROWAN_RARE ShapeError::ShapeError(ErrorText const& field, ErrorText const& actual,
                                                 ErrorText const& expected)
    : Error({field.text(), " is ", actual.text(), ", expected ", expected.text()}), field_(field.text()),
      actual_(actual.text()), expected_(expected.text()) {}

ROWAN_FUNCTION ROWAN_RARE ValueError::ValueError(ErrorText const& field, double value, ErrorText const& expected)
    : ValueError(field, value, detail::digits(value), expected) {}

ROWAN_FUNCTION ROWAN_RARE ValueError::ValueError(ErrorText const& field, double value, ErrorText const& text,
                                                 ErrorText const& expected)
    : Error({field.text(), " is ", text.text(), ", expected ", expected.text()}), field_(field.text()),
      expected_(expected.text()), value_(value) {}

ROWAN_FUNCTION ROWAN_RARE LodError::LodError(std::size_t level, std::size_t position, std::int64_t value,
                                             ErrorText const& reason)
    : Error({"lod[", level, "][", position, "] = ", value, " ", reason.text()}), reason_(reason.text()), level_(level),
      position_(position), value_(value) {}

ROWAN_FUNCTION ROWAN_RARE TypeError::TypeError(ErrorText const& field, ErrorText const& actual,
                                               ErrorText const& expected)
    : Error({field.text(), " is ", actual.text(), ", expected ", expected.text()}), field_(field.text()),
      actual_(actual.text()), expected_(expected.text()) {}

ROWAN_FUNCTION ROWAN_RARE FormatError::FormatError(std::uint64_t offset, ErrorText const& field,
                                                   ErrorText const& reason)
    : Error({"byte ", offset, ": ", field.text(), " ", reason.text()}), offset_(offset), field_(field.text()) {}

ROWAN_FUNCTION ROWAN_RARE IoError::IoError(ErrorText const& operation, ErrorText const& path, ErrorText const& reason,
                                           int code)
    : Error({operation.text(), " ", path.text(), ": ", reason.text()}), path_(path.text()), code_(code) {}

}  // namespace rowan::inline v0

#endif
