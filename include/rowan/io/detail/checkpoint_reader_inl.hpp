// rowan/io/detail/checkpoint_reader_inl.hpp: definitions of rowan/io/detail/checkpoint_reader.hpp.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/io/detail/checkpoint_reader.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION CheckpointReader::CheckpointReader(Cpu e, std::string path) : exec(e), file(std::move(path)) {
    check_exec(exec);
    read_header();
    descriptors.resize(static_cast<std::size_t>(header.descriptor_bytes));
    file.read(sizeof header, descriptors);
    expect_sum("descriptors", sizeof header, header.descriptor_sum, crc32c(descriptors));
    std::uint64_t next = sizeof header + header.descriptor_bytes;
    expect_zeros(next);

    ByteReader reader(descriptors, sizeof header);
    if ((header.flags & CheckpointHeader::has_program) != 0)
        program = reader.bytes("program", reader.number<std::uint32_t>("program"));
    if (header.variables > reader.left() / sizeof(std::uint32_t)) {
        throw FormatError(32, "variables",
                          {"are ", header.variables, ", more than ", reader.left(), " bytes can describe"});
    }
    places.reserve(static_cast<std::size_t>(header.variables));
    std::string before;
    next = checkpoint_aligned(next);
    for (std::uint64_t i = 0; i < header.variables; ++i) {
        std::uint64_t const place = reader.position();
        Record const r = read_record(reader, newer);
        if (i != 0 && r.desc.name <= before)
            throw FormatError(place, r.desc.name, {"comes after ", before, ": names ascend"});
        before = r.desc.name;
        for (Section const& s : r.sections) {
            if (s.offset != next || s.bytes > file.size() - next) {
                throw FormatError(place, r.desc.name,
                                  {"has a section of ", s.bytes, " bytes at ", s.offset, ", expected it at ", next,
                                   " and to end before ", file.size()});
            }
            next = checkpoint_aligned(next + s.bytes);
        }
        places.push_back(place - sizeof header);
    }
    reader.expect_end("descriptors");
    if (next != file.size()) {
        throw FormatError(next, "file", {"has ", file.size(), " bytes, expected ", next});
    }
}

ROWAN_CALLED_FUNCTION void CheckpointReader::read_header() {
    std::uint64_t const size = file.size();
    header.magic = {};
    auto const bytes = std::as_writable_bytes(std::span(&header, 1));
    file.read(0, bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(size, bytes.size()))));
    if (header.magic != CheckpointHeader::rowan) throw FormatError(0, file.path(), "is not a file of rowan");
    if (size % checkpoint_alignment != 0 || !std::in_range<std::ptrdiff_t>(size)) {
        throw FormatError(0, "file", {"has ", size, " bytes, expected a multiple of 64 that fits into memory"});
    }
    CheckpointHeader const known;
    if (header.major != known.major) {
        throw FormatError(8, "major version", {"is ", header.major, ", supported is ", known.major});
    }
    newer = header.minor > known.minor;
    expect_sum("header", 0, header.sum, crc32c(std::as_bytes(std::span(&header, 1)).first(60)));
    auto const expect = [](std::uint64_t offset, char const* field, std::uint64_t x, std::uint64_t want) {
        if (x != want) throw FormatError(offset, field, {"is ", x, ", expected ", want});
    };
    expect(12, "header bytes", header.header_bytes, sizeof header);
    if (header.descriptor_bytes > size - sizeof header) {
        throw FormatError(16, "descriptor bytes",
                          {"are ", header.descriptor_bytes, ", but ", size - sizeof header, " follow"});
    }
    std::uint64_t const payload = checkpoint_aligned(sizeof header + header.descriptor_bytes);
    expect(24, "payload bytes", header.payload_bytes, size - payload);
    if (header.flags > 3) throw FormatError(48, "flags", {"are ", header.flags, ", supported are 1 and 2"});
    if ((header.flags & CheckpointHeader::delta) == 0) expect(40, "base", header.base, 0);
    if (!newer) expect(52, "reserved", header.reserved, 0);
}

ROWAN_CALLED_FUNCTION void CheckpointReader::expect_sum(std::string const& field, std::uint64_t offset,
                                                        std::uint32_t stored, std::uint32_t computed) {
    if (stored == computed) return;
    throw FormatError(offset, field,
                      {"has the checksum ", hex_text(computed), ", but ", hex_text(stored), " is stored"});
}

ROWAN_CALLED_FUNCTION void CheckpointReader::expect_zeros(std::uint64_t from) const {
    std::array<std::byte, checkpoint_alignment> bytes;
    auto const padding = std::span(bytes).first(static_cast<std::size_t>(checkpoint_aligned(from) - from));
    file.read(from, padding);
    auto const bad = std::ranges::find_if(padding, [](std::byte b) { return b != std::byte{0}; });
    if (bad == padding.end()) return;
    throw FormatError(from + static_cast<std::uint64_t>(bad - padding.begin()), "padding",
                      {"is ", std::to_integer<int>(*bad), ", expected 0"});
}

ROWAN_FUNCTION CheckpointReader::Record CheckpointReader::record(std::size_t i) const {
    auto const place = static_cast<std::size_t>(places[i]);
    ByteReader reader({descriptors.data() + place, descriptors.size() - place}, sizeof header + place);
    return read_record(reader, newer);
}

