// rowan/sparse/selected_rows.hpp: SelectedRows<T>, a row-sparse tensor.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0 {

namespace detail {
struct SelectedRowsAccess;
}

/// A row-sparse tensor of `height` rows, for example the gradient of a table of which a batch used few rows.
///
///     height 6    rows  [4 1 4]      value [1 2]     represents   0: [0 0]
///                                          [3 4]                  1: [3 4]
///                                          [5 6]                  4: [6 8]   duplicates are summed
///
/// Rows may be in any order and may repeat. `value` has rank 1 or more; its first dim is the number of rows.
template <class T>
class SelectedRows<T, Cpu> {
    static_assert(detail::is_element<T>(), "rowan::SelectedRows<T>: specialize rowan::dtype<T> for this element type");

public:
    using value_type = T;
    using shape_type = typename Tensor<T>::shape_type;

    /// An object without rows, of height 0.
    SelectedRows() = default;

    /// Row rows[i] of the represented tensor has the value value[i].
    /// shapes   rows [n], value [n, ...]
    /// errors   ShapeError if height is negative, rows are not a flat list, value has rank 0 or not n rows;
    ///          IndexError if a row is not in [0, height)
    /// cost     O(n); the rows are copied, the value is moved
    SelectedRows(Height height, Ids<> rows, Tensor<T> value);

    SelectedRows(SelectedRows const&) = default;
    SelectedRows(SelectedRows&& other) noexcept { swap(other); }
    SelectedRows& operator=(SelectedRows const& other) {
        SelectedRows copy(other);
        swap(copy);
        return *this;
    }
    SelectedRows& operator=(SelectedRows&& other) noexcept {
        SelectedRows moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~SelectedRows() = default;

    std::int64_t height() const noexcept { return height_; }  ///< the number of rows of the represented tensor
    /// The row numbers, one for each row of value().
    std::span<std::int64_t const> rows() const noexcept { return {rows_.data(), rows_.size()}; }

    /// Row i of the value belongs to row rows()[i] of the represented tensor. The elements may be modified; if the
    /// first dim is changed, the next function that takes this object throws ShapeError.
    Tensor<T> const& value() const noexcept { return value_; }
    Tensor<T>& value() noexcept { return value_; }

    /// The shape of the represented tensor, [height, ...].
    /// errors   ShapeError if the value has been given rank 0
    /// cost     O(1)
    shape_type shape() const;

    /// Whether the rows are ascending and unique.
    bool merged() const noexcept { return merged_; }

    /// An alias: a copy of the rows, and an alias of the value.
    /// errors   std::bad_alloc
    /// cost     O(rows): row numbers are copied, elements are not
    SelectedRows share() const;

    /// The number of elements per row.
    std::size_t row_size() const noexcept { return value_.row_size(); }

    void swap(SelectedRows& other) noexcept;

    /// Whether heights, rows in order and values are equal. Unequal objects may represent the same tensor.
    friend bool operator==(SelectedRows const& a, SelectedRows const& b) {
        return a.height_ == b.height_ && std::ranges::equal(a.rows(), b.rows()) && a.value_ == b.value_;
    }

    /// Checks that a value has `rows` rows, as in the constructor. Functions that use a value repeat this check.
    /// errors   ShapeError if value has rank 0 or another number of rows
    /// cost     O(1)
    static void check_value(Tensor<T> const& value, std::size_t rows);

private:
    friend struct detail::SelectedRowsAccess;
    struct trusted {};

    // For rows that have been validated.
    SelectedRows(trusted, std::int64_t height, Ids<> const& rows, Tensor<T> value)
        : height_(height), rows_(Tensor<std::int64_t>::from_shape({rows.size()})), value_(std::move(value)) {
        rows.visit([&](auto list) { std::copy(list.begin(), list.end(), rows_.data()); });
        merged_ = std::ranges::adjacent_find(this->rows(), std::greater_equal<>{}) == this->rows().end();
    }

    std::int64_t height_ = 0;
    bool merged_ = true;
    Tensor<std::int64_t> rows_;
    Tensor<T> value_;
};

template <class T>
SelectedRows<T, Cpu>::SelectedRows(Height height, Ids<> rows, Tensor<T> value) {
    if (rows.shape().size() != 1) throw ShapeError("rows rank", std::to_string(rows.shape().size()), "1");
    check_value(value, rows.size());
    detail::check_ids(Cpu{}, "rows", rows, height);
    *this = SelectedRows(trusted{}, height, rows, std::move(value));
}

template <class T>
auto SelectedRows<T, Cpu>::shape() const -> shape_type {
    if (value_.dimension() == 0) throw ShapeError("value rank", "0", "at least 1");
    shape_type shape = value_.shape();
    shape[0] = static_cast<std::size_t>(height_);
    return shape;
}

template <class T>
auto SelectedRows<T, Cpu>::share() const -> SelectedRows {
    SelectedRows alias;
    alias.rows_ = rows_;
    alias.height_ = height_;
    alias.merged_ = merged_;
    alias.value_ = value_.share();
    return alias;
}

template <class T>
void SelectedRows<T, Cpu>::swap(SelectedRows& other) noexcept {
    std::swap(height_, other.height_);
    std::swap(merged_, other.merged_);
    rows_.swap(other.rows_);
    value_.swap(other.value_);
}

template <class T>
void SelectedRows<T, Cpu>::check_value(Tensor<T> const& value, std::size_t rows) {
    if (value.dimension() == 0) throw ShapeError("value rank", "0", "at least 1");
    if (value.shape()[0] != rows) {
        throw ShapeError("value.shape(0)", std::to_string(value.shape()[0]),
                         std::to_string(rows) + ", the number of rows");
    }
}

template <class T>
SelectedRows(Height, Ids<>, Tensor<T>) -> SelectedRows<T>;

namespace detail {

/// Access to SelectedRows without validation, for algorithms whose rows are validated or from another SelectedRows.
struct SelectedRowsAccess {
    template <class T>
    static SelectedRows<T> make(std::int64_t height, Ids<> const& rows, Tensor<T> value) {
        return SelectedRows<T>(typename SelectedRows<T>::trusted{}, height, rows, std::move(value));
    }

