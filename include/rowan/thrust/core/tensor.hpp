// rowan/thrust/core/tensor.hpp: Tensor<T, ThrustDevice<System>>, a row-major array in device memory.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/thrust/core/detail/storage.hpp>

#include <cstddef>
#include <initializer_list>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

template <class T>
struct FillWith {
    T* to;
    T value;
    ROWAN_HD void operator()(std::size_t i) const { to[i] = value; }
};

}  // namespace detail

/// A row-major array of `T` in device memory. Shapes, copies and aliases behave as for a host Tensor; elements are
/// accessed through to_host and to_device. Memory comes from a pool, is uninitialised, and is freed in the order of the
/// stream on which the tensor was made. A tensor used on another stream must be kept alive until that use has finished,
/// and a stream must outlive the tensors made on it.
template <class T, class System>
class Tensor<T, ThrustDevice<System>> {
    static_assert(detail::is_element<T>(), "rowan::Tensor<T>: specialize rowan::dtype<T> for this element type");

public:
    using Device = ThrustDevice<System>;
    using value_type = T;
    using shape_type = typename Tensor<T, Cpu>::shape_type;
    static constexpr std::size_t max_rank = Tensor<T, Cpu>::max_rank;  ///< as on the host

    Tensor() : shape_{0} {}  ///< shape [0]

    /// `{{1, 2}, {3, 4}}`, as on the host, copied to the device.
    /// errors   as on the host; as from_shape
    /// cost     as on the host, and one copy of the elements
    Tensor(std::initializer_list<detail::Nested<T>> list) : Tensor(Device{}, Tensor<T, Cpu>(list)) {}

    /// Copies a host tensor.
    /// errors   as from_shape
    /// cost     one copy of the elements
    Tensor(Device const& exec, Tensor<T, Cpu> const& host) : Tensor(from_shape(exec, host.shape())) {
        if (size() != 0) detail::ThrustSystem<System>::from_host(exec, data(), host.data(), size() * sizeof(T));
    }

    /// A tensor of this shape with uninitialised elements. An empty shape has rank 0 and one element.
    /// errors   ShapeError if the size in bytes does not fit 63 bits or there are more than max_rank dims; CudaError or
    ///          std::bad_alloc if memory is insufficient
    /// cost     one asynchronous allocation from the pool; the elements are not touched
    static Tensor from_shape(shape_type const& shape) { return from_shape(Device{}, shape); }
    static Tensor from_shape(Device const& exec, shape_type const& shape) {
        detail::check_tensor_rank(shape.size());
        Tensor t;
        t.data_ = {exec, detail::checked_size("tensor", shape, sizeof(T))};
        t.shape_ = shape;
        return t;
    }
    /// A tensor of this shape, filled with `value`.
    /// errors   as from_shape
    /// cost     one asynchronous write of the elements
    static Tensor full(shape_type const& shape, T value) { return full(Device{}, shape, value); }
    static Tensor full(Device const& exec, shape_type const& shape, T value) {
        Tensor t = from_shape(exec, shape);
        detail::launch_always(exec, t.size(), detail::FillWith<T>{t.data(), value});
        return t;
    }
    /// A tensor of this shape with all elements 0.
    /// errors   as full
    /// cost     as full
    static Tensor zeros(shape_type const& shape) { return zeros(Device{}, shape); }
    static Tensor zeros(Device const& exec, shape_type const& shape) {
        return full(exec, shape, dtype<T>::narrow(typename dtype<T>::sum{}));
    }

    Tensor(Tensor const&) = default;
    Tensor(Tensor&& other) noexcept : Tensor() { swap(other); }
    Tensor& operator=(Tensor const& other) {
        Tensor copy(other);
        swap(copy);
        return *this;
    }
    Tensor& operator=(Tensor&& other) noexcept {
        Tensor moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~Tensor() = default;

    shape_type const& shape() const& noexcept { return shape_; }  ///< the dims
    shape_type shape() && noexcept { return shape_; }
    std::size_t shape(std::size_t i) const { return shape_[i]; }
    std::size_t dimension() const noexcept { return shape_.size(); }  ///< the rank
    std::size_t size() const noexcept { return data_.size(); }
    /// Elements per row: the product of all dims but the first.
    std::size_t row_size() const noexcept { return detail::product_from(shape_, 1); }

    /// A pointer to device memory.
    T* data() noexcept { return data_.data(); }
    T const* data() const noexcept { return data_.data(); }

    /// The device and stream on which the tensor was made: the execution of calls that are given none.
    Device device() const noexcept { return data_.device(); }

    /// The GPU that the memory belongs to; of other systems, nothing.
    auto place() const noexcept { return data_.place(); }

    /// Throws unless a call on `exec` may use the tensor.
    /// errors   CudaError if the stream or the tensor belongs to another GPU than the current one
    /// cost     a few CUDA queries; none for other systems
    void check(Device const& exec) const {
        if (size() == 0) return;
        detail::ThrustSystem<System>::check(exec);
        detail::ThrustSystem<System>::check_place(data_.place());
    }

    /// An alias of all elements. Constness is not inherited, as with std::span.
    Tensor share() const { return alias(0, size(), shape_); }

    /// An alias of rows [begin, end).
    /// errors   IndexError unless begin <= end <= shape(0); ShapeError for rank 0
    /// cost     O(1), no allocation
    Tensor slice(std::size_t begin, std::size_t end) const {
        return alias(begin * row_size(), (end - begin) * row_size(), detail::slice_shape(shape_, begin, end));
    }

    /// An alias of the same elements in another shape.
    /// errors   ShapeError if the number of elements differs or there are more than max_rank dims
    /// cost     O(1), no allocation
    Tensor reshaped(shape_type const& shape) const {
        detail::check_reshaped("reshaped", shape, size(), sizeof(T));
        return alias(0, size(), shape);
    }

    void swap(Tensor& other) noexcept {
        std::swap(shape_, other.shape_);
        std::swap(data_, other.data_);
    }

private:
    Tensor alias(std::size_t begin, std::size_t size, shape_type const& shape) const {
        Tensor t;
        t.data_ = data_.alias(begin, size);
        t.shape_ = shape;
        return t;
    }

    shape_type shape_;
    detail::DeviceStorage<T, System> data_;
};

}  // namespace rowan::inline v0
