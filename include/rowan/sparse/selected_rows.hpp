// rowan/sparse/selected_rows.hpp: SelectedRows, a row-sparse tensor.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/on_device.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

struct SelectedRowsAccess;

/// How the row numbers of a SelectedRows are made and read.
template <class D>
struct RowNumbers {
    static_assert(has_backend<D>,
                  "rowan::SelectedRows: a Thrust device needs #include <rowan/thrust/sparse/selected_rows.hpp>");
};

template <>
struct RowNumbers<Cpu> {
    using View = std::span<std::int64_t const>;
    static View view(Tensor<std::int64_t> const& rows) noexcept { return {rows.data(), rows.size()}; }
    ROWAN_IF_CALLED static KeptSpan<std::int64_t const> kept(Tensor<std::int64_t> const& rows) noexcept;

    ROWAN_IF_CALLED static Tensor<std::int64_t> copy(Ids<> const& ids);
    /// A copy of ids in [0, height).
    ROWAN_IF_CALLED static Tensor<std::int64_t> checked(Cpu exec, char const* field, Ids<> const& ids,
                                                        std::int64_t height);
    ROWAN_IF_CALLED static Tensor<std::int64_t> shared(Tensor<std::int64_t> const& rows);

    /// Whether rows are seen to be ascending and unique. Rows in the memory of other devices are not read.
    ROWAN_IF_CALLED static bool merged(Tensor<std::int64_t> const& rows);
};

}  // namespace detail

/// A row-sparse tensor of `height` rows, for example the gradient of a table of which a batch used few rows.
///
///     height 6    rows  [4 1 4]      value [1 2]     represents   0: [0 0]
///                                          [3 4]                  1: [3 4]
///                                          [5 6]                  4: [6 8]   duplicates are summed
///
/// Rows may be in any order and may repeat. `value` has rank 1 or more; its first dim is the number of rows.
template <class T, class D>
class SelectedRows {
    static_assert(detail::is_element<T>(), "rowan::SelectedRows<T>: specialize rowan::dtype<T> for this element type");
    using Numbers = detail::RowNumbers<D>;

public:
    using Device = D;
    using value_type = T;
    using shape_type = typename Tensor<T, D>::shape_type;

    /// An object without rows, of height 0.
    SelectedRows() = default;

    /// Row rows[i] of the represented tensor has the value value[i].
    /// shapes   rows [n], value [n, ...]
    /// errors   ShapeError if height is negative, rows are not a flat list, value has rank 0 or not n rows;
    ///          IndexError if a row is not in [0, height): for rows in device memory, unless height is 0, thrown by the
    ///          next synchronize or copy to the host
    /// cost     O(n); the rows are copied; the value is copied, or moved unless an error is thrown
    SelectedRows(D const& exec, Height height, Ids<D> rows, Tensor<T, D>&& value);
    SelectedRows(D const& exec, Height height, Ids<D> rows, Tensor<T, D> const& value)
        : SelectedRows(exec, height, rows, Tensor<T, D>(value)) {}
    SelectedRows(Height height, Ids<D> rows, Tensor<T, D>&& value)
        : SelectedRows(value.device(), height, rows, std::move(value)) {}
    SelectedRows(Height height, Ids<D> rows, Tensor<T, D> const& value)
        : SelectedRows(value.device(), height, rows, Tensor<T, D>(value)) {}

    // Mistakes, which do not compile.
    template <class R>
    requires(!std::integral<T> && std::integral<typename R::value_type>)
        SelectedRows(Height, Tensor<T, D> const&, R const&) {
        static_assert(!std::integral<typename R::value_type>,
                      "rowan::SelectedRows: the rows come before the value: SelectedRows<T>(height, rows, value)");
    }
    template <detail::numbers_for<T> V>
    SelectedRows(Height, Ids<D> const&, V const&) {
        static_assert(!detail::numbers_for<V, T>,
                      "rowan::SelectedRows: the value is a Tensor: Tensor<T>::from_values({rows, width}, values)");
    }
    template <class R>
    requires std::integral<typename R::value_type> SelectedRows(R const&, Tensor<T, D> const&) {
        static_assert(!std::integral<typename R::value_type>,
                      "rowan::SelectedRows: the height of the table comes first: SelectedRows<T>(height, rows, value)");
    }

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
    /// The row numbers, one for each row of value(): a span on the host, a Tensor in the memory of other devices. Code
    /// that modifies them through an alias must keep them in [0, height) and, if merged(), ascending and unique.
    typename Numbers::View rows() const& noexcept { return Numbers::view(rows_); }
    auto rows() && noexcept { return Numbers::kept(rows_); }  ///< they outlive this object

    /// Row i of the value belongs to row rows()[i] of the represented tensor. The elements may be modified; if the
    /// first dim is changed, the next function that takes this object throws ShapeError.
    Tensor<T, D> const& value() const& noexcept { return value_; }
    Tensor<T, D>& value() & noexcept { return value_; }
    Tensor<T, D> value() && noexcept { return std::move(value_); }

