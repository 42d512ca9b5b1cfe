// rowan/detail/checkpoint_format.hpp: how the bytes of a checkpoint lie, for the one who writes it and the one who reads it.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/byte_reader.hpp>
#include <rowan/detail/checked.hpp>
#include <rowan/detail/utf8.hpp>
#include <rowan/io/var_desc.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
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
inline TensorDesc const& tensor_of(VarDesc const& desc, std::uint64_t offset = 0) {
    if (desc.type == VarType::LOD_TENSOR && desc.lod_desc) return desc.lod_desc->tensor;
    if (desc.type == VarType::SELECTED_ROWS && desc.selected_rows_desc) return *desc.selected_rows_desc;
    throw FormatError(offset, desc.name, "is neither a LOD_TENSOR nor a SELECTED_ROWS that is described");
}

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
    Tensor<std::int64_t>::shape_type shape() const {
        Tensor<std::int64_t>::shape_type shape;
        for (std::int64_t const dim : tensor().dims) shape.push_back(static_cast<std::size_t>(dim));
        if (has_rows()) shape[0] = static_cast<std::size_t>(rows().bytes / sizeof(std::int64_t));
        return shape;
    }

    /// Does all fit together?
    /// errors   FormatError
    void check(std::uint64_t offset) const {
        auto const refuse = [&](std::string const& reason) { throw FormatError(offset, desc.name, reason); };
        auto const& dims = tensor_of(desc, offset).dims;
        if (type_name.empty() || type_name.size() > checkpoint_max_type_name ||
            invalid_utf8(type_name) != type_name.size()) {
            refuse("has an element type whose name is empty, longer than 255 bytes or no UTF-8");
        }
        if (element_size == 0 || !std::in_range<std::uint32_t>(element_size))
            refuse("has elements of " + std::to_string(element_size) + " bytes");
        if (dims.size() > Tensor<std::int64_t>::max_rank)
            refuse("has " + std::to_string(dims.size()) + " dims, at most 8 can be");
        for (std::size_t i = 0; i < dims.size(); ++i) {
            if (dims[i] < 0)
                refuse("has dims[" + std::to_string(i) + "] = " + std::to_string(dims[i]) + ", expected a count");
        }
        if (dims.empty() && (levels() != 0 || has_rows())) refuse("has no dims, and so no rows");
        std::size_t const wanted = levels() + (has_rows() ? 1 : 0) + 1;
        if (sections.size() != wanted) {
            refuse("has " + std::to_string(sections.size()) + " sections, expected " + std::to_string(wanted));
        }
        for (std::size_t i = 0; i + 1 < wanted; ++i) {
            std::uint64_t const bytes = sections[i].bytes;
            if (bytes % sizeof(std::int64_t) != 0 || (bytes == 0 && i < levels())) {
                refuse("has a section of " + std::to_string(bytes) + " bytes, which are no list of int64");
            }
        }
        std::uint64_t bytes = 0;
        try {
            bytes = checked_size("elements", shape(), element_size) * element_size;
        } catch (ShapeError const& e) {
            refuse(std::string("is too large: ").append(e.what()));
        }
        if (elements().bytes != bytes) {
            refuse("has " + std::to_string(elements().bytes) + " bytes of elements, expected " + std::to_string(bytes));
        }
    }
};

/// Takes a record, its first number included.
/// errors   FormatError if it is none, or its parts do not fit together; the places of the sections are not looked at
inline CheckpointRecord read_record(ByteReader& reader, bool newer) {
    std::uint64_t const offset = reader.position();
    auto const n = reader.number<std::uint32_t>("record");
    ByteReader part(reader.bytes("record", n), reader.position());
    CheckpointRecord record;
    auto const desc_bytes = part.number<std::uint32_t>("VarDesc");
    if (desc_bytes > checkpoint_max_desc) {
        throw FormatError(
            part.position(), "VarDesc",
            "has " + std::to_string(desc_bytes) + " bytes, at most " + std::to_string(checkpoint_max_desc) + " can be");
    }
    std::uint64_t const desc_offset = part.position();
    record.desc = decode<VarDesc>(part.bytes("VarDesc", desc_bytes), desc_offset);
    auto const type = part.bytes("element type", part.number<std::uint32_t>("element type"));
    if (type.size() <= checkpoint_max_type_name)  // check() says what is wrong with a longer one
        record.type_name.assign(reinterpret_cast<char const*>(type.data()), type.size());
    record.element_size = part.number<std::uint32_t>("element size");
    auto const sections = part.number<std::uint32_t>("sections");
    if (sections > 32)
        throw FormatError(part.position(), "sections", "are " + std::to_string(sections) + ", at most 32 can be");
    for (std::uint32_t i = 0; i < sections; ++i) {
        auto const at = part.number<std::uint64_t>("section");
        auto const bytes = part.number<std::uint64_t>("section");
        record.sections.push_back({at, bytes, part.number<std::uint32_t>("section")});
    }
    if (!newer) part.expect_end("record");  // a newer writer may have more to say
    record.check(offset);
    return record;
}

/// "LoDTensor<f32>[5, 2]", "SelectedRows<f32>[85, 2]"
inline std::string kind_text(VarDesc const& desc, std::string const& type_name) {
    std::string const kind = desc.type == VarType::SELECTED_ROWS ? "SelectedRows"
                             : levels_of(desc) != 0              ? "LoDTensor"
                                                                 : "Tensor";
    return kind + "<" + type_name + ">" + shape_text(tensor_of(desc).dims);
}

}  // namespace rowan::inline v0::detail