    /// Makes a SelectedRows of validated rows without copying them.
    template <class T>
    static SelectedRows<T> adopt(std::int64_t height, Tensor<std::int64_t> rows, Tensor<T> value) {
        SelectedRows<T> g;
        g.height_ = height;
        g.rows_ = std::move(rows);
        g.value_ = std::move(value);
        g.merged_ = std::ranges::adjacent_find(g.rows(), std::greater_equal<>{}) == g.rows().end();
        return g;
    }
    /// The same on another device, without reading the rows: the caller states whether they are merged.
    template <class T, class Device>
    static SelectedRows<T, Device> adopt(std::int64_t height, Tensor<std::int64_t, Device> rows,
                                         Tensor<T, Device> value, bool merged) {
        SelectedRows<T, Device> g;
        g.height_ = height;
        g.rows_ = std::move(rows);
        g.value_ = std::move(value);
        g.merged_ = merged;
        return g;
    }
    /// An alias of the rows.
    template <class T>
    static Tensor<std::int64_t> rows(SelectedRows<T> const& g) {
        return g.rows_.share();
    }

    /// Memory for `count` merged rows, that of `g` if it suffices. `g` is unchanged until this memory is written.
    template <class T>
    static SelectedRows<T> room(SelectedRows<T> const& g, std::int64_t height, std::size_t count,
                                typename SelectedRows<T>::shape_type shape) {
        SelectedRows<T> room;
        shape[0] = count;
        room.height_ = height;
        room.rows_ = room_for(g.rows_, {count});
        room.value_ = room_for(g.value_, shape);
        return room;
    }

    /// Copies `rows` to `room`, whose value has been written, and swaps it with `g`.
    template <class T>
    static void move_in(SelectedRows<T>& g, SelectedRows<T>& room, std::span<std::int64_t const> rows) noexcept {
        std::copy(rows.begin(), rows.end(), room.rows_.data());
        g.swap(room);
    }

private:
    template <class T>
    static Tensor<T> room_for(Tensor<T> const& t, typename Tensor<T>::shape_type const& shape) {
        std::size_t const size = checked_size("value", shape, sizeof(T));
        Tensor<T> room;
        room.storage() = t.storage().room(size);
        room.resize(shape);
        return room;
    }
};

}  // namespace detail

ROWAN_TEMPLATE(class SelectedRows<float>)
ROWAN_TEMPLATE(class SelectedRows<double>)

}  // namespace rowan::inline v0
