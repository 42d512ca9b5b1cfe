// rowan/io/paddle.hpp: load_paddle and save_paddle, tensors in Paddle's stream format.
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

/// A non-owning reference to a Tensor, a LoDTensor or a SelectedRows, to be written as a stream. Paddle must have its
/// element type.
/// requires   the value outlives it; use it only as a parameter
/// errors     LodError or ShapeError if the value's number of rows no longer fits its offsets or row ids
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

    std::span<std::byte const> head() const& noexcept { return parts_.head; }  ///< the bytes before the elements
    std::vector<std::byte> head() && noexcept { return std::move(parts_.head); }
    /// The elements of the value.
    std::span<std::byte const> elements() const noexcept { return parts_.elements; }

private:
    detail::PaddleParts parts_;
};

/// The bytes that Paddle writes for this value: its `save_dense_tensor`, or `save_selected_rows` for a SelectedRows.
/// errors   none
/// cost     one copy of the elements
std::vector<std::byte> to_paddle(PaddleValue const& value);

/// Writes consecutive streams to a file, as Paddle's `save_combine` does for the parameters of an inference model, in
/// the order of their names. The names are not stored. The file is written completely or stays unchanged.
/// errors   IoError if the file cannot be written
/// cost     one write of the values, which are not copied
void save_paddle_combined(std::string const& path, std::vector<PaddleValue> const& values);

/// Writes one stream to a file.
/// errors   IoError if the file cannot be written: an existing file is then unchanged
/// cost     one write of the value, which is not copied
void save_paddle(std::string const& path, PaddleValue const& value);

/// Reads a value from a stream in memory; `V` is a LoDTensor<T> or a SelectedRows<T>. Unlike Paddle's own reader, it
/// throws for missing elements, extra bytes, offsets that do not fit and rows outside the height.
/// errors   TypeError if its elements are not T; LodError if its offsets are invalid; IndexError if a row is not in
///          [0, height); FormatError if the stream violates the format in any other way
/// cost     allocates at most twice the bytes that the stream has
template <class V>
V from_paddle(std::span<std::byte const> bytes) {
    detail::ByteReader in(bytes);
    V value;
    detail::read_paddle(in, value);
    in.expect_end("the stream");
    return value;
}

/// Reads a value from a file that holds one stream; `V` is a LoDTensor<T> or a SelectedRows<T>.
/// errors   IoError if the file cannot be read; those of from_paddle
/// cost     elements are read directly into the tensor
template <class V>
V load_paddle(std::string const& path) {
    detail::InputFile const file(path);
    detail::FileReader in(file);
    V value;
    detail::read_paddle(in, value);
    in.expect_end("the stream");
    return value;
}

/// Reads all streams of a file of consecutive streams, which must all have the kind and element type of V. For other
/// files, describe_paddle returns the offset of each stream.
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
