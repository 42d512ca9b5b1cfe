// rowan/sequence/lod_tensor.hpp: LoDTensor<T, Device>, a batch of sequences of different lengths, without padding.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/lod.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// How many levels of sequences a list has: 0 for a list of numbers, 1 for a list of those.
template <class R>
inline constexpr std::size_t list_levels = [] {
    if constexpr (std::ranges::range<std::ranges::range_value_t<R>>) {
        return 1 + list_levels<std::ranges::range_value_t<R>>;
    } else {
        return std::size_t{0};
    }
}();

}  // namespace detail

/// The rows of a batch one after the other, and a Lod that cuts them into sequences.
///
///     lod {{0, 3, 3, 5}}     value [a b c d e]     stands for   [a b c]  []  [d e]
///
/// `value` may have any rank from 1 on where there are levels; its first dim counts the rows. A copy is deep; share() sees the same rows.
/// The Lod stays in the memory of the host, wherever the rows are.
template <class T, class Device>
class LoDTensor {
public:
    using value_type = T;
    using shape_type = typename Tensor<T, Device>::shape_type;

    /// No rows, no levels.
    LoDTensor() = default;

    /// A tensor whose rows form no sequences.
    LoDTensor(Tensor<T, Device> value) : value_(std::move(value)) {}

    /// shapes   value [n, ...], lod of n rows
    /// errors   ShapeError if value has rank 0 and there are levels; LodError if the last level does not end with n
    /// cost     O(1); the value is taken over
    LoDTensor(Tensor<T, Device> value, Lod lod) : value_(std::move(value)), lod_(std::move(lod)) { check(); }

    /// One level of sequences, each given by its rows.
    /// shapes   sequences [n_i, ...] -> value [Σ n_i, ...]
    /// errors   ShapeError if one has rank 0 or trailing dims differ; LodError if there are more than 2^63 - 1 rows
    /// cost     one read and one write of every row, and 16 bytes for each sequence
    static LoDTensor from_sequences(std::initializer_list<Tensor<T, Device>> sequences);
    template <std::ranges::forward_range R>
    static LoDTensor from_sequences(R const& sequences);

    /// Lists within lists: `{{1, 2, 3}, {}, {4, 5}}` is one level of three sequences of numbers, deeper ranges give more levels.
    /// shapes   value [number of elements in all]
    /// errors   LodError if there are more than Lod::max_levels
    /// cost     one write of every element, and one copy to a device
    static LoDTensor from_nested(std::initializer_list<std::vector<T>> lists);
    template <std::ranges::forward_range R>
    static LoDTensor from_nested(R const& lists);

    /// The rows. Their numbers may be changed; whoever changes their count gets an error from the next function.
    Tensor<T, Device> const& value() const noexcept { return value_; }
    Tensor<T, Device>& value() noexcept { return value_; }
    Lod const& lod() const noexcept { return lod_; }                     ///< how the rows form sequences
    shape_type const& shape() const noexcept { return value_.shape(); }  ///< of the value

    /// Other sequences of the same rows; no levels drops them.
    /// errors   as the constructor, with the tensor as it was
    /// cost     O(1)
    void set_lod(Lod lod);

    /// An alias: the same rows and sequences.
    /// errors   none
    /// cost     O(1)
    LoDTensor share() const;

    /// How many sequences the first level has, or rows where there are no levels.
    /// errors   ShapeError if there are no levels and the value has rank 0
    /// cost     O(1)
    std::size_t size() const;

    /// Where a tensor is wanted, its rows are. Who takes them from a batch that goes leaves it without levels.
    /// requires   a name for the batch where a reference is kept: `Tensor<float> const& rows = steps.read(t);` refers to nothing, as the
    ///            batch that read returns is gone; `Tensor<float> rows = steps.read(t);` is right, and an alias
    operator Tensor<T, Device> const&() const& noexcept { return value_; }
    operator Tensor<T, Device>&() & noexcept { return value_; }
    operator Tensor<T, Device>&&() && noexcept {
        lod_ = Lod();
        return std::move(value_);
    }

    /// The same sequences and equal rows.
    friend bool operator==(LoDTensor const& a, LoDTensor const& b) requires detail::is_cpu<Device> {
        return a.lod_ == b.lod_ && a.value_ == b.value_;
    }

    /// Asks again what the constructor asked.
    /// errors   LodError or ShapeError as the constructor
    /// cost     O(1)
    void check() const;

private:
    template <class R>
    static void flatten(R const& lists, std::vector<std::int64_t>* lengths, std::vector<T>& flat);

    Tensor<T, Device> value_;
    Lod lod_;
};

template <class T, class Device>
auto LoDTensor<T, Device>::from_sequences(std::initializer_list<Tensor<T, Device>> sequences) -> LoDTensor {
    return from_sequences(std::span(sequences.begin(), sequences.size()));
}

template <class T, class Device>
template <std::ranges::forward_range R>
auto LoDTensor<T, Device>::from_sequences(R const& sequences) -> LoDTensor {
    std::vector<std::int64_t> lengths;
    shape_type shape{0};
    Device exec{};
    for (Tensor<T, Device> const& s : sequences) {
        std::string name = "sequences[";
        name.append(std::to_string(lengths.size())).append("]");
        detail::check_rows(name.c_str(), s);
        if (lengths.empty()) {
            shape = s.shape();
            exec = detail::exec_of(s);
        }
        detail::check_trailing(name.c_str(), s, shape);
        lengths.push_back(static_cast<std::int64_t>(s.shape()[0]));
    }
    auto lod = Lod::from_lengths({lengths});
    shape[0] = static_cast<std::size_t>(lod.rows());
    auto value = detail::new_tensor<T>(exec, shape);
    if constexpr (detail::is_cpu<Device>) {
        T* to = value.data();
        for (Tensor<T, Device> const& s : sequences) to = std::copy_n(s.data(), s.size(), to);
    } else {
        std::vector<Tensor<T, Device>> parts;
        for (Tensor<T, Device> const& s : sequences) parts.push_back(s.share());
        std::size_t const width = value.row_size();
        detail::copy_blocks(
            exec, lod[0], width * sizeof(T), [&](std::size_t i) { return parts[i].data(); },
            [&, to = value.data()](std::size_t i) { return to + static_cast<std::size_t>(lod[0][i]) * width; });
    }
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
    std::copy(flat.begin(), flat.end(), value.data());
    return {detail::placed(Device{}, std::move(value)), Lod::from_lengths(lengths)};
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
ROWAN_TEMPLATE(class LoDTensor<double>)
ROWAN_TEMPLATE(class LoDTensor<std::int32_t>)
ROWAN_TEMPLATE(class LoDTensor<std::int64_t>)
ROWAN_TEMPLATE(class LoDTensor<bool>)

}  // namespace rowan::inline v0
