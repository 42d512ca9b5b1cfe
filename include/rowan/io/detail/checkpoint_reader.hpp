// rowan/io/detail/checkpoint_reader.hpp: what is read of a checkpoint in a file, and everything that is asked of it before.
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

/// "00ff"
template <class I>
std::string hex_text(I x) {
    std::string text(2 * sizeof x, '0');
    for (std::size_t i = text.size(); i-- > 0; x = static_cast<I>(x >> 4)) text[i] = "0123456789abcdef"[x & 15];
    return text;
}

/// A checkpoint in a file, whose header and descriptors are those of one.
struct CheckpointReader {
    using Record = CheckpointRecord;
    using Section = CheckpointSection;

    Cpu exec;
    InputFile file;
    CheckpointHeader header;
    std::vector<std::byte> descriptors;
    std::span<std::byte const> program;
    std::vector<std::uint64_t> places;  // of the records in the descriptors
    bool newer = false;                 // than this program knows

    CheckpointReader(Cpu e, std::string path);

    void read_header();

    static void expect_sum(std::string const& field, std::uint64_t offset, std::uint32_t stored,
                           std::uint32_t computed);

    // From here on up to the next multiple of 64.
    void expect_zeros(std::uint64_t from) const;

    Record record(std::size_t i) const;

    // The number of a variable, or how many there are.
    std::size_t find(std::string_view name) const;

    // Reads a section: in pieces, so that the checksum finds them in the cache.
    void read(Record const& r, Section const& s, std::span<std::byte> to) const;

    // All of an entry but the elements.
    CheckpointEntry parts(Record const& r) const;

    CheckpointEntry load(Record const& r) const;

    CheckpointEntry map(Record const& r) const;

    void verify(Record const& r) const;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/checkpoint_reader_inl.hpp>
