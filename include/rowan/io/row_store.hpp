// rowan/io/row_store.hpp: stores of rows in checkpoints.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/sparse/detail/stored_type.hpp>
#include <rowan/sparse/row_store.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The type of the elements of a tensor without levels in a checkpoint.
/// errors   TypeError if the variable is another
inline StoredType stored_type_of(VarDesc const& desc, std::string const& type_name, std::uint64_t element_size) {
    if (desc.type != VarType::LOD_TENSOR || levels_of(desc) != 0)
        throw TypeError(desc.name, kind_text(desc, type_name), "a Tensor");
    auto const& tensor = tensor_of(desc);
    return {
        tensor.data_type, type_name, static_cast<std::size_t>(element_size), {tensor.dims.begin(), tensor.dims.end()}};
}

/// The elements of a row: the product of all dims but the first.
/// errors   ShapeError if it is more than 2^62
inline std::size_t row_elements(std::string const& what, std::vector<std::int64_t> const& dims) {
    std::size_t n = 1;
    for (std::size_t i = 1; i < dims.size(); ++i) {
        if (__builtin_mul_overflow(n, static_cast<std::size_t>(dims[i]), &n) || n > std::size_t{1} << 62)
            throw ShapeError({what, ".shape()"}, shape_text(dims), "rows of at most 2^62 elements");
    }
    return n;
}

/// errors   TypeError if elements of this type cannot be read as rows of T; ShapeError if a row has too many
template <class T>
RowShape expected_rows(std::string const& what, StoredType const& type) {
    auto const shape = row_shape<T>(type, type.dims.empty() ? 0 : row_elements(what, type.dims));
    if (!shape)
        throw TypeError(what, {"Tensor<", type.name, ">"}, {"a table whose rows can be read as ", dtype<T>::name});
    return *shape;
}

/// A store is saved as its rows are stored: rows of float32, float16 and bfloat16 as a tensor, others as elements of a
/// type such as "int8[64]". Tensors of these types can be loaded as stores.
template <class T>
struct checkpoint_value<RowStore<T>> {
    static constexpr bool known = true;

    static CheckpointEntry entry(std::string name, RowStore<T> const& store) {
        auto type = stored_type<T>(store.format(), store.width(), store.height());
        auto bytes = std::make_shared<Tensor<std::uint8_t> const>(store.bytes().share());
        CheckpointEntry e;
        e.desc = {.name = std::move(name),
                  .lod_desc = LodTensorDesc{{type.dtype, std::move(type.dims)}, 0},
                  .persistable = true};
        e.type_name = std::move(type.name);
        e.element_size = type.element_size;
        e.elements = std::as_bytes(std::span(bytes->data(), bytes->size()));
        e.memory = std::move(bytes);
        return e;
    }
    static void expect(VarDesc const& desc, std::string const& type_name, std::uint64_t element_size) {
        static_cast<void>(expected_rows<T>(desc.name, stored_type_of(desc, type_name, element_size)));
    }
    static RowStore<T> value(CheckpointEntry const& e) {
        auto const type = stored_type_of(e.desc, e.type_name, e.element_size);
        auto const [format, width] = expected_rows<T>(e.desc.name, type);
        std::shared_ptr<void const> owner = e.memory;
        std::byte const* data = e.elements.data();
        if (owner == nullptr && !e.elements.empty()) {
            auto copy = std::make_shared<Buffer<std::byte>>(e.elements.begin(), e.elements.end());
            data = copy->data();
            owner = std::move(copy);
        }
        return RowStore<T>(
            format, width,
            std::make_shared<MemoryRows const>(type.dims[0], row_bytes(format, width, sizeof(T)), data, owner));
    }
};

}  // namespace rowan::inline v0::detail
