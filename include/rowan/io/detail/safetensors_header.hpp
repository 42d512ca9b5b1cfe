// rowan/io/detail/safetensors_header.hpp: the header of a safetensors file, a JSON object of tensors.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/io/detail/json_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

inline constexpr std::size_t safetensors_header_limit = 100'000'000;  // that of the format

/// An element type of the format.
struct SafetensorsType {
    std::string_view name;
    unsigned bits;
};

/// All element types, in the order in which the format stores tensors.
inline constexpr SafetensorsType safetensors_types[] = {
    {"U64", 64},        {"I64", 64},    {"F64", 64},    {"C64", 64},    {"F32", 32}, {"U32", 32},
    {"I32", 32},        {"BF16", 16},   {"F16", 16},    {"U16", 16},    {"I16", 16}, {"F8_E5M2FNUZ", 8},
    {"F8_E4M3FNUZ", 8}, {"F8_E8M0", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"I8", 8},   {"U8", 8},
    {"F6_E3M2", 6},     {"F6_E2M3", 6}, {"F4", 4},      {"BOOL", 8}};

/// The format's name of T. Elements of a type that it does not have are U8, with one more dim of sizeof(T).
template <class T>
constexpr std::string_view safetensors_type() {
    if constexpr (std::is_same_v<T, double>) return "F64";
    if constexpr (std::is_same_v<T, float>) return "F32";
    if constexpr (std::is_same_v<T, float16>) return "F16";
    if constexpr (std::is_same_v<T, bfloat16>) return "BF16";
    if constexpr (std::is_same_v<T, std::int64_t>) return "I64";
    if constexpr (std::is_same_v<T, std::int32_t>) return "I32";
    if constexpr (std::is_same_v<T, bool>) return "BOOL";
    return "U8";
}

/// Whether T is stored as U8 with one more dim.
template <class T>
inline constexpr bool safetensors_of_bytes = safetensors_type<T>() == "U8" && !std::is_same_v<T, std::uint8_t>;

/// A header that has been validated. It keeps the text, in which the escapes of strings have been replaced, and for
/// each tensor and each entry of the metadata a few numbers.
class SafetensorsHeader {
public:
    struct Record {
        JsonText name;
        std::uint32_t shape = 0;           // position of the shape in the header
        std::uint32_t type = 0;            // index of safetensors_types
        std::uint64_t begin = 0, end = 0;  // in the data
    };
    struct Pair {
        JsonText key, value;
    };

    SafetensorsHeader() = default;
    /// Parses the text of a header, which is at byte 8 of a file and followed by `data` bytes.
    /// errors   FormatError if it is not JSON, lacks or repeats anything, or its tensors do not cover the data
    /// cost     O(size + n log n); beside the text 32 bytes per tensor and 16 per entry of the metadata, in vectors
    ///          that grow: at most 8 times the size of the text
    ROWAN_IF_CALLED SafetensorsHeader(std::string text, std::uint64_t data);

    std::uint64_t data_begin() const noexcept { return 8 + text_.size(); }
    std::vector<Record> const& records() const noexcept { return records_; }  ///< ascending by name
    std::vector<Pair> const& metadata() const noexcept { return metadata_; }  ///< ascending by key
    std::string_view view(JsonText t) const { return std::string_view(text_).substr(t.at, t.size); }
    std::string_view name(Record const& r) const { return view(r.name); }

    /// The record of that name, or null.
    ROWAN_IF_CALLED Record const* find(std::string_view name) const;

    ROWAN_IF_CALLED std::vector<std::int64_t> shape(Record const& r) const;

private:
    friend class SafetensorsParser;

    std::string text_;
    std::vector<Record> records_;
    std::vector<Pair> metadata_;
};

/// errors   FormatError unless a header of n bytes can follow its length, with `left` bytes after it
ROWAN_IF_CALLED void check_safetensors_length(std::uint64_t n, std::uint64_t left);

/// Reads everything before the data.
template <class Reader>
SafetensorsHeader read_safetensors_header(Reader& in) {
    auto const n = in.template number<std::uint64_t>("the header's length");
    check_safetensors_length(n, in.left());
    std::string text(static_cast<std::size_t>(n), '\0');
    in.read("the header", std::as_writable_bytes(std::span(text)));
    return SafetensorsHeader(std::move(text), in.left());
}

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/safetensors_header_inl.hpp>
