// rowan/io/describe_paddle.hpp: describe_paddle, the contents of a file of Paddle's streams.
#pragma once

#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/file_reader.hpp>
#include <rowan/io/detail/paddle_stream.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace rowan::inline v0 {

/// A stream without its elements.
struct PaddleStream {
    bool selected_rows = false;        ///< false: a LoDTensor
    TensorDesc tensor{};               ///< element type and dims; for a SelectedRows those of its value
    Lod lod{};                         ///< for a LoDTensor
    std::int64_t height = 0;           ///< for a SelectedRows
    std::vector<std::int64_t> rows{};  ///< row ids, for a SelectedRows
    std::uint64_t offset = 0;          ///< position of its first byte in the file
    std::uint64_t bytes = 0;           ///< its size in the file
};

namespace detail {

/// Size of an element, also of types that rowan does not have.
std::uint64_t paddle_element_bytes(std::int32_t data_type);

PaddleStream describe_paddle_stream(FileReader& in, bool selected_rows);

}  // namespace detail

/// Describes the streams of a file: consecutive LoDTensors, or one SelectedRows. Elements are not read.
/// errors   IoError if the file cannot be read; FormatError if it is neither, with the error of both attempts
/// cost     one read of everything but the elements
std::vector<PaddleStream> describe_paddle(std::string const& path);

/// Loads the value of one stream of a file.
/// errors   those of load_paddle; FormatError if the file has changed and no longer holds the stream
/// cost     one read of the stream
template <class V>
V load_paddle(std::string const& path, PaddleStream const& stream) {
    detail::InputFile const file(path);
    if (stream.offset > file.size() || stream.bytes > file.size() - stream.offset)
        throw FormatError(stream.offset, "the stream", "no longer exists");
    detail::FileReader in(file, stream.offset, stream.offset + stream.bytes);
    V value;
    detail::read_paddle(in, value);
    in.expect_end("the stream");
    return value;
}

}  // namespace rowan::inline v0

#include <rowan/io/describe_paddle_inl.hpp>
