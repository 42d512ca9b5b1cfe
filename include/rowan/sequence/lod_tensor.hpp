// rowan/sequence/lod_tensor.hpp: LoDTensor<T, Device>, a batch of sequences of different lengths, without padding.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/sub_lod.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The number of levels of a nested list: 0 for a list of numbers, 1 for a list of such lists.
template <class R>
inline constexpr std::size_t list_levels = [] {
    if constexpr (std::ranges::range<std::ranges::range_value_t<R>>) {
        return 1 + list_levels<std::ranges::range_value_t<R>>;
    } else {
        return std::size_t{0};
    }
}();

}  // namespace detail

/// A tensor of rows and a Lod that partitions them into sequences.
///
///     lod {{0, 3, 3, 5}}     value [a b c d e]     stands for   [a b c]  []  [d e]
///
/// The first dim of `value` is the number of rows; with levels, `value` has rank at least 1. A copy is deep; share()
/// returns an alias. The Lod is always in host memory.
template <class T, class Device>
class LoDTensor {
public:
    using value_type = T;
    using shape_type = typename Tensor<T, Device>::shape_type;

    /// No rows, no levels.
    LoDTensor() = default;

    /// A tensor without levels: its rows form no sequences.
    LoDTensor(Tensor<T, Device> value) : value_(std::move(value)) {}

    /// A tensor whose rows form the sequences of `lod`.
    /// shapes   value [n, ...], lod of n rows
    /// errors   ShapeError if value has rank 0 and lod has levels; LodError if the last level does not end with n
    /// cost     O(1); value is copied, or moved unless an error is thrown
    LoDTensor(Tensor<T, Device>&& value, Lod lod) : value_(std::move(value)), lod_(std::move(lod)) {
        try {
            check();
        } catch (...) {
            value = std::move(value_);
            throw;
        }
    }
    LoDTensor(Tensor<T, Device> const& value, Lod lod) : LoDTensor(Tensor<T, Device>(value), std::move(lod)) {}

    // Mistakes, which do not compile.
    template <std::same_as<Tensor<T, Device>> X, std::integral I>
    LoDTensor(X const&, std::initializer_list<I>) {
        static_assert(!std::integral<I>,
                      "rowan::LoDTensor: the offsets of each level are in braces: LoDTensor(value, Lod{{0, 2, 3}})");
    }
    template <std::ranges::range R>
    requires(!xt::is_xexpression<R>::value) explicit LoDTensor(R const&, Lod const& = {}) {
        static_assert(!std::ranges::range<R>,
                      "rowan::LoDTensor: nested lists go to LoDTensor<T>::from_nested(lists), one list of numbers and "
                      "its levels to LoDTensor<T>(Tensor<T>(numbers), lod)");
    }

    /// Concatenates sequences, each given by its rows, into a batch of one level.
    /// shapes   sequences [n_i, ...] -> value [Σ n_i, ...]
    /// errors   ShapeError if a sequence has rank 0 or trailing dims differ; LodError if there are more than 2^63 - 1
    ///          rows
    /// cost     one read and one write of every row, and 24 bytes per sequence
    static LoDTensor from_sequences(std::initializer_list<Tensor<T, Device>> sequences);
    template <std::ranges::forward_range R>
    static LoDTensor from_sequences(R const& sequences);

    /// Makes a batch of numbers from nested lists: `{{1, 2, 3}, {}, {4, 5}}` has one level of three sequences; deeper
    /// ranges have more levels.
    /// shapes   value [total number of elements]
    /// errors   LodError if there are more than Lod::max_levels levels
    /// cost     one write of every element, and one copy to a device
    static LoDTensor from_nested(std::initializer_list<std::vector<T>> lists);
    template <std::ranges::forward_range R>
    static LoDTensor from_nested(R const& lists);

    /// The rows. Elements may be modified. If the number of rows no longer matches the Lod, the next function that
    /// takes the batch throws.
    Tensor<T, Device> const& value() const& noexcept { return value_; }
    Tensor<T, Device>& value() & noexcept { return value_; }
    Tensor<T, Device> value() && noexcept { return std::move(value_); }
    Lod const& lod() const& noexcept { return lod_; }  ///< how the rows form sequences
    Lod lod() && noexcept { return std::move(lod_); }
    shape_type const& shape() const& noexcept { return value_.shape(); }  ///< of the value
    shape_type shape() && noexcept { return value_.shape(); }
    Device device() const noexcept { return value_.device(); }  ///< the execution of calls that are given none

    /// Replaces the Lod. One without levels removes the sequences.
    /// errors   as the constructor; strong exception guarantee
    /// cost     O(1)
    void set_lod(Lod lod);

    /// An alias: the same rows and the same Lod.
    /// errors   none
    /// cost     O(1)
    LoDTensor share() const;

    /// First-level sequences [begin, end), or rows if there are no levels, as an alias.
    /// shapes   [n, ...] -> [rows of these sequences, ...] with as many levels
    /// errors   IndexError unless begin <= end <= size(); ShapeError for rank 0
    /// cost     O(offsets of the result); no rows are copied
    LoDTensor slice(std::size_t begin, std::size_t end) const;

    /// The number of first-level sequences, or of rows if there are no levels.
    /// errors   ShapeError if there are no levels and the value has rank 0
    /// cost     O(1)
    std::size_t size() const;

    /// Converts to the tensor of the rows. The conversion of an rvalue also removes the levels.
    /// requires   a reference must be bound to a named batch: `Tensor<float> const& rows = steps.read(t);` dangles,
    ///            because read returns a temporary; `Tensor<float> rows = steps.read(t);` is correct and makes an alias
    operator Tensor<T, Device> const&() const& noexcept { return value_; }
    operator Tensor<T, Device>&() & noexcept { return value_; }
    operator Tensor<T, Device>&&() && noexcept {
        lod_ = Lod();
        return std::move(value_);
    }

