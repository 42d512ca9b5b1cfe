// rowan/op/loss/hierarchical_softmax.hpp: hierarchical_softmax, a loss of classes that are the leaves of a tree.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/grouped_rows.hpp>
#include <rowan/op/loss/class_functions.hpp>
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
TargetGroups<T> path_groups(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w, HuffmanTree const& tree,
                            Ids<> const& label) {
    auto groups = row_groups(exec, x, w);
    if (height_of(w) != tree.nodes())
        throw ShapeError("w.shape(0)", w.shape(0), {tree.nodes(), ", the nodes of the tree"});
    if (label.size() != groups.groups)
        throw ShapeError("label.size()", label.size(),
                         {groups.groups, ", one for each ", x.lod().levels() == 0 ? "row" : "sequence", " of x"});
    check_ids(exec, "label", label, tree.classes());
    return groups;
}

}  // namespace detail

template <>
struct detail::function_of<detail::tree_loss> {
    template <class T>
    static std::tuple<Tensor<T>, Tensor<T>> run(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                HuffmanTree const& tree, Ids<> const& label,
                                                LossOptions const& options) {
        auto groups = path_groups(exec, x, w, tree, label);
        LabelPaths const paths(tree, label);
        groups.targets = paths.offsets.data();
        groups.ids = paths.nodes.data();
        return target_losses(exec, groups, x.value().shape(0), FirstChildIsPositive{paths.codes.data()}, options);
    }

    /// The gradient.
    template <class T>
    static std::tuple<Tensor<T>, SelectedRows<T>> run(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                      HuffmanTree const& tree, Ids<> const& label,
                                                      Tensor<T> const& saved, Tensor<T> const& out_grad,
                                                      LossOptions const& options) {
        auto groups = path_groups(exec, x, w, tree, label);
        LabelPaths const paths(tree, label);
        groups.targets = paths.offsets.data();
        groups.ids = paths.nodes.data();
        auto [x_grad, rows] = target_gradients(exec, groups, x, w, paths.nodes.size(), saved, out_grad, options);
        return {std::move(x_grad), lookup_table_grad(exec, paths.nodes, std::move(rows), height_of(w))};
    }
};

}  // namespace rowan::inline v0
