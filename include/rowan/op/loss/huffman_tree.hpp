// rowan/op/loss/huffman_tree.hpp: HuffmanTree, a binary tree of classes in which frequent ones are near the root.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/op/loss/declared.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
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
    explicit HuffmanTree(std::span<std::int64_t const> counts) {
        std::size_t const n = counts.size();
        if (n == 0) throw ShapeError("counts.size()", "0", "at least 1");
        std::int64_t sum = 0;
        for (std::size_t c = 0; c < n; ++c) {
            if (counts[c] < 0 || counts[c] > std::numeric_limits<std::int64_t>::max() - sum)
                throw ValueError("counts[" + std::to_string(c) + "]", counts[c], "at least 0, with a sum below 2^63");
            sum += counts[c];
        }
        make_paths(n, make_parents(counts));
    }

    std::int64_t classes() const noexcept { return static_cast<std::int64_t>(offsets_.size()) - 1; }  ///< the leaves
    std::int64_t nodes() const noexcept { return classes() - 1; }  ///< the inner nodes, of which 0 is the root

    /// The inner nodes from the root to the class.
    /// errors   IndexError if the class is not in [0, classes())
    /// cost     O(1)
    std::span<std::int64_t const> path(std::int64_t c) const { return part(nodes_, c); }
    /// At each node of the path, whether it goes on to the second child, of the greater count.
    /// errors   as path
    /// cost     O(1)
    std::span<std::uint8_t const> code(std::int64_t c) const { return part(codes_, c); }

private:
    /// Where an inner node or a class hangs.
    struct Link {
        std::size_t parent;
        bool second;
    };

    template <class X>
    std::span<X const> part(std::vector<X> const& all, std::int64_t c) const {
        if (c < 0 || c >= classes()) throw IndexError("class", c, classes());
        auto const at = static_cast<std::size_t>(c);
        return std::span<X const>(all).subspan(offsets_[at], offsets_[at + 1] - offsets_[at]);
    }

    /// The links of n classes and n - 1 inner nodes, in the order in which these are made: the root is the last one.
    static std::vector<Link> make_parents(std::span<std::int64_t const> counts) {
        std::size_t const n = counts.size();
        std::vector<std::size_t> leaves(n);
        std::iota(leaves.begin(), leaves.end(), std::size_t{0});
        std::sort(leaves.begin(), leaves.end(),
                  [&](std::size_t a, std::size_t b) { return counts[a] != counts[b] ? counts[a] < counts[b] : a > b; });
        std::vector<std::int64_t> inner;
        inner.reserve(n);
        std::vector<Link> links(2 * n - 1);
        std::size_t leaf = 0, node = 0;
        while (inner.size() + 1 < n) {
            std::int64_t sum = 0;
            for (bool const second : {false, true}) {
                bool const is_leaf = leaf < n && (node == inner.size() || counts[leaves[leaf]] <= inner[node]);
                sum += is_leaf ? counts[leaves[leaf]] : inner[node];
                links[is_leaf ? leaves[leaf++] : n + node++] = {inner.size(), second};
            }
            inner.push_back(sum);
        }
        return links;
    }

    void make_paths(std::size_t n, std::vector<Link> const& links) {
        std::size_t const root = n - 2;
        std::vector<std::size_t> depth(n);  // of inner nodes; a root is at 0
        for (std::size_t k = root; n > 1 && k-- > 0;) depth[k] = depth[links[n + k].parent] + 1;
        offsets_.assign(n + 1, 0);
        for (std::size_t c = 0; c < n; ++c) offsets_[c + 1] = offsets_[c] + (n == 1 ? 0 : depth[links[c].parent] + 1);
        nodes_.resize(offsets_[n]);
        codes_.resize(offsets_[n]);
        for (std::size_t c = 0; c < n && n > 1; ++c) {
            Link link = links[c];
            for (std::size_t at = offsets_[c + 1]; at-- > offsets_[c]; link = links[n + link.parent]) {
                nodes_[at] = static_cast<std::int64_t>(root - link.parent);
                codes_[at] = link.second ? 1 : 0;
            }
        }
    }

    std::vector<std::size_t> offsets_;
    std::vector<std::int64_t> nodes_;
    std::vector<std::uint8_t> codes_;
};

}  // namespace rowan::inline v0
