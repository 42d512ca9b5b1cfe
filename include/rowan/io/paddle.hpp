// rowan/io/paddle.hpp: load_paddle and save_paddle, tensors in Paddle's streams.
#pragma once

#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/file_reader.hpp>
#include <rowan/io/detail/paddle_stream.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A stream that is to be written: of a Tensor, a LoDTensor or a SelectedRows of any element type that Paddle has.
/// requires   as a parameter only: it refers to the elements
/// errors     LodError or ShapeError if somebody changed the number of the value's rows
class PaddleValue {
public:
    /// A tensor without levels.
    template <class T>
    PaddleValue(Tensor<T> const& x) : parts_(detail::paddle_parts(x)) {}
    /// A tensor with levels.
    template <class T>
    PaddleValue(LoDTensor<T> const& x) : parts_(detail::paddle_parts(x)) {}
    /// A row-sparse gradient.
    template <class T>
    PaddleValue(SelectedRows<T> const& x) : parts_(detail::paddle_parts(x)) {}

    std::span<std::byte const> head() const noexcept { return parts_.head; }  ///< all that stands before the elements
    /// An alias of those of the value.
    std::span<std::byte const> elements() const noexcept { return parts_.elements; }

private:
    detail::PaddleParts parts_;
};

/// The bytes that Paddle writes for this value: its `save_dense_tensor`, or `save_selected_rows` for a SelectedRows.
/// errors   none
/// cost     one copy of the elements
std::vector<std::byte> to_paddle(PaddleValue const& value);

/// Writes streams one after the other, as Paddle's `save_combine` does: parameters of an inference model, in the order of their names. The
/// names are not in the file. It is there as a whole or stays as it was.
/// errors   IoError if the file cannot be written
/// cost     one write of the values, which are not copied
void save_paddle_combined(std::string const& path, std::vector<PaddleValue> const& values);

/// Writes one stream.
/// errors   IoError if the file cannot be written: one that was there stays then
/// cost     one write of the value, which is not copied
void save_paddle(std::string const& path, PaddleValue const& value);

/// The value of a stream in memory; `V` is a LoDTensor<T> or a SelectedRows<T>. What Paddle's own reader lets pass is refused too: elements
/// that are missing, bytes left over, offsets that do not fit, rows outside the height.
/// errors   TypeError if its elements are no T; LodError for offsets; IndexError for a row that is not in [0, height); FormatError for all
///          else that is not as the format has it
/// cost     nothing is allocated that the stream has not the bytes for; at most twice as much
template <class V>
V from_paddle(std::span<std::byte const> bytes) {
    detail::ByteReader in(bytes);
    V value;
    detail::read_paddle(in, value);
    in.expect_end("the stream");
    return value;
}

/// The same for a file that holds one stream.
/// errors   IoError if the file cannot be read; those of from_paddle
/// cost     elements are read straight into the tensor
template <class V>
V load_paddle(std::string const& path) {
    detail::InputFile const file(path);
    detail::FileReader in(file);
    V value;
    detail::read_paddle(in, value);
    in.expect_end("the stream");
    return value;
}

/// All streams of a file that has them one after the other, all of one kind and element type; for others there is describe_paddle, which
/// says where each is.
/// errors   those of load_paddle
/// cost     one read of the file
template <class V>
std::vector<V> load_paddle_combined(std::string const& path) {
    detail::InputFile const file(path);
    detail::FileReader in(file);
    std::vector<V> values;
    while (in.left() != 0) {
        V value;
        detail::read_paddle(in, value);
        values.push_back(std::move(value));
    }
    return values;
}

}  // namespace rowan::inline v0

#include <rowan/io/paddle_inl.hpp>
