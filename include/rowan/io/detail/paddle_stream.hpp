// rowan/io/detail/paddle_stream.hpp: Paddle's streams, read from a ByteReader or FileReader or encoded as PaddleParts.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/read_elements.hpp>
#include <rowan/io/tensor_desc.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class T>
constexpr void check_paddle_type() {
    static_assert(dtype<T>::wire < 1000,
                  "rowan::save_paddle, load_paddle: Paddle has no such element type; save_model takes any");
}

// A Reader is a ByteReader or a FileReader.

template <class Reader>
Lod read_paddle_lod(Reader& in);

/// Reads element type and dims, which must not be negative.
template <class Reader>
TensorDesc read_paddle_desc(Reader& in);

template <class T, class Reader>
Tensor<T> read_paddle_elements(Reader& in, TensorDesc const& desc) {
    check_paddle_type<T>();
    if (desc.data_type != dtype<T>::wire)
        throw TypeError("the stream's element type", data_type_text(desc.data_type), dtype<T>::name);
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
PaddleRows read_paddle_rows(Reader& in);

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
