// rowan/io/safetensors_file.hpp: SafetensorsFile, which loads, maps or looks up tensors of a safetensors file.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/file_reader.hpp>
#include <rowan/io/detail/safetensors_header.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// One tensor of a safetensors file.
struct SafetensorsEntry {
    std::string name;                 ///< unique in the file
    std::string dtype;                ///< as the format spells it: "F32", "BF16"
    std::vector<std::int64_t> shape;  ///< the dims
    std::uint64_t offset = 0;         ///< position of the elements in the file
    std::uint64_t bytes = 0;          ///< size of the elements

    friend bool operator==(SafetensorsEntry const&, SafetensorsEntry const&) = default;
};

namespace detail {

/// An open safetensors file, whose header has been validated.
struct SafetensorsReader {
    explicit SafetensorsReader(Cpu e, std::string path);

    SafetensorsHeader::Record const& record(std::string_view name) const;
    SafetensorsEntry entry(SafetensorsHeader::Record const& r) const;
    std::uint64_t offset(SafetensorsHeader::Record const& r) const { return header.data_begin() + r.begin; }

    /// The shape of the tensor with elements of the type `wanted`; bytes: their size if the last dim is that, else 0.
    /// errors   TypeError if the tensor is of another type; FormatError if it has more than 8 dims
    Tensor<float>::shape_type shape(SafetensorsHeader::Record const& r, std::string_view wanted,
                                    std::size_t bytes) const;

    /// Reads the elements from `begin` to `to`, in bytes. Those of BOOL must be 0 or 1.
    void read(SafetensorsHeader::Record const& r, std::uint64_t begin, std::span<std::byte> to) const;
    /// Reads the rows at `ids`, of `bytes` bytes each: each row of the file once.
    void read_rows(SafetensorsHeader::Record const& r, Ids<> const& ids, std::size_t bytes, std::byte* to) const;

    Cpu exec;
    InputFile file;
    SafetensorsHeader header;
};

}  // namespace detail

/// An open safetensors file, whose header has been read and validated. Copies share it.
///
///     SafetensorsFile const f("model.safetensors");
///     auto w = f.load<float>("w");                   a copy
///     auto e = f.gather<bfloat16>("e", {2, 0, 2});   some rows, without reading the others
///
/// F64, F32, F16, BF16, I64, I32, U8 and BOOL are double, float, float16, bfloat16, int64, int32, uint8 and bool. An
/// element type of yours is U8 with one more dim of sizeof(T). Tensors of other types can be read as bytes.
class SafetensorsFile {
public:
    /// errors   IoError if the file cannot be read; FormatError if its header violates the format, has a tensor or a
    ///          key twice or a key that is unknown, or its tensors do not cover the rest of the file
    /// cost     reads the header, of at most 100 MB, and keeps it; at most 9 times its size in memory, it included
    explicit SafetensorsFile(std::string path) : SafetensorsFile(Cpu{}, std::move(path)) {}
    SafetensorsFile(Cpu exec, std::string path)
        : state_(std::make_shared<detail::SafetensorsReader const>(exec, std::move(path))) {}

    SafetensorsFile(SafetensorsFile const&) = default;  // no move: a moved-from object would have no file
    SafetensorsFile& operator=(SafetensorsFile const&) = default;

    std::string const& path() const& noexcept { return state_->file.path(); }  ///< the path that was opened
    std::string path() && { return state_->file.path(); }

    /// The number of tensors.
    std::size_t size() const noexcept { return state_->header.records().size(); }
    /// The names of the tensors, ascending.
    /// errors   std::bad_alloc
    /// cost     O(tensors)
    std::vector<std::string> names() const;
    /// Returns whether there is a tensor of that name.
    /// errors   none
    /// cost     O(log tensors)
    bool has(std::string_view name) const { return state_->header.find(name) != nullptr; }
    /// The description of a tensor.
    /// errors   Error if there is no tensor of this name
    /// cost     O(log tensors + rank)
    SafetensorsEntry entry(std::string_view name) const { return state_->entry(state_->record(name)); }
    /// The texts that the file has beside its tensors: its `__metadata__`.
    /// errors   std::bad_alloc
    /// cost     O(texts)
    std::map<std::string, std::string> metadata() const;

