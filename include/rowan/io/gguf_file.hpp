// rowan/io/gguf_file.hpp: GgufFile, which loads tensors of a GGUF file.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/gguf_header.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// One tensor of a GGUF file.
struct GgufEntry {
    std::string name;                 ///< unique in the file
    std::uint32_t type = 0;           ///< the format's number: 0 for F32, 8 for Q8_0
    std::string type_name;            ///< "F32", "Q8_0"
    std::vector<std::int64_t> shape;  ///< row-major, as in NumPy: the file has the last dim first
    std::uint64_t offset = 0;         ///< position of the elements in the file
    std::uint64_t bytes = 0;          ///< size of the elements

    friend bool operator==(GgufEntry const&, GgufEntry const&) = default;
};

namespace detail {

/// An open GGUF file, whose header has been validated.
struct GgufReader {
    explicit GgufReader(Cpu e, std::string path);

    GgufHeader::Record const& record(std::string_view name) const;
    GgufHeader::Pair const& pair(std::string_view key, char const* expected, bool (*is)(GgufKind)) const;

    /// errors   TypeError unless the elements are of the type `wanted`, or of the other one
    void check_type(GgufHeader::Record const& r, std::string_view wanted, std::string_view other) const;
    Tensor<float>::shape_type shape(GgufHeader::Record const& r) const;

    void read(GgufHeader::Record const& r, std::span<std::byte> to) const;
    /// Reads the elements of a Q8_0 tensor: blocks of a half scale and 32 int8.
    void dequantize(GgufHeader::Record const& r, float* to) const;

    std::string text(std::string_view key) const;
    std::int64_t integer(std::string_view key) const;
    double number(std::string_view key) const;
    bool boolean(std::string_view key) const;

    Cpu exec;
    InputFile file;
    GgufHeader header;
};

}  // namespace detail

/// An open GGUF file of version 2 or 3, little-endian, whose header has been read and validated. Copies share it.
///
///     GgufFile const f("model.gguf");
///     auto e = f.load<float>("token_embd.weight");
///     auto blocks = f.metadata<std::int64_t>("llama.block_count");
///
/// F32, F16, BF16, F64, I32 and I64 are float, float16, bfloat16, double, int32 and int64, and Q8_0 can be read as
/// float. Tensors of other types can be read as bytes.
class GgufFile {
public:
    /// errors   IoError if the file cannot be read; FormatError if its header violates the format, or has a key or a
    ///          tensor twice, a type that is unknown, or tensors that are not aligned, overlap or exceed the file
    /// cost     reads the header and keeps it without the elements of arrays; at most 8 times its size in memory
    explicit GgufFile(std::string path) : GgufFile(Cpu{}, std::move(path)) {}
    GgufFile(Cpu exec, std::string path) : state_(std::make_shared<detail::GgufReader const>(exec, std::move(path))) {}

    GgufFile(GgufFile const&) = default;  // no move: a moved-from object would have no file
    GgufFile& operator=(GgufFile const&) = default;

    std::string const& path() const& noexcept { return state_->file.path(); }  ///< the path that was opened
    std::string path() && { return state_->file.path(); }

    std::uint32_t version() const noexcept { return state_->header.version(); }  ///< of the format: 2 or 3

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
    /// cost     O(log tensors)
    GgufEntry entry(std::string_view name) const;

    /// Reads a tensor. A Q8_0 tensor is read as float: each element is a product with its block's scale, rounded once.
    /// shapes   as entry(name).shape
    /// errors   Error if there is no tensor of this name; TypeError if its elements are not T; IoError; std::bad_alloc
    /// cost     one multi-threaded read of the elements into the result; of Q8_0 through a small buffer
    template <class T>
    Tensor<T> load(std::string_view name) const {
        static_assert(!detail::gguf_type<T>().empty(),
                      "rowan::GgufFile::load<T>: GGUF has no such type: use load_bytes");
        auto const& r = state_->record(name);
        constexpr bool is_float = std::is_same_v<T, float>;
        state_->check_type(r, detail::gguf_type<T>(), is_float ? "Q8_0" : "");
        auto tensor = Tensor<T>::from_shape(state_->shape(r));
        if constexpr (is_float) {
            if (detail::gguf_types[r.type].name == "Q8_0") return state_->dequantize(r, tensor.data()), tensor;
        }
        state_->read(r, std::as_writable_bytes(std::span(tensor.data(), tensor.size())));
        return tensor;
    }

    /// Reads the bytes of a tensor of any type.
    /// shapes   [entry(name).bytes]
    /// errors   Error if there is no tensor of this name; IoError; std::bad_alloc
    /// cost     one multi-threaded read of the elements into the result
    Tensor<std::uint8_t> load_bytes(std::string_view name) const;

    /// The keys of the metadata, ascending.
    /// errors   std::bad_alloc
    /// cost     O(keys)
    std::vector<std::string> metadata_keys() const;
    /// Returns whether the metadata has that key.
    /// errors   none
    /// cost     O(log keys)
    bool has_metadata(std::string_view key) const { return state_->header.find_pair(key) != nullptr; }
    /// The value of a key: a std::string, a std::int64_t for integers of all sizes, a double for floats of both, or a
    /// bool. The elements of arrays cannot be read.
    /// errors   Error if there is no such key; TypeError if its value is of another type; ValueError if an integer is
    ///          above 2^63 - 1
    /// cost     O(log keys), and a copy of the string
    template <class V>
    V metadata(std::string_view key) const {
        constexpr bool text = std::is_same_v<V, std::string>, integer = std::is_same_v<V, std::int64_t>;
        constexpr bool number = std::is_same_v<V, double>, boolean = std::is_same_v<V, bool>;
        static_assert(text || integer || number || boolean,
                      "rowan::GgufFile::metadata<V>: V is std::string, std::int64_t, double or bool");
        if constexpr (text) return state_->text(key);
        if constexpr (integer) return state_->integer(key);
        if constexpr (number) return state_->number(key);
        if constexpr (boolean) return state_->boolean(key);
    }

private:
    friend struct detail::OpenedFile;
    std::shared_ptr<detail::GgufReader const> state_;
};

}  // namespace rowan::inline v0

#include <rowan/io/gguf_file_inl.hpp>
