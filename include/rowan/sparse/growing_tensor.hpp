// rowan/sparse/growing_tensor.hpp: GrowingTensor, a tensor that gets more rows without moving those that it has.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/sparse/detail/reserved_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

namespace rowan::inline v0 {

/// A tensor whose first dim grows. Its rows keep their addresses, so aliases see the same elements before and after, and
/// growing costs no copy. For that, the addresses of all rows that it may ever have are reserved at once; memory is used
/// only for the rows that were written.
///
///     GrowingTensor<float> table({64}, 1'000'000'000);   // rows of 64 numbers
///     table.grow(1000);
///     gather(table.tensor(), ids);                       // shape [1000, 64]
template <class T>
class GrowingTensor {
public:
    using shape_type = typename Tensor<T>::shape_type;

    /// The most bytes that are reserved for a tensor without a stated number of rows: 512 GiB.
    static constexpr std::size_t most_bytes = std::size_t{1} << 39;
    /// No stated number of rows.
    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

    /// A tensor with no rows of this shape, for at most `most_rows` rows, for which addresses are reserved. Without that
    /// number they are reserved for most_bytes bytes, or for fewer where the process may not have as many; under the
    /// thread sanitizer for 8 GiB.
    /// errors   ShapeError if the size in bytes exceeds 2^63 - 1, or there are more than 7 dims; ValueError if most_rows
    ///          is negative; std::bad_alloc if the system does not have the addresses
    /// cost     a call of the system
    explicit GrowingTensor(shape_type const& row_shape, std::int64_t most_rows = unlimited)
        : shape_(row_shape.size() + 1) {
        if (most_rows < 0) throw ValueError("most_rows", most_rows, "0 or more");
        shape_[0] = 1;
        std::ranges::copy(row_shape, shape_.begin() + 1);
        detail::check_tensor_rank(shape_.size());
        row_bytes_ = detail::checked_size("tensor", shape_, sizeof(T)) * sizeof(T);
        std::size_t const row = std::max(row_bytes_, sizeof(T));
        std::size_t bytes = most_bytes, least = std::max(row, detail::huge_page);
        if (most_rows != unlimited) {
            auto const rows = static_cast<std::size_t>(most_rows);
            if (rows > static_cast<std::size_t>(unlimited) / 2 / row)
                throw ShapeError("most_rows", rows, "rows of at most 2^62 bytes in all");
            bytes = least = rows * row;
        }
        memory_ = detail::reserve_memory(bytes, least);
        most_rows_ = std::min(most_rows, static_cast<std::int64_t>(memory_->size() / row));
        view(0);
    }
    GrowingTensor(GrowingTensor const&) = delete;
    GrowingTensor& operator=(GrowingTensor const&) = delete;
    ~GrowingTensor() = default;

    std::int64_t height() const noexcept { return static_cast<std::int64_t>(shape_[0]); }  ///< the number of rows
    std::int64_t most_rows() const noexcept { return most_rows_; }  ///< the rows for which addresses are reserved

    /// Makes memory ready for `height` rows, so that growing so far throws nothing.
    /// errors   ShapeError if height is negative or more than most_rows(); std::bad_alloc; nothing has changed
    /// cost     a call of the system for an eighth more rows
    void reserve(std::int64_t height) {
        if (height < 0 || height > most_rows_) throw ShapeError("height", height, {"in [0, ", most_rows_, "]"});
        memory_->commit(static_cast<std::size_t>(height) * row_bytes_);
    }

    /// Changes the number of rows to `height`, which is not less than before. New rows are not initialised.
    /// errors   ShapeError if it is less, otherwise as reserve
    /// cost     that of reserve
    void grow(std::int64_t height) {
        if (height < this->height()) throw ShapeError("height", height, {"at least ", this->height()});
        reserve(height);
        view(height);
    }

    /// Removes the rows from `height` on, if there are any. Aliases keep them.
    void shrink(std::int64_t height) noexcept {
        if (height >= 0 && height < this->height()) view(height);
    }

    /// Copies the rows of a tensor here, and adds rows if it has more.
    /// errors   ShapeError if it has another row shape, or fewer rows; otherwise as reserve; nothing has changed
    /// cost     one read and one write of the rows
    void assign(Tensor<T> const& rows) {
        detail::check_rows("rows", rows);
        detail::check_trailing("rows", rows, shape_);
        grow(static_cast<std::int64_t>(rows.shape()[0]));
        std::copy_n(rows.data(), rows.size(), tensor_.data());
    }

    /// The rows. The tensor and its aliases keep the memory alive; after grow, this returns one with more rows.
    Tensor<T>& tensor() noexcept { return tensor_; }
    Tensor<T> const& tensor() const noexcept { return tensor_; }

private:
    void view(std::int64_t height) {
        shape_[0] = static_cast<std::size_t>(height);
        tensor_ = Tensor<T>::borrow(reinterpret_cast<T*>(memory_->data()), shape_, memory_);
    }

    shape_type shape_;
    std::size_t row_bytes_;
    std::int64_t most_rows_;
    std::shared_ptr<detail::ReservedMemory> memory_;
    Tensor<T> tensor_;
};

}  // namespace rowan::inline v0