ROWAN_CALLED_FUNCTION std::size_t CheckpointReader::find(std::string_view name) const {
    std::size_t begin = 0, end = places.size();
    while (begin != end) {
        std::size_t const middle = begin + (end - begin) / 2;
        int const order = record(middle).desc.name.compare(name);
        if (order == 0) return middle;
        (order < 0 ? begin : end) = order < 0 ? middle + 1 : middle;
    }
    return places.size();
}

ROWAN_CALLED_FUNCTION void CheckpointReader::read_next(Record const& r, Section const& s, std::uint64_t begin,
                                                       std::span<std::byte> to, std::uint32_t& sum) const {
    std::uint32_t const more = crc32c_of_parts(exec, to.size(), [&](std::size_t first, std::size_t last) {
        file.read(s.offset + begin + first, to.subspan(first, last - first));
        return crc32c(to.subspan(first, last - first));
    });
    sum = crc32c_product(sum, crc32c_zeros(to.size())) ^ more;
    if (begin + to.size() != s.bytes) return;
    expect_sum(r.desc.name, s.offset, s.sum, sum);
    expect_zeros(s.offset + s.bytes);
}

ROWAN_CALLED_FUNCTION void CheckpointReader::read(Record const& r, Section const& s, std::span<std::byte> to) const {
    std::uint32_t sum = 0;
    read_next(r, s, 0, to, sum);
}

ROWAN_CALLED_FUNCTION CheckpointEntry CheckpointReader::parts(Record const& r) const {
    CheckpointEntry e;
    e.desc = r.desc;
    e.type_name = r.type_name;
    e.element_size = static_cast<std::size_t>(r.element_size);
    std::uint64_t offset = r.sections[0].offset;
    try {
        if (std::size_t const levels = r.levels(); levels != 0) {
            std::size_t n = 0;
            for (std::size_t l = 0; l < levels; ++l)
                n += static_cast<std::size_t>(r.sections[l].bytes) / sizeof(std::int64_t);
            Storage<std::int64_t> block(n);
            std::vector<std::span<std::int64_t const>> offsets;
            std::int64_t* next = block.data();
            for (std::size_t l = 0; l < levels; ++l) {
                std::span<std::int64_t> const list(
                    next, static_cast<std::size_t>(r.sections[l].bytes) / sizeof(std::int64_t));
                read(r, r.sections[l], std::as_writable_bytes(list));
                offsets.push_back(list);
                next += list.size();
            }
            Lod lod = LodAccess::checked(std::make_shared<Storage<std::int64_t>>(std::move(block)), offsets);
            lod.check_rows(r.shape()[0]);
            e.lod = std::move(lod);
        }
        if (r.has_rows()) {
            offset = r.rows().offset;
            auto rows =
                Tensor<std::int64_t>::from_shape({static_cast<std::size_t>(r.rows().bytes) / sizeof(std::int64_t)});
            read(r, r.rows(), std::as_writable_bytes(std::span(rows.data(), rows.size())));
            check_ids(exec, "rows", rows, r.tensor().dims[0]);
            if (rows.size() != 0) e.rows = std::move(rows);
        }
    } catch (LodError const& error) {
        throw FormatError(offset, r.desc.name, {"is wrong: ", error.what()});
    } catch (IndexError const& error) {
        throw FormatError(offset, r.desc.name, {"is wrong: ", error.what()});
    }
    return e;
}

ROWAN_FUNCTION CheckpointEntry CheckpointReader::load(Record const& r) const {
    auto e = parts(r);
    auto const n = static_cast<std::size_t>(r.elements().bytes);
    auto block = n == 0 ? nullptr : std::make_shared<Storage<std::byte>>(n);
    std::span<std::byte> const elements(n == 0 ? nullptr : block->data(), n);
    read(r, r.elements(), elements);
    CheckpointEntry::check_elements(r, elements, r.elements().offset);
    e.elements = elements;
    e.memory = std::move(block);
    return e;
}

ROWAN_CALLED_FUNCTION CheckpointEntry CheckpointReader::map(Record const& r) const {
    auto e = parts(r);
    auto const n = static_cast<std::size_t>(r.elements().bytes);
    auto memory = file.map(r.elements().offset, n);
    e.elements = {memory.get(), n};
    CheckpointEntry::check_elements(r, e.elements, r.elements().offset);
    e.memory = std::move(memory);
    return e;
}

ROWAN_CALLED_FUNCTION void CheckpointReader::verify(Record const& r) const {
    Section const& s = r.elements();
    std::uint32_t const sum = crc32c_of_parts(exec, s.bytes, [&](std::uint64_t begin, std::uint64_t end) {
        std::array<std::byte, 32 << 10> buffer;
        std::uint32_t part = 0;
        while (begin != end) {
            auto const piece =
                std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, buffer.size())));
            file.read(s.offset + begin, piece);
            CheckpointEntry::check_elements(r, piece, s.offset + begin);
            part = crc32c(piece, part);
            begin += piece.size();
        }
        return part;
    });
    expect_sum(r.desc.name, s.offset, s.sum, sum);
    expect_zeros(s.offset + s.bytes);
}

}  // namespace rowan::inline v0::detail

#endif