    /// Reads a tensor.
    /// shapes   as in the file
    /// errors   Error if there is no tensor of this name; TypeError if its elements are not T; FormatError if it has
    ///          more than 8 dims, or a bool that is neither 0 nor 1; IoError; std::bad_alloc
    /// cost     one multi-threaded read of the elements into the result
    template <class T>
    Tensor<T> load(std::string_view name) const {
        auto const& r = state_->record(name);
        auto tensor = Tensor<T>::from_shape(shape<T>(r));
        state_->read(r, 0, std::as_writable_bytes(std::span(tensor.data(), tensor.size())));
        return tensor;
    }

    /// Maps a tensor, copy-on-write: its elements are read on demand. Those of bool, and those that are not aligned for
    /// T in the file, which the format allows, are read as by load.
    /// shapes     as in the file
    /// requires   the file is not truncated or written to while the tensor is in use
    /// errors     as load
    /// cost     independent of the number of elements, except that bool elements are read once
    template <class T>
    Tensor<T> map(std::string_view name) const {
        auto const& r = state_->record(name);
        auto const dims = shape<T>(r);
        if (std::is_same_v<T, bool> || state_->offset(r) % alignof(T) != 0) return load<T>(name);
        auto bytes = state_->file.map(state_->offset(r), static_cast<std::size_t>(r.end - r.begin));
        auto* const elements = reinterpret_cast<T*>(bytes.get());
        return Tensor<T>::borrow(elements, dims, std::move(bytes));
    }

    /// Reads the rows of a tensor at `ids`, in the order of `ids`, as rowan::gather of the loaded tensor.
    /// shapes   tensor [height, ...], ids of any shape -> ids.shape + tensor.shape[1:]
    /// errors   as load; ShapeError if the tensor has rank 0 or the result more than 8 dims; IndexError if an id is not
    ///          in [0, height)
    /// cost     a sort of the ids; one read for each distinct row, on all threads, and one copy for each repetition
    template <class T>
    Tensor<T> gather(std::string_view name, Ids<> ids) const {
        auto const& r = state_->record(name);
        auto const dims = shape<T>(r);
        if (dims.empty()) throw ShapeError({name, " rank"}, "0", "at least 1");
        detail::check_ids(state_->exec, "ids", ids, static_cast<std::int64_t>(dims[0]));
        auto shape = ids.shape();
        shape.insert(shape.end(), dims.begin() + 1, dims.end());
        auto out = Tensor<T>::from_shape(shape);
        std::size_t const width = detail::product_from(dims, 1);
        state_->read_rows(r, ids, width * sizeof(T), reinterpret_cast<std::byte*>(out.data()));
        return out;
    }

    /// Reads the bytes of a tensor of any type.
    /// shapes   [entry(name).bytes]
    /// errors   Error if there is no tensor of this name; IoError; std::bad_alloc
    /// cost     one multi-threaded read of the elements into the result
    Tensor<std::uint8_t> load_bytes(std::string_view name) const;

private:
    friend struct detail::OpenedFile;
    using Record = detail::SafetensorsHeader::Record;

    template <class T>
    typename Tensor<T>::shape_type shape(Record const& r) const {
        static_assert(detail::is_element<T>(),
                      "rowan::SafetensorsFile: specialize rowan::dtype<T> for this element type");
        return state_->shape(r, detail::safetensors_type<T>(), detail::safetensors_of_bytes<T> ? sizeof(T) : 0);
    }

    std::shared_ptr<detail::SafetensorsReader const> state_;
};

}  // namespace rowan::inline v0

#include <rowan/io/safetensors_file_inl.hpp>
