// rowan/io/detail/paddle_stream_inl.hpp: definitions of rowan/io/detail/paddle_stream.hpp.
#pragma once

#include <rowan/io/detail/paddle_stream.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/file_reader.hpp>

#include <array>
#include <cstring>

namespace rowan::inline v0::detail {

template <class Reader>
void read_paddle_version(Reader& in, char const* field) {
    std::uint64_t const at = in.position();
    auto const version = in.template number<std::uint32_t>(field);
    if (version != 0) throw FormatError(at, field, {"is ", version, ", supported is 0"});
}

/// Reads `count` numbers.
/// errors   FormatError if fewer bytes are left, before anything is allocated
template <class Reader>
Tensor<std::int64_t> read_paddle_numbers(Reader& in, char const* field, std::uint64_t count) {
    if (count > in.left() / 8) {
        throw FormatError(in.position(), field,
                          {"are ", count, " numbers of 8 bytes, but ", in.left(), " bytes are left"});
    }
    auto numbers = Tensor<std::int64_t>::from_shape({static_cast<std::size_t>(count)});
    read_elements(in, field, std::span(numbers.data(), numbers.size()));
    return numbers;
}

template <class Reader>
Lod read_paddle_lod(Reader& in) {
    read_paddle_version(in, "the LoD's version");
    std::uint64_t const at = in.position();
    auto const levels = in.template number<std::uint64_t>("the number of LoD levels");
    if (levels > Lod::max_levels)
        throw FormatError(at, "the number of LoD levels", {"is ", levels, ", more than ", Lod::max_levels});
    std::vector<Tensor<std::int64_t>> offsets;
    while (offsets.size() < levels) {
        std::string const field = "the size of LoD level " + std::to_string(offsets.size());
        std::uint64_t const here = in.position();
        auto const bytes = in.template number<std::uint64_t>(field.c_str());
        if (bytes == 0 || bytes % 8 != 0)
            throw FormatError(here, field, {"is ", bytes, ", which is not a positive multiple of 8"});
        offsets.push_back(read_paddle_numbers(in, "the LoD's offsets", bytes / 8));
    }
    return Lod(offsets);
}

template <class Reader>
TensorDesc read_paddle_desc(Reader& in) {
    constexpr std::int32_t most = 1024;  // 8 dims need 90 bytes
    read_paddle_version(in, "the tensor's version");
    std::uint64_t const at = in.position();
    auto const size = in.template number<std::int32_t>("the descriptor's size");
    if (size < 0 || size > most)
        throw FormatError(at, "the descriptor's size", {"is ", size, ", which is not in [0, ", most, "]"});
    std::array<std::byte, most> room;
    auto const bytes = std::span(room).first(static_cast<std::size_t>(size));
    in.read("the descriptor", bytes);
    auto desc = decode<TensorDesc>(bytes, at + 4);
    for (std::size_t i = 0; i < desc.dims.size(); ++i) {
        if (desc.dims[i] < 0)
            throw FormatError(at + 4, {"dims[", i, "]"}, {"is ", desc.dims[i], ", which is negative"});
    }
    return desc;
}

template <class Reader>
PaddleRows read_paddle_rows(Reader& in) {
    read_paddle_version(in, "the version of SelectedRows");
    auto const count = in.template number<std::uint64_t>("the number of rows");
    auto rows = read_paddle_numbers(in, "the rows", count);
    std::uint64_t const at = in.position();
    auto const height = in.template number<std::int64_t>("the height");
    if (height < 0) throw FormatError(at, "the height", {"is ", height, ", which is negative"});
    check_ids(Cpu{}, "rows", rows, height);
    return {height, std::move(rows)};
}

ROWAN_TEMPLATE(Lod read_paddle_lod(ByteReader&))
ROWAN_TEMPLATE(Lod read_paddle_lod(FileReader&))
ROWAN_TEMPLATE(TensorDesc read_paddle_desc(ByteReader&))
ROWAN_TEMPLATE(TensorDesc read_paddle_desc(FileReader&))
ROWAN_TEMPLATE(PaddleRows read_paddle_rows(ByteReader&))
ROWAN_TEMPLATE(PaddleRows read_paddle_rows(FileReader&))

ROWAN_FUNCTION void check_paddle_lod(std::uint64_t position, TensorDesc const& desc, Lod const& lod) {
    if (lod.empty()) return;
    if (desc.dims.empty()) throw FormatError(position, "the value", "has no dims, but there are LoD levels");
    lod.check_rows(static_cast<std::size_t>(desc.dims[0]));
}

ROWAN_CALLED_FUNCTION void check_paddle_rows(std::uint64_t position, TensorDesc const& desc, std::size_t rows) {
    if (!desc.dims.empty() && desc.dims[0] == static_cast<std::int64_t>(rows)) return;
    throw FormatError(position, "the value",
                      {"has ", desc.dims.empty() ? std::string("no dims") : std::to_string(desc.dims[0]) + " rows",
                       ", but ", rows, " rows are named; Paddle 1.x left more values than rows in tables that grew"});
}

ROWAN_FUNCTION void PaddleParts::bytes(std::span<std::byte const> more) {
    std::size_t const at = head.size();
    head.resize(at + more.size());
    if (!more.empty()) std::memcpy(head.data() + at, more.data(), more.size());
}

}  // namespace rowan::inline v0::detail

#endif
