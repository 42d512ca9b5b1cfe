// rowan/op/loss/huffman_tree.hpp: HuffmanTree, a binary tree of classes in which frequent ones are near the root.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A binary tree whose leaves are classes and whose depth, weighed by the counts of the classes, is the least possible:
/// what hierarchical_softmax needs. Huffman: A Method for the Construction of Minimum-Redundancy Codes, 1952.
///
///     counts {5, 2, 1}      path(0) {0}, code(0) {1}      path(1) {0, 1}, code(1) {0, 1}      path(2) {0, 1}, code(2) {0, 0}
///
/// Of equal counts, a leaf comes before an inner node, so that the greatest depth is the least possible, too, and a later
/// class before an earlier one.
class HuffmanTree {
public:
    /// counts[c] is how often class c occurs.
    /// errors   ShapeError without a class; ValueError if a count is negative or their sum is 2^63 or more
    /// cost     O(n log n), and 9 bytes for each node on the path of each class
    ROWAN_IF_CALLED explicit HuffmanTree(std::span<std::int64_t const> counts);

    std::int64_t classes() const noexcept { return static_cast<std::int64_t>(offsets_.size()) - 1; }  ///< the leaves
    std::int64_t nodes() const noexcept { return classes() - 1; }  ///< the inner nodes, of which 0 is the root

    /// The inner nodes from the root to the class.
    /// errors   IndexError if the class is not in [0, classes())
    /// cost     O(1)
    ROWAN_IF_CALLED std::span<std::int64_t const> path(std::int64_t c) const;
    /// At each node of the path, whether it goes on to the second child, of the greater count.
    /// errors   as path
    /// cost     O(1)
    ROWAN_IF_CALLED std::span<std::uint8_t const> code(std::int64_t c) const;

private:
    /// Where an inner node or a class hangs.
    struct Link {
        std::size_t parent;
        bool second;
    };

    /// Where the path of a class is in nodes_ and codes_.
    ROWAN_IF_CALLED std::pair<std::size_t, std::size_t> place(std::int64_t c) const;

    /// The links of n classes and n - 1 inner nodes, in the order in which these are made: the root is the last one.
    ROWAN_IF_CALLED static std::vector<Link> make_parents(std::span<std::int64_t const> counts);

    ROWAN_IF_CALLED void make_paths(std::size_t n, std::vector<Link> const& links);

    std::vector<std::size_t> offsets_;
    std::vector<std::int64_t> nodes_;
    std::vector<std::uint8_t> codes_;
};

}  // namespace rowan::inline v0

#include <rowan/op/loss/huffman_tree_inl.hpp>
