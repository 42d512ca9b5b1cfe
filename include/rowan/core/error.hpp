// rowan/core/error.hpp: the exception types. Types and accessors are API, message texts are not.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// A text for an error: characters, a whole number, or a braced list of those, which are joined:
///     throw ShapeError({field, " rank"}, rank, "at least 1");
/// What throws stores addresses alone, the error makes the strings. An ErrorText is valid as long as its parts.
class ErrorText {
public:
    /// Characters, or a whole number; bool is 0 or 1, and char is none.
    class Part {
    public:
        /// Characters, or a whole number.
        constexpr Part(char const* text) : text_(text), number_(0), kind_(Kind::until_zero) {}
        constexpr Part(std::string_view text) : text_(text.data()), number_(text.size()), kind_(Kind::counted) {}
        Part(std::string const& text) : Part(std::string_view(text)) {}
        template <std::integral I>
        requires(!std::same_as<I, char>) constexpr Part(I number)
            : text_(nullptr), number_(static_cast<std::uint64_t>(number)),
              kind_(std::is_signed_v<I> ? Kind::signed_number : Kind::unsigned_number) {}

    private:
        friend class ErrorText;
        enum class Kind : unsigned char { until_zero, counted, signed_number, unsigned_number, list };

        constexpr Part(std::initializer_list<Part> parts) : parts_(nullptr), number_(parts.size()), kind_(Kind::list) {
            parts_ = parts.begin();
        }

        union {
            char const* text_;   ///< characters
            Part const* parts_;  ///< a list
        };
        std::uint64_t number_;  // or how many characters or parts
        Kind kind_;
    };

    /// One text, one number, or the parts of a text.
    constexpr ErrorText(char const* text) : part_(text) {}
    constexpr ErrorText(std::string_view text) : part_(text) {}
    ErrorText(std::string const& text) : part_(text) {}
    template <std::integral I>
    requires(!std::same_as<I, char>) constexpr ErrorText(I number) : part_(number) {}
    constexpr ErrorText(std::initializer_list<Part> parts) : part_(parts) {}

    /// The parts, joined.
    /// errors   std::bad_alloc
    /// cost     O(characters)
    std::string text() const;

private:
    static void append(std::string& text, Part const& part);

    Part part_;
};

/// The base class of all errors. A function validates all its arguments before it writes anything.
class Error : public std::runtime_error {
public:
    explicit Error(ErrorText const& text);  ///< what() returns this text
};

/// An id, index or slot out of range: `rows[1] = 9 is not in [0, 4)`.
class IndexError : public Error {
public:
    /// `field[position] = value is not in [0, bound)`
    template <std::integral Value, std::integral Bound>
    IndexError(ErrorText const& field, std::size_t position, Value value, Bound bound)
        : IndexError(field, position, static_cast<std::int64_t>(value), static_cast<std::int64_t>(bound),
                     {"= ", value, " is not in [0, ", bound, ")"}) {}

    /// A single number: `padding_id = 9 is not in [0, 4)`. position() returns no_position.
    template <std::integral Value, std::integral Bound>
    IndexError(ErrorText const& field, Value value, Bound bound) : IndexError(field, no_position, value, bound) {}

    /// A position that is invalid for another reason: `slots[3] was never written`. value() and bound() return
    /// `position`.
    IndexError(ErrorText const& field, std::size_t position, ErrorText const& reason);

    /// A value that is invalid for another reason: `order[2] = 1 is a repeated value`. bound() returns `value`.
    IndexError(ErrorText const& field, std::size_t position, std::int64_t value, ErrorText const& reason);

    static constexpr std::size_t no_position = static_cast<std::size_t>(-1);  ///< of an argument that is no list

    std::string const& field() const noexcept { return field_; }  ///< the argument
    std::size_t position() const noexcept { return position_; }   ///< the lowest invalid position, or no_position
    /// The value at that position. An unsigned value above 2^63 - 1, which the text names, wraps around here.
    std::int64_t value() const noexcept { return value_; }
    std::int64_t bound() const noexcept { return bound_; }  ///< valid values are in [0, bound)

