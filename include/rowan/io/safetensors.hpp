// rowan/io/safetensors.hpp: save_safetensors and load_safetensors, named tensors in a file that many libraries read.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/safetensors_header.hpp>
#include <rowan/io/detail/safetensors_text.hpp>
#include <rowan/io/safetensors_file.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/train/parameters.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A non-owning reference to a tensor of any element type, to be written.
/// requires   the tensor outlives it; use it only as a parameter
class SafetensorsArray {
public:
    /// Refers to the elements of `tensor`.
    /// errors   std::bad_alloc
    /// cost     one allocation
    template <class T>
    SafetensorsArray(Tensor<T> const& tensor)
        : dtype_(detail::safetensors_type<T>()), shape_(tensor.shape().begin(), tensor.shape().end()),
          elements_(std::as_bytes(std::span(tensor.data(), tensor.size()))) {
        if (detail::safetensors_of_bytes<T>) shape_.push_back(sizeof(T));
    }

    std::string_view dtype() const noexcept { return dtype_; }                   ///< as the format spells it: "F32"
    std::vector<std::int64_t> const& shape() const& noexcept { return shape_; }  ///< the dims in the file
    std::vector<std::int64_t> shape() && noexcept { return std::move(shape_); }
    std::span<std::byte const> elements() const noexcept { return elements_; }  ///< the elements in memory

private:
    std::string_view dtype_;
    std::vector<std::int64_t> shape_;
    std::span<std::byte const> elements_;
};

/// Writes tensors of any element types to a safetensors file, atomically:
/// `save_safetensors("model.safetensors", {{"table", table}, {"ids", ids}})`. The bytes are those of the reference
/// implementation, for which the order of the metadata is random: here its keys ascend. Elements of a type of yours
/// are U8 with one more dim of sizeof(T).
/// shapes   any
/// errors   Error if a name is given twice or is "__metadata__", a text is not UTF-8, or they need a header of more
///          than 100 MB; IoError if the file cannot be written
/// cost     one write of the elements, which are not copied
void save_safetensors(std::string const& path, std::vector<std::pair<std::string, SafetensorsArray>> const& tensors,
                      std::map<std::string, std::string> const& metadata = {});

/// Writes the values of parameters and optimizer states to a safetensors file, atomically. The number of steps is not
/// in the file.
/// errors   TypeError if a value is not a LoDTensor: the format has no row-sparse tensors; ShapeError if it has
///          levels; Error if a name is "__metadata__", a text is not UTF-8, or they need a header of more than 100 MB;
///          IoError if the file cannot be written
/// cost     one write of the elements; those on a device are copied to the host, one value at a time
void save_safetensors(Parameters const& parameters, std::string const& path,
                      std::map<std::string, std::string> const& metadata = {});

/// Reads one tensor of a safetensors file.
/// shapes   as in the file
/// errors   as SafetensorsFile's constructor and load
/// cost     one read of the file's header and of this tensor
template <class T>
Tensor<T> load_safetensors(std::string const& path, std::string_view name) {
    return SafetensorsFile(path).load<T>(name);
}

namespace detail {

/// Calls f with an element of the type with this name, if rowan has one.
template <class F>
bool with_safetensors_type(std::string_view name, F const& f) {
    auto const with = [&]<class T>(T x) { return safetensors_type<T>() == name && (f(x), true); };
    return with(double{}) || with(float{}) || with(float16{}) || with(bfloat16{}) || with(std::int64_t{}) ||
           with(std::int32_t{}) || with(std::uint8_t{}) || with(bool{});
}

}  // namespace detail

/// Reads all tensors of a safetensors file.
/// errors   as SafetensorsFile's constructor and load; TypeError if a tensor is of a type that rowan does not have
/// cost     one read of the file; in memory beside the elements about 1 KB for each tensor
/// A template, so that only programs that call it compile it.
template <class P = Parameters>
P load_safetensors(std::string const& path) {
    SafetensorsFile const file(path);
    auto const names = file.names();
    for (auto const& name : names) {
        auto const type = file.entry(name).dtype;
        if (!detail::with_safetensors_type(type, [](auto) {}))
            throw TypeError({path, ": ", name}, type, "one of rowan's: SafetensorsFile reads it as bytes");
    }
    P parameters;
    for (auto const& name : names) {
        detail::with_safetensors_type(file.entry(name).dtype, [&]<class T>(T) {
            Value value;
            value.set(LoDTensor<T>(file.load<T>(name)));
            parameters.set(name, std::move(value));
        });
    }
    return parameters;
}

ROWAN_TEMPLATE(Parameters load_safetensors(std::string const&))

}  // namespace rowan::inline v0

#include <rowan/io/safetensors_inl.hpp>