    /// The execution of calls that are given none: where the value was made.
    D device() const noexcept { return value_.device(); }

    /// The shape of the represented tensor, [height, ...].
    /// errors   ShapeError if the value has been given rank 0
    /// cost     O(1)
    shape_type shape() const;

    /// Whether the rows are ascending and unique. Rows in device memory are not inspected: false if it is not known.
    bool merged() const noexcept { return merged_ || rows_.size() == 0; }

    /// An alias: of the value, and of the rows in device memory; the rows on the host are copied.
    /// errors   std::bad_alloc
    /// cost     O(rows) on the host: row numbers are copied, elements are not; O(1) on other devices
    SelectedRows share() const;

    /// The number of elements per row.
    std::size_t row_size() const noexcept { return value_.row_size(); }

    void swap(SelectedRows& other) noexcept;

    /// Whether heights, rows in order and values are equal. Unequal objects may represent the same tensor.
    friend bool operator==(SelectedRows const& a, SelectedRows const& b) requires std::same_as<D, Cpu> {
        return a.height_ == b.height_ && std::ranges::equal(a.rows(), b.rows()) && a.value_ == b.value_;
    }

    /// Checks that a value has `rows` rows, as in the constructor. Functions that use a value repeat this check.
    /// errors   ShapeError if value has rank 0 or another number of rows
    /// cost     O(1)
    static void check_value(Tensor<T, D> const& value, std::size_t rows);

private:
    friend struct detail::SelectedRowsAccess;

    std::int64_t height_ = 0;
    bool merged_ = true;
    Tensor<std::int64_t, D> rows_;
    Tensor<T, D> value_;
};

template <class T>
SelectedRows(Height, Ids<>, Tensor<T>) -> SelectedRows<T>;

/// Aliases of a SelectedRows that is in host memory already. On a device, `to_device` and `to_host` copy it.
/// shapes   the same
/// errors   std::bad_alloc
/// cost     as SelectedRows::share
template <class T>
SelectedRows<T> to_device(Cpu const&, SelectedRows<T> const& x) {
    return x.share();
}
template <class T>
SelectedRows<T> to_host(SelectedRows<T> const& x) {
    return x.share();
}

namespace detail {

/// Access to SelectedRows without validation, for algorithms whose rows are validated or from another SelectedRows.
struct SelectedRowsAccess {
    template <class T>
    static SelectedRows<T> make(std::int64_t height, Ids<> const& rows, Tensor<T> value) {
        return adopt(height, RowNumbers<Cpu>::copy(rows), std::move(value));
    }

    /// Makes a SelectedRows of validated rows without copying them.
    template <class T, class D>
    static SelectedRows<T, D> adopt(std::int64_t height, Tensor<std::int64_t, D> rows, Tensor<T, D> value,
                                    bool merged = false) {
        SelectedRows<T, D> g;
        g.height_ = height;
        g.merged_ = merged || RowNumbers<D>::merged(rows);
        g.rows_ = std::move(rows);
        g.value_ = std::move(value);
        return g;
    }
    /// An alias of the rows.
    template <class T, class D>
    static Tensor<std::int64_t, D> rows(SelectedRows<T, D> const& g) {
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

template <class T, class D>
SelectedRows<T, D>::SelectedRows(D const& exec, Height height, Ids<D> rows, Tensor<T, D>&& value) {
    if (rows.shape().size() != 1) throw ShapeError("rows rank", rows.shape().size(), "1");
    check_value(value, rows.size());
    detail::check_usable(exec, value);
    rows_ = Numbers::checked(exec, "rows", rows, height);
    merged_ = Numbers::merged(rows_);
    height_ = height;
    value_ = std::move(value);  // last: it remains the caller's if an error is thrown
}

template <class T, class D>
auto SelectedRows<T, D>::shape() const -> shape_type {
    if (value_.dimension() == 0) throw ShapeError("value rank", "0", "at least 1");
    shape_type shape = value_.shape();
    shape[0] = static_cast<std::size_t>(height_);
    return shape;
}

template <class T, class D>
auto SelectedRows<T, D>::share() const -> SelectedRows {
    return detail::SelectedRowsAccess::adopt(height_, Numbers::shared(rows_), value_.share(), merged_);
}

template <class T, class D>
void SelectedRows<T, D>::swap(SelectedRows& other) noexcept {
    std::swap(height_, other.height_);
    std::swap(merged_, other.merged_);
    rows_.swap(other.rows_);
    value_.swap(other.value_);
}

template <class T, class D>
void SelectedRows<T, D>::check_value(Tensor<T, D> const& value, std::size_t rows) {
    if (value.dimension() == 0) throw ShapeError("value rank", "0", "at least 1");
    if (value.shape()[0] != rows) {
        throw ShapeError("value.shape(0)", value.shape()[0], {rows, ", the number of rows"});
    }
}

ROWAN_TEMPLATE(class SelectedRows<float>)

}  // namespace rowan::inline v0

#include <rowan/sparse/selected_rows_inl.hpp>
