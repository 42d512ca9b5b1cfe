// rowan/io/detail/paddle_stream.hpp: Paddle's streams, read from a ByteReader or FileReader or encoded as PaddleParts.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/read_elements.hpp>
#include <rowan/io/tensor_desc.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class T>
constexpr void check_paddle_type() {
    static_assert(dtype<T>::wire < 1000,
                  "rowan::save_paddle, load_paddle: Paddle has no such element type; save_model takes any");
}

template <class Reader>
void read_paddle_version(Reader& in, char const* field) {
    std::uint64_t const at = in.position();
    auto const version = in.template number<std::uint32_t>(field);
    if (version != 0) throw FormatError(at, field, "is " + std::to_string(version) + ", supported is 0");
}

/// Reads `count` numbers.
/// errors   FormatError if fewer bytes are left, before anything is allocated
template <class Reader>
Tensor<std::int64_t> read_paddle_numbers(Reader& in, char const* field, std::uint64_t count) {
    if (count > in.left() / 8) {
        throw FormatError(in.position(), field,
                          "are " + std::to_string(count) + " numbers of 8 bytes, but " + std::to_string(in.left()) +
                              " bytes are left");
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
        throw FormatError(at, "the number of LoD levels",
                          "is " + std::to_string(levels) + ", more than " + std::to_string(Lod::max_levels));
    std::vector<Tensor<std::int64_t>> offsets;
    while (offsets.size() < levels) {
        std::string const field = "the size of LoD level " + std::to_string(offsets.size());
        std::uint64_t const here = in.position();
        auto const bytes = in.template number<std::uint64_t>(field.c_str());
        if (bytes == 0 || bytes % 8 != 0)
            throw FormatError(here, field, "is " + std::to_string(bytes) + ", which is not a positive multiple of 8");
        offsets.push_back(read_paddle_numbers(in, "the LoD's offsets", bytes / 8));
    }
    return Lod(offsets);
}

/// Reads element type and dims, which must not be negative.
template <class Reader>
TensorDesc read_paddle_desc(Reader& in) {
    constexpr std::int32_t most = 1024;  // 8 dims need 90 bytes
    read_paddle_version(in, "the tensor's version");
    std::uint64_t const at = in.position();
    auto const size = in.template number<std::int32_t>("the descriptor's size");
    if (size < 0 || size > most)
        throw FormatError(at, "the descriptor's size",
                          "is " + std::to_string(size) + ", which is not in [0, " + std::to_string(most) + "]");
    std::array<std::byte, most> room;
    auto const bytes = std::span(room).first(static_cast<std::size_t>(size));
    in.read("the descriptor", bytes);
    auto desc = decode<TensorDesc>(bytes, at + 4);
    for (std::size_t i = 0; i < desc.dims.size(); ++i) {
        if (desc.dims[i] < 0)
            throw FormatError(at + 4, "dims[" + std::to_string(i) + "]",
                              "is " + std::to_string(desc.dims[i]) + ", which is negative");
    }
    return desc;
}

template <class T, class Reader>
Tensor<T> read_paddle_elements(Reader& in, TensorDesc const& desc) {
    check_paddle_type<T>();
    if (desc.data_type != dtype<T>::wire)
        throw TypeError("the stream's element type", data_type_text(desc.data_type), std::string(dtype<T>::name));
    element_bytes<T>(in.position(), "the shape", desc.dims, in.left());
    auto tensor = Tensor<T>::from_shape({desc.dims.begin(), desc.dims.end()});
    read_elements(in, "the data", std::span(tensor.data(), tensor.size()));
    return tensor;
}

/// The row ids of a SelectedRows, all in [0, height).
struct PaddleRows {
    std::int64_t height;
    Tensor<std::int64_t> rows;
};

template <class Reader>
PaddleRows read_paddle_rows(Reader& in) {
    read_paddle_version(in, "the version of SelectedRows");
    auto const count = in.template number<std::uint64_t>("the number of rows");
    auto rows = read_paddle_numbers(in, "the rows", count);
    std::uint64_t const at = in.position();
    auto const height = in.template number<std::int64_t>("the height");
    if (height < 0) throw FormatError(at, "the height", "is " + std::to_string(height) + ", which is negative");
    check_ids(Cpu{}, "rows", rows, height);
    return {height, std::move(rows)};
}

void check_paddle_lod(std::uint64_t position, TensorDesc const& desc, Lod const& lod);

ROWAN_IF_CALLED void check_paddle_rows(std::uint64_t position, TensorDesc const& desc, std::size_t rows);

template <class T, class Reader>
void read_paddle(Reader& in, LoDTensor<T>& x) {
    Lod lod = read_paddle_lod(in);
    std::uint64_t const at = in.position();
    auto const desc = read_paddle_desc(in);
    check_paddle_lod(at, desc, lod);
    x = LoDTensor<T>(read_paddle_elements<T>(in, desc), std::move(lod));
}

template <class T, class Reader>
void read_paddle(Reader& in, SelectedRows<T>& x) {
    auto [height, rows] = read_paddle_rows(in);
    std::uint64_t const at = in.position();
    auto const desc = read_paddle_desc(in);
    check_paddle_rows(at, desc, rows.size());
    x = SelectedRows<T>(height, rows, read_paddle_elements<T>(in, desc));
}

/// A stream in two parts: everything before the elements, and the elements.
struct PaddleParts {
    std::vector<std::byte> head;
    std::span<std::byte const> elements;

    void bytes(std::span<std::byte const> more);
    template <class I>
    void number(I x) {
        bytes(std::as_bytes(std::span(&x, 1)));
    }
    template <class T>
    void tensor(Tensor<T> const& t) {
        check_paddle_type<T>();
        auto const desc = encode(TensorDesc{dtype<T>::wire, {t.shape().begin(), t.shape().end()}});
        number(std::uint32_t{0});
        number(static_cast<std::int32_t>(desc.size()));
        bytes(desc);
        elements = std::as_bytes(std::span(t.data(), t.size()));
    }
};

template <class T>
PaddleParts paddle_parts(LoDTensor<T> const& x) {
    x.check();
    PaddleParts parts;
    parts.number(std::uint32_t{0});
    parts.number(static_cast<std::uint64_t>(x.lod().levels()));
    for (std::size_t level = 0; level < x.lod().levels(); ++level) {
        parts.number(static_cast<std::uint64_t>(x.lod()[level].size_bytes()));
        parts.bytes(std::as_bytes(x.lod()[level]));
    }
    parts.tensor(x.value());
    return parts;
}

template <class T>
PaddleParts paddle_parts(Tensor<T> const& x) {
    PaddleParts parts;
    parts.number(std::uint32_t{0});
    parts.number(std::uint64_t{0});
    parts.tensor(x);
    return parts;
}

template <class T>
PaddleParts paddle_parts(SelectedRows<T> const& x) {
    SelectedRows<T>::check_value(x.value(), x.rows().size());
    PaddleParts parts;
    parts.number(std::uint32_t{0});
    parts.number(static_cast<std::uint64_t>(x.rows().size()));
    parts.bytes(std::as_bytes(x.rows()));
    parts.number(x.height());
    parts.tensor(x.value());
    return parts;
}

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/paddle_stream_inl.hpp>
