// rowan/io/detail/checkpoint_reader.hpp: CheckpointReader, which reads and validates checkpoint files.
#pragma once

#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/crc32c.hpp>
#include <rowan/io/detail/file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// x in hexadecimal, with leading zeros: "00ff".
template <class I>
std::string hex_text(I x) {
    std::string text(2 * sizeof x, '0');
    for (std::size_t i = text.size(); i-- > 0; x = static_cast<I>(x >> 4)) text[i] = "0123456789abcdef"[x & 15];
    return text;
}

/// An open checkpoint file, whose header and descriptors have been validated.
struct CheckpointReader {
    using Record = CheckpointRecord;
    using Section = CheckpointSection;

    Cpu exec;
    InputFile file;
    CheckpointHeader header;
    std::vector<std::byte> descriptors;
    std::span<std::byte const> program;
    std::vector<std::uint64_t> places;  // offsets of the records in the descriptors
    bool newer = false;                 // the file has a newer minor version

    ROWAN_IF_CALLED CheckpointReader(Cpu e, std::string path);

    ROWAN_IF_CALLED void read_header();

    ROWAN_IF_CALLED static void expect_sum(std::string const& field, std::uint64_t offset, std::uint32_t stored,
                                           std::uint32_t computed);

    // Checks the padding between `from` and the next multiple of 64.
    ROWAN_IF_CALLED void expect_zeros(std::uint64_t from) const;

    Record record(std::size_t i) const;

    // The index of a variable, or the number of variables if there is none of that name.
    ROWAN_IF_CALLED std::size_t find(std::string_view name) const;

    // Reads the bytes of a section from `begin` on, where `sum` is the checksum of those before, in parts that are still
    // in the cache when their checksums are computed. Verifies the checksum with the last bytes.
    ROWAN_IF_CALLED void read_next(Record const& r, Section const& s, std::uint64_t begin, std::span<std::byte> to,
                                   std::uint32_t& sum) const;

    // Reads a section.
    ROWAN_IF_CALLED void read(Record const& r, Section const& s, std::span<std::byte> to) const;

    // Reads an entry without its elements.
    ROWAN_IF_CALLED CheckpointEntry parts(Record const& r) const;

    CheckpointEntry load(Record const& r) const;

    ROWAN_IF_CALLED CheckpointEntry map(Record const& r) const;

    ROWAN_IF_CALLED void verify(Record const& r) const;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/checkpoint_reader_inl.hpp>