    /// True if sequences and rows are equal.
    friend bool operator==(LoDTensor const& a,
                           LoDTensor const& b) requires std::equality_comparable<Tensor<T, Device>> {
        return a.lod_ == b.lod_ && a.value_ == b.value_;
    }

    /// Repeats the checks of the constructor.
    /// errors   LodError or ShapeError as the constructor
    /// cost     O(1)
    void check() const;

private:
    template <class R>
    static void flatten(R const& lists, std::vector<std::int64_t>* lengths, std::vector<T>& flat);

    Tensor<T, Device> value_;
    Lod lod_;
};

namespace detail {

/// The device of the first of several `X`; `tensors` are these or references to them.
template <class X, class R>
auto device_of_first(R const& tensors) {
    auto const first = std::ranges::begin(tensors);
    return first == std::ranges::end(tensors) ? decltype(std::declval<X>().device()){}
                                              : static_cast<X const&>(*first).device();
}

}  // namespace detail

template <class T, class Device>
auto LoDTensor<T, Device>::from_sequences(std::initializer_list<Tensor<T, Device>> sequences) -> LoDTensor {
    return from_sequences(std::span(sequences.begin(), sequences.size()));
}

template <class T, class Device>
template <std::ranges::forward_range R>
auto LoDTensor<T, Device>::from_sequences(R const& sequences) -> LoDTensor {
    using Reference = std::ranges::range_reference_t<R const>;
    constexpr bool stay =
        std::is_lvalue_reference_v<Reference> && std::same_as<std::remove_cvref_t<Reference>, Tensor<T, Device>>;
    std::vector<std::int64_t> lengths;
    std::vector<T const*> data;
    std::vector<Tensor<T, Device>> kept;  // tensors that the range makes as it goes
    shape_type shape{0};
    Device exec{};
    for (Tensor<T, Device> const& s : sequences) {
        std::string const name = detail::element_name("sequences", lengths.size());
        detail::check_rows(name.c_str(), s);
        if (lengths.empty()) {
            shape = s.shape();
            exec = s.device();
        }
        detail::check_usable(exec, s);
        detail::check_trailing(name.c_str(), s, shape);
        lengths.push_back(static_cast<std::int64_t>(s.shape()[0]));
        data.push_back(s.data());
        if constexpr (!stay) kept.push_back(s.share());
    }
    auto lod = detail::level_of_lengths(lengths);
    shape[0] = static_cast<std::size_t>(lod.rows());
    auto value = detail::new_tensor<T>(exec, shape);
    std::size_t const width = value.row_size();
    detail::copy_blocks(
        exec, lod[0], width * sizeof(T), [&](std::size_t i) { return data[i]; },
        detail::blocks_at(value.data(), lod[0], width));
    return {std::move(value), std::move(lod)};
}

template <class T, class Device>
auto LoDTensor<T, Device>::from_nested(std::initializer_list<std::vector<T>> lists) -> LoDTensor {
    return from_nested(std::span(lists.begin(), lists.size()));
}

template <class T, class Device>
template <std::ranges::forward_range R>
auto LoDTensor<T, Device>::from_nested(R const& lists) -> LoDTensor {
    static_assert(std::ranges::range<std::ranges::range_value_t<R>>,
                  "rowan::LoDTensor::from_nested: takes lists of lists");
    std::vector<std::vector<std::int64_t>> lengths(detail::list_levels<R>);
    std::vector<T> flat;
    flatten(lists, lengths.data(), flat);
    auto value = Tensor<T>::from_shape({flat.size()});
    for (std::size_t i = 0; i < flat.size(); ++i) value.data()[i] = flat[i];
    return {to_device(Device{}, std::move(value)), detail::levels_of_lengths(lengths)};
}

template <class T, class Device>
void LoDTensor<T, Device>::set_lod(Lod lod) {
    LoDTensor(value_.share(), lod);
    lod_ = std::move(lod);
}

template <class T, class Device>
auto LoDTensor<T, Device>::share() const -> LoDTensor {
    LoDTensor alias(value_.share());
    alias.lod_ = lod_;
    return alias;
}

template <class T, class Device>
auto LoDTensor<T, Device>::slice(std::size_t begin, std::size_t end) const -> LoDTensor {
    if (lod_.empty()) return value_.slice(begin, end);
    check();
    auto part = sub_lod(lod_, 0, begin, end);
    return {value_.slice(static_cast<std::size_t>(part.row_begin), static_cast<std::size_t>(part.row_end)),
            std::move(part.lod)};
}

template <class T, class Device>
std::size_t LoDTensor<T, Device>::size() const {
    if (!lod_.empty()) return lod_.sequences(0);
    detail::check_rows("value", value_);
    return value_.shape()[0];
}

template <class T, class Device>
void LoDTensor<T, Device>::check() const {
    if (lod_.empty()) return;
    detail::check_rows("value", value_);
    lod_.check_rows(value_.shape()[0]);
}

template <class T, class Device>
template <class R>
void LoDTensor<T, Device>::flatten(R const& lists, std::vector<std::int64_t>* lengths, std::vector<T>& flat) {
    for (auto const& list : lists) {
        lengths->push_back(static_cast<std::int64_t>(std::ranges::distance(list)));
        if constexpr (detail::list_levels < R >> 1) {
            flatten(list, lengths + 1, flat);
        } else {
            for (T x : list) flat.push_back(x);
        }
    }
}

ROWAN_TEMPLATE(class LoDTensor<float>)
ROWAN_TEMPLATE(class LoDTensor<std::int64_t>)

}  // namespace rowan::inline v0
