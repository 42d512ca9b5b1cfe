// rowan/detail/row_blocks.hpp: RowBlocks, the rows of several tensors, which are joined in one.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/copy_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// The rows of several tensors of any element type, in their order.
class RowBlocks {
public:
    using Shape = Tensor<float>::shape_type;

    /// For n tensors; `name` is what an error calls the number of rows.
    RowBlocks(char const* name, std::size_t n) : name_(name) {
        starts_.reserve(n + 1);
        starts_.push_back(0);
        data_.reserve(n);
    }

    /// Appends the rows of a tensor.
    /// errors   ShapeError if it has rank 0, its trailing dims are not those of the first one, or there are more than
    ///          2^63 - 1 rows
    void add(char const* field, Shape const& shape, void const* data);

    Shape const& shape() const noexcept { return shape_; }                     ///< of all rows; of rank 0 if none
    std::span<std::int64_t const> starts() const noexcept { return starts_; }  ///< of the blocks, and the end
    void const* const* data() const noexcept { return data_.data(); }          ///< where each block begins

    /// All rows as a tensor, whose element type is that of the blocks.
    template <class T, class D>
    Tensor<T, D> joined(D const& exec) const {
        auto all = new_tensor<T>(exec, shape_);
        std::size_t const width = all.row_size();
        copy_blocks(exec, starts_, width * sizeof(T), BlocksAt{data_.data()}, blocks_at(all.data(), starts_, width));
        return all;
    }

private:
    char const* name_;
    Shape shape_{};
    Buffer<std::int64_t> starts_;
    Buffer<void const*> data_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/detail/row_blocks_inl.hpp>
