// rowan/io/dlpack.hpp: to_dlpack and from_dlpack, zero-copy exchange of tensors with other libraries in a process.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace rowan::inline v0 {

/// The structs of DLPack 1.0, named as in DLPack's own header, whose structs all functions here accept as well.
namespace dlpack {

/// The device of a tensor.
struct DLDevice {
    std::int32_t device_type;  ///< 1 for the CPU
    std::int32_t device_id;    ///< its index among devices of this type
};

/// An element type.
struct DLDataType {
    std::uint8_t code;    ///< int 0, uint 1, float 2, bfloat 4, complex 5, bool 6
    std::uint8_t bits;    ///< per lane
    std::uint16_t lanes;  ///< 1, except for vector types
};

/// A non-owning view of a tensor.
struct DLTensor {
    void* data;                 ///< start of the memory
    DLDevice device;            ///< device of the memory
    std::int32_t ndim;          ///< number of dims
    DLDataType dtype;           ///< element type
    std::int64_t* shape;        ///< dims
    std::int64_t* strides;      ///< in elements; null if contiguous and row-major
    std::uint64_t byte_offset;  ///< offset of the first element from data
};

/// The contents of a capsule "dltensor".
struct DLManagedTensor {
    DLTensor dl_tensor;                 ///< the shared tensor
    void* manager_ctx;                  ///< data of the producer
    void (*deleter)(DLManagedTensor*);  ///< called by the consumer when it is done
};

/// The DLPack version of the producer.
struct DLPackVersion {
    std::uint32_t major;  ///< must be 1
    std::uint32_t minor;  ///< any
};

/// The contents of a capsule "dltensor_versioned".
struct DLManagedTensorVersioned {
    DLPackVersion version;                       ///< first, so that every version can read it
    void* manager_ctx;                           ///< data of the producer
    void (*deleter)(DLManagedTensorVersioned*);  ///< called by the consumer when it is done
    std::uint64_t flags;                         ///< read_only and DLPack's other bits
    DLTensor dl_tensor;                          ///< the shared tensor
};

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 && sizeof(DLManagedTensorVersioned) == 80);

inline constexpr int cpu = 1;                  ///< device_type of host memory
inline constexpr std::uint64_t read_only = 1;  ///< a bit of flags: elements must not be written

/// DLManagedTensor or DLManagedTensorVersioned, from here or from DLPack's own header.
template <class M>
concept managed = requires(M& m) {
    { m.dl_tensor.data } -> std::convertible_to<void*>;
    m.manager_ctx;
    m.deleter(&m);
};
/// The struct of DLPack 1.0 and later.
template <class M>
concept versioned = managed<M> && requires(M& m) {
    m.version.major;
    m.flags;
};

}  // namespace dlpack

namespace detail {

/// DLPack's type codes: int 0, uint 1, float 2, bfloat16 4, bool 6; 255 for types that DLPack does not have, such as
/// user-defined ones.
template <class T>
consteval std::uint8_t dlpack_code() {
    if (std::is_same_v<T, bool>) return 6;
    if (std::is_same_v<T, std::uint8_t>) return 1;
    if (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) return 0;
    if (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, float16>) return 2;
    return std::is_same_v<T, bfloat16> ? 4 : 255;
}

template <class T>
constexpr void check_dlpack_type() {
    static_assert(dlpack_code<T>() != 255,
                  "rowan::to_dlpack, from_dlpack: DLPack has no such element type; convert to float or an integer");
}

/// "float32"; "type 3, bits 64" for an unknown code.
std::string dlpack_type_text(int code, int bits, int lanes);

/// Validates all fields of an imported tensor except its strides, and returns its shape.
template <class T, class M>
typename Tensor<T>::shape_type checked_dlpack(M const& m) {
    check_dlpack_type<T>();
    if constexpr (dlpack::versioned<M>) {
        if (m.version.major != 1) {
            throw FormatError(0, "the version of DLPack",
                              {"is ", m.version.major, ".", m.version.minor, ", supported is 1"});
        }
    }
    auto const& t = m.dl_tensor;
    if (static_cast<int>(t.device.device_type) != dlpack::cpu)
        throw Error({"the tensor's device is ", static_cast<int>(t.device.device_type), ", expected 1, the CPU"});
    if (t.dtype.code != dlpack_code<T>() || std::size_t{t.dtype.bits} != 8 * sizeof(T) || t.dtype.lanes != 1) {
        throw TypeError("the tensor's element type", dlpack_type_text(t.dtype.code, t.dtype.bits, t.dtype.lanes),
                        dlpack_type_text(dlpack_code<T>(), 8 * sizeof(T), 1));
    }
    if (t.ndim < 0 || t.ndim > static_cast<int>(Tensor<T>::max_rank))
        throw ShapeError("ndim", t.ndim, {"in [0, ", Tensor<T>::max_rank, "]"});
    if (t.ndim > 0 && t.shape == nullptr) throw ShapeError("shape", "null", {t.ndim, " dims"});
    typename Tensor<T>::shape_type shape(static_cast<std::size_t>(t.ndim));
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (t.shape[i] < 0) throw ShapeError({"shape[", i, "]"}, t.shape[i], "at least 0");
        shape[i] = static_cast<std::size_t>(t.shape[i]);
    }
    if (checked_size("dlpack", shape, sizeof(T)) != 0 && t.data == nullptr)
        throw Error("data is null, but the tensor has elements");
    return shape;
}

