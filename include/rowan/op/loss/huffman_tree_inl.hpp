// rowan/op/loss/huffman_tree_inl.hpp: definitions of rowan/op/loss/huffman_tree.hpp.
#pragma once

#include <rowan/op/loss/huffman_tree.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION HuffmanTree::HuffmanTree(std::span<std::int64_t const> counts) {
    std::size_t const n = counts.size();
    if (n == 0) throw ShapeError("counts.size()", "0", "at least 1");
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < n; ++c) {
        if (counts[c] < 0 || counts[c] > std::numeric_limits<std::int64_t>::max() - sum)
            throw ValueError({"counts[", c, "]"}, counts[c], "at least 0, with a sum below 2^63");
        sum += counts[c];
    }
    make_paths(n, make_parents(counts));
}

ROWAN_CALLED_FUNCTION std::pair<std::size_t, std::size_t> HuffmanTree::place(std::int64_t c) const {
    if (c < 0 || c >= classes()) throw IndexError("class", c, classes());
    auto const at = static_cast<std::size_t>(c);
    return {offsets_[at], offsets_[at + 1] - offsets_[at]};
}

ROWAN_CALLED_FUNCTION std::span<std::int64_t const> HuffmanTree::path(std::int64_t c) const {
    auto const [at, size] = place(c);
    return {nodes_.data() + at, size};
}

ROWAN_CALLED_FUNCTION std::span<std::uint8_t const> HuffmanTree::code(std::int64_t c) const {
    auto const [at, size] = place(c);
    return {codes_.data() + at, size};
}

ROWAN_CALLED_FUNCTION auto HuffmanTree::make_parents(std::span<std::int64_t const> counts) -> std::vector<Link> {
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

ROWAN_CALLED_FUNCTION void HuffmanTree::make_paths(std::size_t n, std::vector<Link> const& links) {
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

}  // namespace rowan::inline v0

#endif
