// rowan/io/detail/checkpoint_format_inl.hpp: definitions of rowan/io/detail/checkpoint_format.hpp.
#pragma once

#include <rowan/io/detail/checkpoint_format.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ROWAN_RARE TensorDesc const& tensor_of(VarDesc const& desc, std::uint64_t offset) {
    if (desc.type == VarType::LOD_TENSOR && desc.lod_desc) return desc.lod_desc->tensor;
    if (desc.type == VarType::SELECTED_ROWS && desc.selected_rows_desc) return *desc.selected_rows_desc;
    throw FormatError(offset, desc.name, "is neither a LOD_TENSOR nor a SELECTED_ROWS with a description");
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Tensor<std::int64_t>::shape_type CheckpointRecord::shape() const {
    Tensor<std::int64_t>::shape_type shape;
    for (std::int64_t const dim : tensor().dims) shape.push_back(static_cast<std::size_t>(dim));
    if (has_rows()) shape[0] = static_cast<std::size_t>(rows().bytes / sizeof(std::int64_t));
    return shape;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void CheckpointRecord::check(std::uint64_t offset) const {
    auto const refuse = [&](std::string const& reason) { throw FormatError(offset, desc.name, reason); };
    auto const& dims = tensor_of(desc, offset).dims;
    if (type_name.empty() || type_name.size() > checkpoint_max_type_name ||
        invalid_utf8(type_name) != type_name.size()) {
        refuse("has an element type whose name is empty, longer than 255 bytes or not UTF-8");
    }
    if (element_size == 0 || !std::in_range<std::uint32_t>(element_size))
        refuse("has elements of " + std::to_string(element_size) + " bytes");
    if (dims.size() > Tensor<std::int64_t>::max_rank)
        refuse("has " + std::to_string(dims.size()) + " dims, expected at most 8");
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
            refuse("has a section of " + std::to_string(bytes) + " bytes, which is not a multiple of 8");
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

ROWAN_CALLED_FUNCTION ROWAN_RARE CheckpointRecord read_record(ByteReader& reader, bool newer) {
    std::uint64_t const offset = reader.position();
    auto const n = reader.number<std::uint32_t>("record");
    ByteReader part(reader.bytes("record", n), reader.position());
    CheckpointRecord record;
    auto const desc_bytes = part.number<std::uint32_t>("VarDesc");
    if (desc_bytes > checkpoint_max_desc) {
        throw FormatError(part.position(), "VarDesc",
                          {"has ", desc_bytes, " bytes, expected at most ", checkpoint_max_desc});
    }
    std::uint64_t const desc_offset = part.position();
    record.desc = decode<VarDesc>(part.bytes("VarDesc", desc_bytes), desc_offset);
    auto const type = part.bytes("element type", part.number<std::uint32_t>("element type"));
    if (type.size() <= checkpoint_max_type_name)  // check() throws for a longer name, which stays empty
        record.type_name.assign(reinterpret_cast<char const*>(type.data()), type.size());
    record.element_size = part.number<std::uint32_t>("element size");
    auto const sections = part.number<std::uint32_t>("sections");
    if (sections > 32) throw FormatError(part.position(), "sections", {"are ", sections, ", expected at most 32"});
    for (std::uint32_t i = 0; i < sections; ++i) {
        auto const at = part.number<std::uint64_t>("section");
        auto const bytes = part.number<std::uint64_t>("section");
        record.sections.push_back({at, bytes, part.number<std::uint32_t>("section")});
    }
    if (!newer) part.expect_end("record");  // a newer writer may have added fields
    record.check(offset);
    return record;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string kind_text(VarDesc const& desc, std::string const& type_name) {
    std::string const kind = desc.type == VarType::SELECTED_ROWS ? "SelectedRows"
                             : levels_of(desc) != 0              ? "LoDTensor"
                                                                 : "Tensor";
    return kind + "<" + type_name + ">" + shape_text(tensor_of(desc).dims);
}

}  // namespace rowan::inline v0::detail

#endif
