// rowan/io/detail/checkpoint_format.hpp: the file format of checkpoints, for the writer and the reader.
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
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

// Little-endian, three consecutive parts:
//
//   header        64 bytes, CheckpointHeader
//   descriptors   the program (u32 length, ProgramDesc) if its flag is set, then a record per variable, sorted by name:
//                     u32      size of the rest of the record
//                     u32, …   length, VarDesc
//                     u32, …   length, dtype<T>::name
//                     u32      sizeof(T)
//                     u32      number of sections, and for each: u64 offset in the file, u64 size, u32 CRC-32C
//   payloads      the sections in the order of the records: offsets of each LoD level, row ids (both i64), elements
//
// The payloads and each of their sections begin at multiples of 64 and are padded with zeros. Nothing else is stored.

inline constexpr std::uint64_t checkpoint_alignment = 64;
inline constexpr std::size_t checkpoint_max_desc = 16 << 10, checkpoint_max_type_name = 255;

struct CheckpointHeader {
    static constexpr std::array<unsigned char, 8> rowan{0x89, 'R', 'O', 'W', 'A', 'N', '\r', '\n'};  // not text
    static constexpr std::uint32_t delta = 1, has_program = 2;

    std::array<unsigned char, 8> magic = rowan;
    std::uint16_t major = 1, minor = 0;
    std::uint32_t header_bytes = 64;
    std::uint64_t descriptor_bytes = 0, payload_bytes = 0;
    std::uint64_t variables = 0;
    std::uint64_t base = 0;  // for a delta: the id of the checkpoint or delta before it
    std::uint32_t flags = 0;
    std::uint32_t reserved = 0;
    std::uint32_t descriptor_sum = 0;  // CRC-32C of the descriptors
    std::uint32_t sum = 0;             // CRC-32C of the header before this field

    /// Different checkpoints have equal ids with a probability of about 2^-32.
    std::uint64_t id() const noexcept { return std::uint64_t{sum} << 32 | descriptor_sum; }
};
static_assert(sizeof(CheckpointHeader) == 64);

/// The next multiple of 64.
constexpr std::uint64_t checkpoint_aligned(std::uint64_t offset) { return (offset + 63) / 64 * 64; }

/// The memory that decode of a program may use in addition because of the other bytes and the variables of its file, so
/// that all together use at most 8 times the size of the file and 1 MiB. A variable uses up to 512 bytes besides its
/// descriptor and elements.
constexpr std::int64_t checkpoint_more_memory(std::uint64_t other_bytes, std::uint64_t variables) {
    return static_cast<std::int64_t>(7 * other_bytes) - static_cast<std::int64_t>(512 * variables);
}

struct CheckpointSection {
    std::uint64_t offset, bytes;
    std::uint32_t sum;
};

/// Element type and dims of a tensor or SelectedRows; the first dim of a SelectedRows is its height.
/// errors   FormatError if the variable is of another kind or has no description
TensorDesc const& tensor_of(VarDesc const& desc, std::uint64_t offset = 0);

inline std::size_t levels_of(VarDesc const& desc) {
    return desc.lod_desc ? static_cast<std::size_t>(desc.lod_desc->lod_level) : 0;
}

/// The record of a variable in a file.
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

    /// The shape of the stored elements.
    ROWAN_IF_CALLED Tensor<std::int64_t>::shape_type shape() const;

    /// Checks that the parts are consistent.
    /// errors   FormatError if they are not
    ROWAN_IF_CALLED void check(std::uint64_t offset) const;
};

/// Reads a record, including its leading size. `newer`: the file has a newer minor version, and records may be longer.
/// errors   FormatError if it is invalid or its parts are inconsistent; the offsets of the sections are not checked
ROWAN_IF_CALLED CheckpointRecord read_record(ByteReader& reader, bool newer);

/// "LoDTensor<f32>[5, 2]", "SelectedRows<f32>[85, 2]"
ROWAN_IF_CALLED std::string kind_text(VarDesc const& desc, std::string const& type_name);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/checkpoint_format_inl.hpp>