    /// This error with another field and position: those of the argument from which this field was computed.
    /// errors   std::bad_alloc
    /// cost     one string
    IndexError moved_to(ErrorText const& field, std::size_t position) const;

private:
    IndexError(ErrorText const& field, std::size_t position, std::int64_t value, std::int64_t bound,
               ErrorText const& reason);

    std::string field_, reason_;
    std::size_t position_;
    std::int64_t value_;
    std::int64_t bound_;
};

/// Ranks, dims or counts that do not match, or a size that is out of range: `value.shape(0) is 3, expected 2`.
class ShapeError : public Error {
public:
    /// `field is actual, expected expected`
    ShapeError(ErrorText const& field, ErrorText const& actual, ErrorText const& expected);

    std::string const& field() const noexcept { return field_; }        ///< the argument and its property
    std::string const& actual() const noexcept { return actual_; }      ///< the actual value
    std::string const& expected() const noexcept { return expected_; }  ///< the expected value

private:
    std::string field_;
    std::string actual_;
    std::string expected_;
};

/// An invalid number: `learning_rate is nan, expected a finite number`.
class ValueError : public Error {
public:
    /// `field is value, expected expected`
    ValueError(ErrorText const& field, double value, ErrorText const& expected);
    /// `field is value, expected expected`, with all digits of an integer.
    template <std::integral I>
    ValueError(ErrorText const& field, I value, ErrorText const& expected)
        : ValueError(field, static_cast<double>(value), ErrorText(value), expected) {}

    std::string const& field() const noexcept { return field_; }        ///< the argument
    std::string const& expected() const noexcept { return expected_; }  ///< the expected value
    double value() const noexcept { return value_; }                    ///< the actual value

private:
    ValueError(ErrorText const& field, double value, ErrorText const& text, ErrorText const& expected);

    std::string field_, expected_;
    double value_;
};

/// Offsets or lengths that do not partition a batch into sequences:
/// `lod[1][2] = 3 is less than the offset before it, 5`.
class LodError : public Error {
public:
    /// `lod[level][position] = value reason`
    LodError(std::size_t level, std::size_t position, std::int64_t value, ErrorText const& reason);

    std::size_t level() const noexcept { return level_; }           ///< 0: the outermost sequences
    std::size_t position() const noexcept { return position_; }     ///< the lowest invalid position in that level
    std::int64_t value() const noexcept { return value_; }          ///< the value at that position
    std::string const& reason() const noexcept { return reason_; }  ///< why it is invalid

private:
    std::string reason_;
    std::size_t level_;
    std::size_t position_;
    std::int64_t value_;
};

/// Element types that do not match: `table is f32, expected bf16`.
class TypeError : public Error {
public:
    /// `field is actual, expected expected`
    TypeError(ErrorText const& field, ErrorText const& actual, ErrorText const& expected);

    std::string const& field() const noexcept { return field_; }        ///< the argument
    std::string const& actual() const noexcept { return actual_; }      ///< the actual type
    std::string const& expected() const noexcept { return expected_; }  ///< the expected type

private:
    std::string field_;
    std::string actual_;
    std::string expected_;
};

/// A file or message that violates its format: `byte 12: dims is -3, which is negative`.
class FormatError : public Error {
public:
    /// `byte offset: field reason`
    FormatError(std::uint64_t offset, ErrorText const& field, ErrorText const& reason);

    std::uint64_t offset() const noexcept { return offset_; }     ///< position in the file or message, in bytes
    std::string const& field() const noexcept { return field_; }  ///< the field at that offset

private:
    std::uint64_t offset_;
    std::string field_;
};

/// An operating system call failed: `open model.rowan: No such file or directory`.
class IoError : public Error {
public:
    /// `operation path: reason`
    IoError(ErrorText const& operation, ErrorText const& path, ErrorText const& reason, int code);

    std::string const& path() const noexcept { return path_; }  ///< the file
    int code() const noexcept { return code_; }                 ///< errno

private:
    std::string path_;
    int code_;
};

/// A net that cannot run: an unknown operator, a missing variable, a cycle.
class GraphError : public Error {
public:
    using Error::Error;
};

/// A CUDA call failed.
class CudaError : public Error {
public:
    using Error::Error;
};

}  // namespace rowan::inline v0

#include <rowan/core/error_inl.hpp>
