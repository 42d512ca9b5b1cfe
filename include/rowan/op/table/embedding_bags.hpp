// rowan/op/table/embedding_bags.hpp: embedding_bags, the pooled rows of many tables side by side.
#pragma once

#include <rowan/op/detail/table_bags.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// embedding_bags, without weights if the pointer is null.
template <class T, class I, class D>
Tensor<T, D> pooled_tables(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
                           Tensor<T, D> const* weight, Pooling pool) {
    TableBags<T, I, D> all(exec, tables, ids, weight, pool);
    auto out = new_tensor<T>(exec, {all.batch(), all.width()});
    TableBagLookups<D>::lookup(exec, all, out);
    return out;
}

}  // namespace detail

/// Pools the rows of bags of ids in several tables, and puts those of one example side by side:
///
///     tables [h0, 2], [h1, 3], batch of 2:   bags of ids  t0b0 t0b1 t1b0 t1b1   ->   row 0  t0b0 t0b0 t1b0 t1b0 t1b0
///                                                                                    row 1  t0b1 t0b1 t1b1 t1b1 t1b1
///
/// Ids are in the layout of TorchRec's KeyedJaggedTensor (values and lengths) and of FBGEMM: first the bags of table 0;
/// see join_bags. An id of -1, as of a row that was pruned or of an unknown key, is no part of its bag, and neither is
/// its weight. The row of an empty bag is 0. Bits are those of embedding_bag for each table.
/// shapes   tables [h, ...], ids [n] with one level of bags, as many for each table, weight [n] -> [batch, sum of the
///          widths]
/// errors   ShapeError if there is no table, or the number of bags is not a multiple of theirs, or as embedding_bag;
///          IndexError if an id is not in [-1, h) of its table; ValueError if pool is not sum, mean, sqrt or max
/// cost     one read of a table row for each id and one write of the result; all tables and bags are divided among
///          threads; on the host a copy of the ids if one is -1
template <class T, id_type I, device D>
Tensor<T, D> embedding_bags(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
                            Pooling pool = Pooling::sum) {
    Tensor<T, D> const* const none = nullptr;
    return detail::pooled_tables(exec, tables, ids, none, pool);
}
template <class T, id_type I, device D>
Tensor<T, D> embedding_bags(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
                            std::type_identity_t<Tensor<T, D>> const& weight, Pooling pool = Pooling::sum) {
    return detail::pooled_tables(exec, tables, ids, &weight, pool);
}
template <class T, id_type I, class Device>
Tensor<T, Device> embedding_bags(std::span<Tensor<T, Device> const> tables, LoDTensor<I, Device> const& ids,
                                 Pooling pool = Pooling::sum) {
    return embedding_bags(ids.device(), tables, ids, pool);
}
template <class T, id_type I, class Device>
Tensor<T, Device> embedding_bags(std::span<Tensor<T, Device> const> tables, LoDTensor<I, Device> const& ids,
                                 std::type_identity_t<Tensor<T, Device>> const& weight, Pooling pool = Pooling::sum) {
    return embedding_bags(ids.device(), tables, ids, weight, pool);
}

/// The gradient of each table, with the bits of embedding_bag_grad. To train tables without it, see update_bags.
/// shapes   out_grad of the shape that embedding_bags returns -> for each table a SelectedRows of its shape, with a row
///          for each of its ids that is not -1
/// errors   as embedding_bags; ShapeError if out_grad has another shape
/// cost     that of embedding_bag_grad for each table, and a copy of out_grad; a Thrust device synchronizes
template <class T, id_type I, device D>
std::vector<SelectedRows<T, D>> embedding_bags_grad(D const& exec, std::span<Tensor<T, D> const> tables,
                                                    LoDTensor<I, D> const& ids,
                                                    std::type_identity_t<Tensor<T, D>> const& out_grad,
                                                    Pooling pool = Pooling::sum) {
    Tensor<T, D> const* const none = nullptr;
    detail::TableBags<T, I, D> all(exec, tables, ids, none, pool);
    all.check_grad(out_grad);
    detail::ElementLoops<D>::check(exec, out_grad);
    all.keep_known(exec);
    return all.grads(exec, out_grad);
}

/// The gradients of the tables and of the weights of their ids, which are 0 for ids of -1.
/// shapes   out_grad of the shape that embedding_bags returns -> for each table a SelectedRows of its shape; [n]
/// errors   as embedding_bags with weights; ShapeError if out_grad has another shape
/// cost     that without weights, and two reads of a table row for each id
template <class T, id_type I, device D>
std::tuple<std::vector<SelectedRows<T, D>>, Tensor<T, D>> embedding_bags_grad(
    D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
    std::type_identity_t<Tensor<T, D>> const& weight, std::type_identity_t<Tensor<T, D>> const& out_grad,
    Pooling pool = Pooling::sum) {
    detail::TableBags<T, I, D> all(exec, tables, ids, &weight, pool);
    all.check_grad(out_grad);
    detail::ElementLoops<D>::check(exec, out_grad, weight);
    all.keep_known(exec);
    auto weight_grad = Tensor<T, D>::zeros(exec, {all.ids().value().size()});
    auto grads = all.grads(exec, out_grad, &weight_grad);
    if (all.kept()) {
        auto whole = Tensor<T, D>::zeros(exec, weight.shape());
        detail::put_rows(exec, weight_grad.size(), 1, weight_grad.data(), all.kept()->data(), whole.data());
        weight_grad = std::move(whole);
    }
    return {std::move(grads), std::move(weight_grad)};
}

