// rowan/op/loss/hierarchical_softmax.hpp: hierarchical_softmax, a loss of classes that are the leaves of a tree.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/grouped_rows.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/loss/huffman_tree.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The paths of labels.
struct LabelPaths {
    std::vector<std::int64_t> offsets, nodes;
    std::vector<std::uint8_t> codes;

    LabelPaths(HuffmanTree const& tree, Ids<> const& label) {
        offsets.reserve(label.size() + 1);
        offsets.push_back(0);
        label.visit([&](auto const some) {
            for (auto const c : some) {
                auto const path = tree.path(c);
                auto const code = tree.code(c);
                nodes.insert(nodes.end(), path.begin(), path.end());
                codes.insert(codes.end(), code.begin(), code.end());
                offsets.push_back(static_cast<std::int64_t>(nodes.size()));
            }
        });
    }
};

/// A node is a positive target where the path goes on to its first child.
struct FirstChildIsPositive {
    std::uint8_t const* codes;
    TargetLabel operator()(std::size_t k, std::size_t) const {
        return codes[k] == 0 ? TargetLabel::positive : TargetLabel::negative;
    }
};

/// errors   as hierarchical_softmax
template <class T>
TargetGroups<T, std::int64_t> path_groups(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                          HuffmanTree const& tree, Ids<> const& label) {
    auto groups = row_groups<std::int64_t>(exec, x, w);
    if (height_of(w) != tree.nodes())
        throw ShapeError("w.shape(0)", std::to_string(w.shape(0)),
                         std::to_string(tree.nodes()) + ", the nodes of the tree");
    if (label.size() != groups.groups)
        throw ShapeError(
            "label.size()", std::to_string(label.size()),
            std::to_string(groups.groups) + ", one for each " + (x.lod().levels() == 0 ? "row" : "sequence") + " of x");
    check_ids(exec, "label", label, tree.classes());
    return groups;
}

}  // namespace detail

/// For each row x[r], -log of the probability of its label in a tree: Σ log(1 + exp(±x[r] · w[node])) over the nodes on the
/// path to the label, with - where the path goes on to the first child, or the mean or sum of these. If x has levels, label
/// i is that of all rows of sequence i. Morin, Bengio: Hierarchical Probabilistic Neural Network Language Model, 2005.
/// The second result are the slopes of the terms, which the gradients need.
/// shapes   x [n, width], w [tree.nodes(), width], label [n], or with levels [sequences] -> [1], or [n] without reduction,
///          and [number of terms]
/// errors   ShapeError if the shapes do not match; IndexError if a label is not in [0, tree.classes())
/// cost     as negative_sampling, with as many ids as there are nodes on the path: about log2 of the classes
template <class T>
std::tuple<Tensor<T>, Tensor<T>> hierarchical_softmax(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                      HuffmanTree const& tree, std::type_identity_t<Ids<>> label,
                                                      LossOptions const& options = {}) {
    auto groups = detail::path_groups(exec, x, w, tree, label);
    detail::LabelPaths const paths(tree, label);
    groups.targets = paths.offsets.data();
    groups.ids = paths.nodes.data();
    return detail::target_losses(exec, groups, x.value().shape(0), detail::FirstChildIsPositive{paths.codes.data()},
                                 options);
}

/// The gradients of x, and of w with a row for each node of the path of each label.
/// shapes   x, w, label and saved as in hierarchical_softmax, out_grad like the loss -> that of x, and a SelectedRows of
///          the shape of w
/// errors   as hierarchical_softmax; ShapeError if saved or out_grad has another shape
/// cost     as negative_sampling_grad
template <class T>
std::tuple<Tensor<T>, SelectedRows<T>> hierarchical_softmax_grad(Cpu const& exec, LoDTensor<T> const& x,
                                                                 Tensor<T> const& w, HuffmanTree const& tree,
                                                                 std::type_identity_t<Ids<>> label,
                                                                 Tensor<T> const& saved, Tensor<T> const& out_grad,
                                                                 LossOptions const& options = {}) {
    auto groups = detail::path_groups(exec, x, w, tree, label);
    detail::LabelPaths const paths(tree, label);
    groups.targets = paths.offsets.data();
    groups.ids = paths.nodes.data();
    auto [x_grad, rows] = detail::target_gradients(exec, groups, x, w, paths.nodes.size(), saved, out_grad, options);
    return {std::move(x_grad), lookup_table_grad(exec, paths.nodes, std::move(rows), detail::height_of(w))};
}

}  // namespace rowan::inline v0
