// rowan/io/describe_paddle.hpp: describe_paddle, what a file of Paddle's streams holds.
#pragma once

#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/file_reader.hpp>
#include <rowan/io/detail/paddle_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// All of a stream but its elements.
struct PaddleStream {
    bool selected_rows = false;        ///< or a LoDTensor
    TensorDesc tensor{};               ///< of a SelectedRows its value
    Lod lod{};                         ///< of a LoDTensor
    std::int64_t height = 0;           ///< of a SelectedRows
    std::vector<std::int64_t> rows{};  ///< of a SelectedRows
    std::uint64_t offset = 0;          ///< where it begins in the file
    std::uint64_t bytes = 0;           ///< how many it takes in the file
};

namespace detail {

/// Bytes of an element, also of those types that rowan has not.
std::uint64_t paddle_element_bytes(std::int32_t data_type);

PaddleStream describe_paddle_stream(FileReader& in, bool selected_rows);

}  // namespace detail

/// The streams of a file: LoDTensors one after the other, or one SelectedRows. Elements are not looked at.
/// errors   IoError if the file cannot be read; FormatError if it is neither, with what is wrong if it were the one or the other
/// cost     one read of what stands before the elements
std::vector<PaddleStream> describe_paddle(std::string const& path);

/// The value of one stream of a file.
/// errors   those of load_paddle; FormatError if the file has become another
/// cost     one read of the stream
template <class V>
V load_paddle(std::string const& path, PaddleStream const& stream) {
    detail::InputFile const file(path);
    if (stream.offset > file.size() || stream.bytes > file.size() - stream.offset)
        throw FormatError(stream.offset, "the stream", "is not there any more");
    detail::FileReader in(file, stream.offset, stream.offset + stream.bytes);
    V value;
    detail::read_paddle(in, value);
    in.expect_end("the stream");
    return value;
}

}  // namespace rowan::inline v0

#include <rowan/io/describe_paddle_inl.hpp>