/// The first element. Throws Error if it is not aligned.
template <class T, class M>
T* dlpack_data(M const& m) {
    auto* const data = static_cast<std::byte*>(m.dl_tensor.data) + m.dl_tensor.byte_offset;
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0)
        throw Error({"data + byte_offset is not a multiple of ", alignof(T), ", the alignment of ", dtype<T>::name});
    return reinterpret_cast<T*>(data);
}

/// An exported tensor: its alias keeps the elements alive until the consumer calls the deleter.
template <class T, class M>
struct DlpackExport {
    Tensor<T> tensor;
    std::array<std::int64_t, Tensor<T>::max_rank> shape, strides;
    M managed;
};

/// An imported tensor: calls the producer's deleter when the last alias is destroyed.
template <class M>
struct DlpackImport {
    M* managed = nullptr;
    DlpackImport() = default;
    DlpackImport(DlpackImport const&) = delete;
    DlpackImport& operator=(DlpackImport const&) = delete;
    ~DlpackImport() {
        if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
    }
};

}  // namespace detail

/// Exports an alias of `tensor`, through which a consumer may read and write the elements. Consumers that support only
/// DLPack before 1.0 need to_dlpack<dlpack::DLManagedTensor>. The elements live until the consumer calls the deleter,
/// even if `tensor` is destroyed. Assigning a new value to `tensor` does not change the exported elements.
/// shapes   tensor [...], as at the time of the call
/// errors   std::bad_alloc
/// cost     no copy; one allocation
template <dlpack::managed M = dlpack::DLManagedTensorVersioned, class T>
M* to_dlpack(Tensor<T> const& tensor) {
    detail::check_dlpack_type<T>();
    auto* const e = new detail::DlpackExport<T, M>{tensor.share(), {}, {}, {}};
    std::int64_t stride = 1;
    for (std::size_t i = tensor.dimension(); i-- > 0;) {
        e->shape[i] = static_cast<std::int64_t>(tensor.shape()[i]);
        e->strides[i] = stride;
        stride *= e->shape[i];
    }
    if constexpr (dlpack::versioned<M>) e->managed.version = {1, 0};
    auto& t = e->managed.dl_tensor;
    t.data = e->tensor.data();
    t.device.device_type = static_cast<decltype(t.device.device_type)>(dlpack::cpu);
    t.ndim = static_cast<std::int32_t>(tensor.dimension());
    t.dtype = {detail::dlpack_code<T>(), 8 * sizeof(T), 1};
    t.shape = e->shape.data();
    t.strides = e->strides.data();
    e->managed.manager_ctx = e;
    e->managed.deleter = [](M* m) { delete static_cast<detail::DlpackExport<T, M>*>(m->manager_ctx); };
    return &e->managed;
}

/// Returns a tensor that aliases the producer's elements. The deleter is called when the last alias is destroyed; if
/// this function throws, `managed` still belongs to the caller.
/// shapes   as in `managed`
/// requires   `managed` describes its memory correctly, and its deleter may be called from any thread
/// errors   Error if `managed` is null, not on the CPU, read-only or misaligned, or has elements but null data;
///          FormatError if its version is not 1; TypeError if its elements are not T; ShapeError if it is not
///          contiguous and row-major, has more than 8 dims, a negative dim or too many elements. For strided and
///          read-only tensors use copy_dlpack.
/// cost     no copy
template <class T, dlpack::managed M>
Tensor<T> from_dlpack(M* managed) {
    if (managed == nullptr) throw Error("from_dlpack: managed is null");
    auto const shape = detail::checked_dlpack<T>(*managed);
    if constexpr (dlpack::versioned<M>) {
        if ((managed->flags & dlpack::read_only) != 0) throw Error("the tensor is read-only: use copy_dlpack");
    }
    std::size_t const size = detail::product_from(shape, 0);
    auto const* const strides = managed->dl_tensor.strides;
    if (strides != nullptr && size != 0) detail::check_row_major(shape, strides, "copy_dlpack");
    T* const data = size == 0 ? nullptr : detail::dlpack_data<T>(*managed);
    auto const owner = std::make_shared<detail::DlpackImport<M>>();
    auto tensor = Tensor<T>::borrow(data, shape, owner);
    owner->managed = managed;  // nothing throws from here on
    return tensor;
}

/// Returns a row-major copy of the producer's elements, for any strides. `managed` still belongs to the caller.
/// shapes   as in `managed`
/// errors   as from_dlpack, but accepts any strides and read-only tensors
/// cost     one read and one write of the elements
template <class T, dlpack::managed M>
Tensor<T> copy_dlpack(M const* managed) {
    if (managed == nullptr) throw Error("copy_dlpack: managed is null");
    auto tensor = Tensor<T>::from_shape(detail::checked_dlpack<T>(*managed));
    if (tensor.size() == 0) return tensor;
    auto const& shape = tensor.shape();
    auto const* const strides = managed->dl_tensor.strides;
    T const* const from = detail::dlpack_data<T>(*managed);
    if (strides == nullptr) {
        std::copy_n(from, tensor.size(), tensor.data());
        return tensor;
    }
    std::array<std::size_t, Tensor<T>::max_rank> index{};
    std::int64_t place = 0;
    for (T& x : std::span(tensor.data(), tensor.size())) {
        x = from[place];
        for (std::size_t i = shape.size(); i-- > 0;) {
            place += strides[i];
            if (++index[i] < shape[i]) break;
            place -= strides[i] * static_cast<std::int64_t>(shape[i]);
            index[i] = 0;
        }
    }
    return tensor;
}

}  // namespace rowan::inline v0

#include <rowan/io/dlpack_inl.hpp>
