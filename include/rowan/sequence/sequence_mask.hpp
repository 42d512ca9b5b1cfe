// rowan/sequence/sequence_mask.hpp: sequence_mask, a mask of the valid entries of padded sequences.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/on_device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

inline constexpr std::int64_t longest_sequence = std::numeric_limits<std::int64_t>::max();

/// The lengths of a mask where a device needs them. The constructor throws IndexError for a negative length, as far as
/// the host can see it.
template <class D>
class MaskedLengths {
    static_assert(has_backend<D>,
                  "rowan: sequence_mask on a Thrust device needs #include <rowan/thrust/sequence/sequence_mask.hpp>");
};

template <>
class MaskedLengths<Cpu> {
public:
    MaskedLengths(Cpu exec, Ids<> const& lengths) : lengths_(lengths) {
        check_ids(exec, "lengths", lengths, longest_sequence);
    }

    /// The greatest length.
    std::size_t longest(Cpu) const {
        std::int64_t longest = 0;
        for (std::size_t i = 0; i < lengths_.size(); ++i) longest = std::max(longest, lengths_[i]);
        return static_cast<std::size_t>(longest);
    }

    /// Writes the mask of rows of `width` entries.
    void mark(Cpu exec, std::size_t width, bool* mask) const {
        if (width == 0) return;
        parallel_for(exec, lengths_.size(), (std::size_t{1} << 18) / width + 1, [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) {
                std::size_t const length = std::min(static_cast<std::size_t>(lengths_[i]), width);
                std::fill_n(std::fill_n(mask + i * width, length, true), width - length, false);
            }
        });
    }

private:
    Ids<> const& lengths_;
};

}  // namespace detail

/// Entry j of row i is j < lengths[i], for j in [0, max_length). max_length defaults to the greatest length. On a
/// device, lengths in device memory without max_length are copied to the host, which synchronizes; with it, the next
/// synchronize or copy to the host throws the IndexError of a negative one.
/// shapes   lengths of any shape -> lengths.shape + [max_length]
/// errors   IndexError if a length is negative; ShapeError if the result is too large or has more than 8 dims
/// cost     one write of the result
template <device D = Cpu>
Tensor<bool, D> sequence_mask(D const& exec, std::type_identity_t<Ids<D>> lengths,
                              std::optional<std::size_t> max_length = {}) {
    detail::MaskedLengths<D> const masked(exec, lengths);
    auto shape = lengths.shape();
    shape.push_back(max_length ? *max_length : masked.longest(exec));
    auto mask = detail::new_tensor<bool>(exec, shape);
    masked.mark(exec, shape.back(), mask.data());
    return mask;
}

template <device D = Cpu>  // lists are in host memory
Tensor<bool, D> sequence_mask(std::type_identity_t<Ids<D>> lengths, std::optional<std::size_t> max_length = {}) {
    return sequence_mask(D{}, lengths, max_length);
}
template <id_type I, device D>
Tensor<bool, D> sequence_mask(Tensor<I, D> const& lengths, std::optional<std::size_t> max_length = {}) {
    return sequence_mask(lengths.device(), lengths, max_length);
}

}  // namespace rowan::inline v0
