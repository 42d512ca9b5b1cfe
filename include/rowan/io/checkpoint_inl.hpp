// rowan/io/checkpoint_inl.hpp: definitions of rowan/io/checkpoint.hpp.
#pragma once

#include <rowan/io/checkpoint.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/crc32c.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION ROWAN_RARE bool Checkpoint::has(std::string const& name) const { return entries_.contains(name); }

ROWAN_CALLED_FUNCTION ROWAN_RARE void Checkpoint::check_new(std::string const& name) const {
    if (has(name)) throw GraphError({"the checkpoint has a variable \"", name, "\" already"});
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void Checkpoint::insert(CheckpointEntry entry) {
    static_cast<void>(encode(entry.desc));  // validates the name
    entry.check();
    std::string key = entry.desc.name;
    entries_.emplace(std::move(key), std::move(entry));
}

ROWAN_CALLED_FUNCTION ROWAN_RARE CheckpointEntry const& Checkpoint::entry(std::string const& name) const {
    auto const at = entries_.find(name);
    if (at == entries_.end()) throw GraphError({"the checkpoint has no variable \"", name, "\""});
    return at->second;
}

}  // namespace rowan::inline v0

namespace rowan::inline v0::detail {

/// The bytes of a checkpoint before its payloads: header, descriptors and padding.
class CheckpointHead {
public:
    template <class I>
    void number(I x) {
        auto const bytes = std::as_bytes(std::span(&x, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    ROWAN_IF_CALLED void text(std::span<std::byte const> bytes);
    ROWAN_IF_CALLED void text(std::string const& x) { text(std::as_bytes(std::span(x.data(), x.size()))); }

    std::vector<std::byte>& bytes() { return bytes_; }

private:
    std::vector<std::byte> bytes_ = std::vector<std::byte>(sizeof(CheckpointHeader));
};

ROWAN_CALLED_FUNCTION ROWAN_RARE void CheckpointHead::text(std::span<std::byte const> bytes) {
    if (!std::in_range<std::uint32_t>(bytes.size()))
        throw FormatError(bytes_.size(), "descriptor", {"has ", bytes.size(), " bytes, 2^32 or more"});
    number(static_cast<std::uint32_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

ROWAN_CALLED_FUNCTION ROWAN_RARE CheckpointPlan plan_checkpoint(Cpu exec, Checkpoint const& checkpoint,
                                                                std::optional<std::uint64_t> base,
                                                                ElementPieces const& pieces) {
    static constexpr std::size_t section_bytes = 8 + 8 + 4;
    CheckpointHead head;
    CheckpointHeader header;
    if (base) header.base = *base;
    header.flags = (base ? CheckpointHeader::delta : 0) | (checkpoint.program ? CheckpointHeader::has_program : 0);
    header.variables = checkpoint.entries().size();
    if (checkpoint.program) {
        std::uint64_t least = 0;  // bytes of the rest of the file
        for (auto const& named : checkpoint.entries()) least += named.second.elements.size();
        head.text(encode(*checkpoint.program, checkpoint_more_memory(least, checkpoint.entries().size())));
    }
    std::vector<std::span<std::byte const>> sections;
    std::vector<std::string const*> given;  // the name of each section that `pieces` gives
    std::vector<std::size_t> places;        // position of each section's entry in `head`
    for (auto const& [name, e] : checkpoint.entries()) {
        std::size_t const first = sections.size(), start = head.bytes().size();
        for (std::size_t l = 0; l < e.lod->levels(); ++l) sections.push_back(std::as_bytes((*e.lod)[l]));
        if (e.desc.type == VarType::SELECTED_ROWS)
            sections.push_back(std::as_bytes(std::span(e.rows->data(), e.rows->size())));
        sections.push_back(e.elements);
        given.resize(sections.size());
        if (pieces) given.back() = &name;
        head.number(std::uint32_t{0});
        head.text(encode(e.desc));
        head.text(e.type_name);
        head.number(static_cast<std::uint32_t>(e.element_size));
        head.number(static_cast<std::uint32_t>(sections.size() - first));
        for (std::size_t i = first; i < sections.size(); ++i) {
            places.push_back(head.bytes().size());
            head.bytes().resize(head.bytes().size() + section_bytes);
        }
        auto const bytes = static_cast<std::uint32_t>(head.bytes().size() - start - sizeof(std::uint32_t));
        std::memcpy(head.bytes().data() + start, &bytes, sizeof bytes);
    }
    auto& bytes = head.bytes();
    header.descriptor_bytes = bytes.size() - sizeof header;
    bytes.resize(static_cast<std::size_t>(checkpoint_aligned(bytes.size())));
    std::uint64_t offset = bytes.size();
    for (std::size_t i = 0; i < sections.size(); ++i) {
        std::uint64_t const size = sections[i].size();
        std::uint32_t sum = 0;
        if (given[i] == nullptr) {
            sum = crc32c(exec, sections[i]);
        } else {
            pieces(*given[i], [&](std::span<std::byte const> piece) { sum = crc32c(piece, sum); });
        }
        std::memcpy(bytes.data() + places[i], &offset, 8);
        std::memcpy(bytes.data() + places[i] + 8, &size, 8);
        std::memcpy(bytes.data() + places[i] + 16, &sum, 4);
        offset = checkpoint_aligned(offset + size);
    }
    header.payload_bytes = offset - bytes.size();
    header.descriptor_sum = crc32c(std::span(bytes).subspan(sizeof header, header.descriptor_bytes));
    header.sum = crc32c(std::as_bytes(std::span(&header, 1)).first(sizeof header - sizeof header.sum));
    std::memcpy(bytes.data(), &header, sizeof header);
    return {header.id(), std::move(bytes), std::move(sections), std::move(given)};
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void CheckpointPlan::write_to(
    ElementPieces const& pieces, std::function<void(std::span<std::byte const>)> const& write) const {
    write(head);
    static constexpr std::byte zeros[checkpoint_alignment]{};
    for (std::size_t i = 0; i < sections.size(); ++i) {
        if (given[i] == nullptr) {
            write(sections[i]);
        } else {
            pieces(*given[i], write);
        }
        write(std::span(zeros).first(checkpoint_aligned(sections[i].size()) - sections[i].size()));
    }
}

}  // namespace rowan::inline v0::detail

#endif
