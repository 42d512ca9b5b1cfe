// rowan/detail/tree_sum.hpp: TreeSum, the sum of parts in an order that may be cut onto ranks anywhere.
#pragma once

#include <rowan/core/detail/storage.hpp>
#include <rowan/detail/lanes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

/// What code that is compiled once for all element types must know of one to add up its sums.
struct ElementSums {
    std::size_t bytes;                                                 // of an element
    std::size_t sum_bytes;                                             // of a dtype<T>::sum
    void (*add)(std::size_t n, std::byte const* from, std::byte* to);  // sums: to += from
    void (*narrow)(std::size_t n, std::byte const* from,
                   std::byte* to);  // sums to elements; null if these are the same
};

template <class T>
constexpr ElementSums element_sums() {
    using S = sum_t<T>;
    static_assert(std::is_trivially_copyable_v<S>,
                  "rowan::dtype<T>::sum must be trivially copyable: sums of parts travel as bytes");
    ElementSums type{sizeof(T), sizeof(S),
                     [](std::size_t n, std::byte const* from, std::byte* to) {
                         for_lanes<S>(add_lanes{}, n, reinterpret_cast<S const*>(from), reinterpret_cast<S*>(to));
                     },
                     nullptr};
    if constexpr (!std::is_same_v<T, S>) {
        type.narrow = [](std::size_t n, std::byte const* from, std::byte* to) {
            copy_lanes<S>(n, reinterpret_cast<S const*>(from), reinterpret_cast<T*>(to));
        };
    }
    return type;
}

/// Parts are the leaves of a binary tree: two neighbours k and k + 1 of one level, k even, have one parent. If one
/// child has a sum, it is the parent's. So a rank may add up what is under a node of which it has all parts.
///
///     parts   0   1   2   3   4         (0 + 1) + (2 + 3), + 4
///              \ /     \ /   /
///               +-------+   /
///                    \-----/
class TreeSum {
public:
    /// Of `n` elements each; keys are at most `last_key`.
    ROWAN_IF_CALLED TreeSum(ElementSums const& type, std::size_t n, std::int64_t last_key);

    /// Begins a sum that is written to `out`.
    void begin(std::byte* out) {
        depth_ = 0;
        out_ = out;
    }
    /// Adds the sum of the next node; `key` is the first part of it. Keys ascend.
    /// requires   the memory of `sum` remains until `end`
    ROWAN_IF_CALLED void add(std::int64_t key, std::byte const* sum);
    ROWAN_IF_CALLED void end();

private:
    std::byte* slot(std::size_t i) { return i == 0 ? out_ : sums_.data() + (i - 1) * bytes_; }
    ROWAN_IF_CALLED void fold(int below);

    ElementSums type_;
    std::size_t n_, bytes_, depth_ = 0;
    std::byte* out_ = nullptr;
    Storage<std::byte> sums_;
    std::array<std::byte const*, 66> at_{};  // the sum of each node that waits for its neighbour
    std::array<std::int64_t, 66> key_{};
    std::array<int, 66> level_{};  // where it meets the one before it
};

/// The greatest nodes of which parts [begin, end) of all `total` parts are all the leaves: their ends, ascending. The
/// last may end after the last part.
ROWAN_IF_CALLED std::vector<std::int64_t> whole_nodes(std::int64_t begin, std::int64_t end, std::int64_t total);

/// The first part of each of them.
ROWAN_IF_CALLED std::vector<std::int64_t> firsts_of_nodes(std::int64_t begin, std::int64_t end, std::int64_t total);

/// The node, an index of `ends`, of a part.
ROWAN_IF_CALLED std::size_t node_of(std::span<std::int64_t const> ends, std::int64_t part);

}  // namespace rowan::inline v0::detail

#include <rowan/detail/tree_sum_inl.hpp>
