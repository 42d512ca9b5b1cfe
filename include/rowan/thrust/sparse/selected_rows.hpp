// rowan/thrust/sparse/selected_rows.hpp: SelectedRows<T, ThrustDevice<System>>, rows of a tall tensor in device memory.
#pragma once

#include <rowan/sparse/selected_rows.hpp>
#include <rowan/thrust/core/copy.hpp>
#include <rowan/thrust/core/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace rowan::inline v0 {

/// SelectedRows as on the host, with rows and value in device memory.
template <class T, class System>
class SelectedRows<T, ThrustDevice<System>> {
    static_assert(detail::is_element<T>(), "rowan::SelectedRows<T>: specialize rowan::dtype<T> for this element type");

public:
    using Device = ThrustDevice<System>;
    using value_type = T;
    using shape_type = typename Tensor<T, Device>::shape_type;

    /// Height 0, no rows.
    SelectedRows() = default;

    /// shapes   rows [n], value [n, ...]
    /// errors   ShapeError if height is negative, rows are not a flat list, value has rank 0 or another number of rows;
    ///          IndexError if a row is not in [0, height): thrown immediately if rows are in host memory or height is
    ///          0, otherwise by the next synchronize or copy to the host
    /// cost     O(n), asynchronous; the rows are copied, the value is moved
    SelectedRows(Device const& exec, Height height, Ids<Device> rows, Tensor<T, Device> value)
        : height_(height), merged_(false) {
        if (rows.shape().size() != 1) throw ShapeError("rows rank", std::to_string(rows.shape().size()), "1");
        check_value(value, rows.size());
        detail::DeviceIds<System> const checked(exec, "rows", rows, height);
        rows_ = Tensor<std::int64_t, Device>::from_shape(exec, {rows.size()});
        checked.visit([&]<class I>(I const* list) {
            detail::launch_always(exec, rows.size(), detail::CopyId<I>{checked.check, list, rows_.data()});
        });
        value_ = std::move(value);
    }
    SelectedRows(Height height, Ids<Device> rows, Tensor<T, Device> value)
        : SelectedRows(Device{}, height, rows, std::move(value)) {}

    SelectedRows(SelectedRows const&) = default;
    SelectedRows(SelectedRows&& other) noexcept { swap(other); }
    SelectedRows& operator=(SelectedRows other) noexcept {
        swap(other);
        return *this;
    }
    ~SelectedRows() = default;

    std::int64_t height() const noexcept { return height_; }  ///< rows of the tall tensor
    /// In device memory. Code that modifies them through an alias must keep them in [0, height) and, if merged(),
    /// ascending and unique.
    Tensor<std::int64_t, Device> const& rows() const noexcept { return rows_; }
    /// Row i of the value belongs to row rows()[i] of the tall tensor.
    Tensor<T, Device> const& value() const noexcept { return value_; }
    Tensor<T, Device>& value() noexcept { return value_; }

    /// The shape of the tall tensor, [height, ...].
    /// errors   ShapeError if value has been assigned a tensor of rank 0
    /// cost     O(1)
    shape_type shape() const {
        if (value_.dimension() == 0) throw ShapeError("value rank", "0", "at least 1");
        shape_type shape = value_.shape();
        shape[0] = static_cast<std::size_t>(height_);
        return shape;
    }

    /// Whether the rows are known to be ascending and unique, as merge makes them. The rows are not inspected.
    bool merged() const noexcept { return merged_ || rows_.size() == 0; }

    /// An alias of the same rows and the same elements.
    /// errors   none
    /// cost     O(1)
    SelectedRows share() const {
        return detail::SelectedRowsAccess::adopt(height_, rows_.share(), value_.share(), merged_);
    }

    std::size_t row_size() const noexcept { return value_.row_size(); }  ///< elements per row

    void swap(SelectedRows& other) noexcept {
        std::swap(height_, other.height_);
        std::swap(merged_, other.merged_);
        rows_.swap(other.rows_);
        value_.swap(other.value_);
    }

    /// Checks the constructor's precondition on value again; called by functions that use a value.
    /// errors   ShapeError if value has rank 0 or another number of rows
    /// cost     O(1)
    static void check_value(Tensor<T, Device> const& value, std::size_t rows) {
        if (value.dimension() == 0) throw ShapeError("value rank", "0", "at least 1");
        if (value.shape()[0] != rows) {
            throw ShapeError("value.shape(0)", std::to_string(value.shape()[0]),
                             std::to_string(rows) + ", the number of rows");
        }
    }

private:
    friend struct detail::SelectedRowsAccess;

    std::int64_t height_ = 0;
    bool merged_ = true;
    Tensor<std::int64_t, Device> rows_;
    Tensor<T, Device> value_;
};

/// The same for SelectedRows.
template <detail::thrust_device D, class T>
SelectedRows<T, D> to_device(D const& exec, SelectedRows<T> const& x) {
    return detail::SelectedRowsAccess::adopt(x.height(), to_device(exec, detail::SelectedRowsAccess::rows(x)),
                                             to_device(exec, x.value()), x.merged());
}
/// The same for SelectedRows.
template <detail::thrust_device D, class T>
SelectedRows<T> to_host(D const& exec, SelectedRows<T, D> const& x) {
    auto rows = to_host(exec, x.rows());
    return detail::SelectedRowsAccess::adopt(x.height(), std::move(rows), to_host(exec, x.value()));
}
template <class T, detail::thrust_device D>
SelectedRows<T> to_host(SelectedRows<T, D> const& x) {
    return to_host(x.value().device(), x);
}

}  // namespace rowan::inline v0
