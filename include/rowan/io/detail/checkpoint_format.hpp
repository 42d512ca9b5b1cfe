// rowan/io/detail/checkpoint_format.hpp: how the bytes of a checkpoint lie, for the one who writes it and the one who reads it.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/utf8.hpp>
#include <rowan/io/var_desc.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

// Little-endian, one part after the other:
//
//   header        64 bytes, CheckpointHeader
//   descriptors   the program (u32 length, ProgramDesc) if flags say so, then a record for each variable, by ascending names:
//                     u32      bytes of the record after this number
//                     u32, …   length, VarDesc
//                     u32, …   length, dtype<T>::name
//                     u32      sizeof(T)
//                     u32      number of sections, and of each: u64 offset in the file, u64 bytes, u32 CRC-32C
//   payloads      the sections in the order of the records: offsets of each LoD level, row ids (both i64), elements
//
// The payloads and each section in them begin at multiples of 64. What fills up to there is zero. Nothing else is in the file.

inline constexpr std::uint64_t checkpoint_alignment = 64;
inline constexpr std::size_t checkpoint_max_desc = 16 << 10, checkpoint_max_type_name = 255;

struct CheckpointHeader {
    static constexpr std::array<unsigned char, 8> rowan{0x89, 'R', 'O', 'W', 'A', 'N', '\r', '\n'};  // a text it is not
    static constexpr std::uint32_t delta = 1, has_program = 2;

    std::array<unsigned char, 8> magic = rowan;
    std::uint16_t major = 1, minor = 0;
    std::uint32_t header_bytes = 64;
    std::uint64_t descriptor_bytes = 0, payload_bytes = 0;
    std::uint64_t variables = 0;
    std::uint64_t base = 0;  // of a delta: the id of the checkpoint before it
    std::uint32_t flags = 0;
    std::uint32_t reserved = 0;
    std::uint32_t descriptor_sum = 0;  // CRC-32C of the descriptors
    std::uint32_t sum = 0;             // of all of the header before this

    /// Two checkpoints with one id are equal, but for one in 2^32.
    std::uint64_t id() const noexcept { return std::uint64_t{sum} << 32 | descriptor_sum; }
};
static_assert(sizeof(CheckpointHeader) == 64);

/// The next multiple of 64.
constexpr std::uint64_t checkpoint_aligned(std::uint64_t offset) { return (offset + 63) / 64 * 64; }

struct CheckpointSection {
    std::uint64_t offset, bytes;
    std::uint32_t sum;
};

/// Element type and dims of a variable that has values: those of a SelectedRows begin with the height.
/// errors   FormatError if it is of another kind
TensorDesc const& tensor_of(VarDesc const& desc, std::uint64_t offset = 0);

inline std::size_t levels_of(VarDesc const& desc) {
    return desc.lod_desc ? static_cast<std::size_t>(desc.lod_desc->lod_level) : 0;
}

/// What a file says of a variable.
struct CheckpointRecord {
    VarDesc desc;
    std::string type_name;
    std::uint64_t element_size = 0;
    std::vector<CheckpointSection> sections;

    TensorDesc const& tensor() const { return tensor_of(desc); }
    std::size_t levels() const { return levels_of(desc); }
    bool has_rows() const { return desc.type == VarType::SELECTED_ROWS; }
    CheckpointSection const& rows() const { return sections[levels()]; }
    CheckpointSection const& elements() const { return sections.back(); }

    /// The dims of the elements that are there.
    Tensor<std::int64_t>::shape_type shape() const;

    /// Does all fit together?
    /// errors   FormatError
    void check(std::uint64_t offset) const;
};

/// Takes a record, its first number included.
/// errors   FormatError if it is none, or its parts do not fit together; the places of the sections are not looked at
CheckpointRecord read_record(ByteReader& reader, bool newer);

/// "LoDTensor<f32>[5, 2]", "SelectedRows<f32>[85, 2]"
std::string kind_text(VarDesc const& desc, std::string const& type_name);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/checkpoint_format_inl.hpp>
