// rowan/io/describe_paddle_inl.hpp: definitions of rowan/io/describe_paddle.hpp.
#pragma once

#include <rowan/io/describe_paddle.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ROWAN_RARE std::uint64_t paddle_element_bytes(std::int32_t data_type) {
    switch (data_type) {
        case 0:
        case 20:
        case 21:
        case 32:
        case 33:
            return 1;
        case 1:
        case 4:
        case 22:
        case 36:
            return 2;
        case 2:
        case 5:
        case 37:
            return 4;
        case 24:
            return 16;
        default:
            return 8;
    }
}

ROWAN_FUNCTION ROWAN_RARE PaddleStream describe_paddle_stream(FileReader& in, bool selected_rows) {
    PaddleStream stream;
    stream.selected_rows = selected_rows;
    stream.offset = in.position();
    if (selected_rows) {
        auto const [height, rows] = read_paddle_rows(in);
        stream.height = height;
        stream.rows.assign(rows.data(), rows.data() + rows.size());
    } else {
        stream.lod = read_paddle_lod(in);
    }
    std::uint64_t const at = in.position();
    stream.tensor = read_paddle_desc(in);
    if (stream.tensor.data_type >= 1000)
        throw FormatError(at, "the descriptor's data_type",
                          {"is ", stream.tensor.data_type, ", which Paddle does not have"});
    auto const& dims = stream.tensor.dims;
    if (selected_rows) check_paddle_rows(at, stream.tensor, stream.rows.size());
    check_paddle_lod(at, stream.tensor, stream.lod);
    auto const size = shape_size(dims, paddle_element_bytes(stream.tensor.data_type));
    if (!size) throw FormatError(at, "the shape", {"is ", shape_text(dims), ", more than 2^63 - 1 bytes"});
    in.skip("the data", *size * paddle_element_bytes(stream.tensor.data_type));
    stream.bytes = in.position() - stream.offset;
    return stream;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE std::vector<PaddleStream> describe_paddle(std::string const& path) {
    detail::InputFile const file(path);
    std::string wrong;
    try {
        std::vector<PaddleStream> streams;
        detail::FileReader in(file);
        do streams.push_back(detail::describe_paddle_stream(in, false));
        while (in.left() != 0);
        return streams;
    } catch (IoError const&) {
        throw;
    } catch (Error const& error) {
        wrong = error.what();
    }
    try {
        detail::FileReader in(file);
        std::vector<PaddleStream> const streams{detail::describe_paddle_stream(in, true)};
        in.expect_end("the stream");
        return streams;
    } catch (IoError const&) {
        throw;
    } catch (Error const& error) {
        throw FormatError(0, "the file",
                          {"holds no LoDTensors (", wrong, ") and no SelectedRows (", error.what(), ")"});
    }
}

}  // namespace rowan::inline v0

#endif
