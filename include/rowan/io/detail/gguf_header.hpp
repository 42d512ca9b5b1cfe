// rowan/io/detail/gguf_header.hpp: the header of a GGUF file, key-value pairs and tensors.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/io/detail/buffered_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

/// An element type of the format: blocks of elements.
struct GgufType {
    std::uint32_t number;
    std::string_view name;
    unsigned elements, bytes;  // of a block
};

/// All element types. Numbers that are missing had a meaning in older files.
inline constexpr GgufType gguf_types[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 40},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18}};

/// The type with this number, or null.
constexpr GgufType const* find_gguf_type(std::uint32_t number) {
    for (GgufType const& type : gguf_types) {
        if (type.number == number) return &type;
    }
    return nullptr;
}

/// The format's name of T; empty if it has no such type.
template <class T>
constexpr std::string_view gguf_type() {
    if constexpr (std::is_same_v<T, float>) return "F32";
    if constexpr (std::is_same_v<T, float16>) return "F16";
    if constexpr (std::is_same_v<T, bfloat16>) return "BF16";
    if constexpr (std::is_same_v<T, double>) return "F64";
    if constexpr (std::is_same_v<T, std::int32_t>) return "I32";
    if constexpr (std::is_same_v<T, std::int64_t>) return "I64";
    return "";
}

/// The types of values, by their numbers.
enum class GgufKind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

/// A header that has been validated. Elements of arrays are skipped.
class GgufHeader {
public:
    struct Text {  // in the strings
        std::uint64_t at = 0, size = 0;
    };
    struct Pair {
        Text key{};
        std::uint64_t bits = 0;   // a number; the size of a string, which is after its key
        std::uint64_t place = 0;  // position in the file
        GgufKind kind{};
    };
    struct Record {
        Text name{};
        std::uint64_t place = 0;  // position in the file
        std::uint64_t dims = 0;   // index of the first dim, the fastest
        std::uint32_t rank = 0;
        std::uint32_t type = 0;    // index of gguf_types
        std::uint64_t offset = 0;  // position of the elements in the file
        std::uint64_t bytes = 0;
    };

    GgufHeader() = default;
    /// errors   FormatError if it violates the format, or has a key or a tensor twice; IoError
    /// cost     O(size + n log n); strings, 40 bytes per pair, and 64 bytes and the dims per tensor, in vectors that
    ///          grow: at most 8 times the size of the header, and 64 KiB
    ROWAN_IF_CALLED explicit GgufHeader(BufferedReader& in);

    std::uint32_t version() const noexcept { return version_; }
    std::vector<Record> const& records() const noexcept { return records_; }  ///< ascending by name
    std::vector<Pair> const& pairs() const noexcept { return pairs_; }        ///< ascending by key
    std::string_view view(Text t) const {
        return std::string_view(strings_).substr(static_cast<std::size_t>(t.at), static_cast<std::size_t>(t.size));
    }

    /// The record or pair of that name, or null.
    Record const* find(std::string_view name) const;
    ROWAN_IF_CALLED Pair const* find_pair(std::string_view key) const;

    /// The dims, the slowest first.
    ROWAN_IF_CALLED std::vector<std::int64_t> shape(Record const& r) const;

private:
    ROWAN_IF_CALLED std::uint64_t read_count(BufferedReader& in, char const* field, std::uint64_t least);
    ROWAN_IF_CALLED Text read_text(BufferedReader& in, char const* field);
    ROWAN_IF_CALLED void read_pair(BufferedReader& in);
    ROWAN_IF_CALLED void skip_array(BufferedReader& in);
    ROWAN_IF_CALLED void read_record(BufferedReader& in);
    ROWAN_IF_CALLED std::uint64_t alignment() const;
    ROWAN_IF_CALLED void check_places(std::uint64_t begin, std::uint64_t end, std::uint64_t alignment);

    std::uint32_t version_ = 0;
    std::string strings_;
    std::vector<Pair> pairs_;
    std::vector<std::int64_t> dims_;
    std::vector<Record> records_;
};

/// "u8", "string": the name of a type of values.
ROWAN_IF_CALLED std::string_view kind_text(GgufKind kind);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/gguf_header_inl.hpp>