/// See embedding_bags. The slot `w` holds all tables as a std::vector.
struct embedding_bags_op : detail::declared<embedding_bags_op> {
    using grad = gradient<embedding_bags_op, uses<slot::w, slot::ids, grad_of<slot::out>>, makes<grad_of<slot::w>>>;

    static constexpr VarSpec infer(std::span<VarSpec const> w, VarSpec const& ids, BagsOptions const& options = {}) {
        detail::check_bag_pool(options.pool);
        if (w.empty()) throw ShapeError("tables.size()", "0", "1 or more");
        std::int64_t width = 0;
        for (std::size_t t = 0; t < w.size(); ++t) {
            detail::with_part_name("embedding_bags: w", t, [&](char const* name) {
                spec::rows(name, w[t]);
                spec::same_dtype(name, w[t], w[0]);
                std::int64_t elements = 1;
                for (std::size_t i = 1; i < w[t].dims.size(); ++i) {
                    std::int64_t const dim = w[t].dims[i];
                    elements = dim == UNK || dim == 0 ? dim : spec::times(name, elements, dim);
                    if (dim == UNK || dim == 0) break;
                }
                width = spec::plus(name, 1, elements, width);
            });
        }
        spec::id_list("embedding_bags: ids", ids);
        if (ids.lod_level != 1) spec::the_levels_do_not_match("embedding_bags: ids", ids.lod_level, 1);
        return spec::with_dims(w[0], {UNK, width});
    }

    template <class T, id_type I, class D>
    static Tensor<T, D> run(D exec, std::vector<LoDTensor<T, D>> const& w, LoDTensor<I, D> const& ids,
                            BagsOptions const& options = {}) {
        auto const tables = detail::rows_of(w);
        return embedding_bags(exec, std::span<Tensor<T, D> const>(tables), ids, options.pool);
    }

    static constexpr std::vector<VarSpec> infer_backward(std::span<VarSpec const> w, VarSpec const&, VarSpec const&,
                                                         BagsOptions const& = {}) {
        std::vector<VarSpec> grads(w.begin(), w.end());
        for (VarSpec& grad : grads)
            grad = {.type = VarType::SELECTED_ROWS, .dtype = grad.dtype, .dims = grad.dims, .lod_level = 0};
        return grads;
    }

    template <class T, id_type I, class D>
    static std::vector<SelectedRows<T, D>> backward(D exec, std::vector<LoDTensor<T, D>> const& w,
                                                    LoDTensor<I, D> const& ids, LoDTensor<T, D> const& out_grad,
                                                    BagsOptions const& options = {}) {
        auto const tables = detail::rows_of(w);
        return embedding_bags_grad(exec, std::span<Tensor<T, D> const>(tables), ids, out_grad.value(), options.pool);
    }
};

/// embedding_bags with a weight for each id.
struct weighted_embedding_bags_op : detail::declared<weighted_embedding_bags_op> {
    using grad = gradient<weighted_embedding_bags_op, uses<slot::w, slot::ids, slot::weight, grad_of<slot::out>>,
                          makes<grad_of<slot::w>, grad_of<slot::weight>>>;

    static constexpr VarSpec infer(std::span<VarSpec const> w, VarSpec const& ids, VarSpec const& weight,
                                   BagsOptions const& options = {}) {
        VarSpec const out = embedding_bags_op::infer(w, ids, options);
        spec::dense("weighted_embedding_bags: weight", weight);
        spec::same_dtype("weighted_embedding_bags: weight", weight, w[0]);
        static_cast<void>(spec::same_dims("weighted_embedding_bags: weight", weight, ids));
        if (weight.lod_level != 0) spec::same_levels("weighted_embedding_bags: weight", weight, ids);
        return out;
    }

    template <class T, id_type I, class D>
    static Tensor<T, D> run(D exec, std::vector<LoDTensor<T, D>> const& w, LoDTensor<I, D> const& ids,
                            LoDTensor<T, D> const& weight, BagsOptions const& options = {}) {
        auto const tables = detail::rows_of(w);
        return embedding_bags(exec, std::span<Tensor<T, D> const>(tables), ids,
                              detail::rows_along("weight", weight, "ids", ids.lod()), options.pool);
    }

    static constexpr std::vector<VarSpec> infer_backward(std::span<VarSpec const> w, VarSpec const& ids,
                                                         VarSpec const& weight, VarSpec const& out_grad,
                                                         BagsOptions const& = {}) {
        auto grads = embedding_bags_op::infer_backward(w, ids, out_grad);
        grads.push_back(weight);
        return grads;
    }

    template <class T, id_type I, class D>
    static std::tuple<std::vector<SelectedRows<T, D>>, LoDTensor<T, D>> backward(
        D exec, std::vector<LoDTensor<T, D>> const& w, LoDTensor<I, D> const& ids, LoDTensor<T, D> const& weight,
        LoDTensor<T, D> const& out_grad, BagsOptions const& options = {}) {
        auto const tables = detail::rows_of(w);
        auto [grads, of_weight] = embedding_bags_grad(exec, std::span<Tensor<T, D> const>(tables), ids, weight.value(),
                                                      out_grad.value(), options.pool);
        return {std::move(grads), LoDTensor<T, D>(std::move(of_weight), weight.lod())};
    }
};

}  // namespace rowan::inline v0
