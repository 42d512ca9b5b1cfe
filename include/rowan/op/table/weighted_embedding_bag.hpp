// rowan/op/table/weighted_embedding_bag.hpp: embedding_bag with a weight for each id.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/weighted_functions.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sparse/gather.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Whether ids[k] is not the padding.
template <class I>
struct IsNotPaddingId {
    I const* ids;
    std::int64_t padding;
    ROWAN_HD bool operator()(std::size_t k) const { return std::int64_t{ids[k]} != padding; }
};

/// The positions of the ids that are not padding.
template <class I, class D>
Tensor<std::int64_t, D> kept_ids(D const& exec, Tensor<I, D> const& ids, std::int64_t padding) {
    return RowGather<D>::where(exec, ids.size(), IsNotPaddingId<I>{ids.data(), padding});
}

template <class W>
std::int64_t height_of_table(W const& table) {
    if constexpr (requires { table.height(); }) {
        return table.height();
    } else {
        return height_of(table);
    }
}

/// The pooled rows of a table, all of whose ids it has.
template <class T, class I, class D>
LoDTensor<T, D> pooled_bags(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                            Tensor<T, D> const& weight, Pooling pool) {
    return BagLookups<D>::lookup(exec, table, ids, &weight, pool);
}
template <class T, class I, class D>
LoDTensor<T, D> pooled_bags(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                            Tensor<T, D> const& weight, Pooling pool) {
    return pooled_bags(exec, table.value(), bag_positions(exec, table, ids, {}), weight, pool);
}
template <class T, class I>
LoDTensor<T> pooled_bags(Cpu const& exec, RowStore<T> const& store, LoDTensor<I> const& ids, Tensor<T> const& weight,
                         Pooling pool) {
    return store_bags(exec, store, ids, weight.data(), pool);
}

/// The pooled rows of a table of any kind, whose bags are checked.
template <class W, class T, class I, class D>
LoDTensor<T, D> weighted_bags(D const& exec, W const& table, LoDTensor<I, D> const& ids, Tensor<T, D> const& weight,
                              BagOptions const& options) {
    if (options.unknown)
        return weighted_bags(exec, table, known_bags(exec, table, ids, options), weight, all_known(options));
    if (!options.padding_id) return pooled_bags(exec, table, ids, weight, options.pool);
    auto const kept = without_padding(exec, ids, *options.padding_id, height_of_table(table));
    ElementLoops<D>::check(exec, weight);
    auto const positions = kept_ids(exec, ids.value(), *options.padding_id);
    return pooled_bags(exec, table, kept, rows_at(exec, weight, positions), options.pool);
}

/// The gradients of the table and of the weights, which are added to weight_grad.
template <class T, class I, class D>
SelectedRows<T, D> pooled_bags_grad(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                                    Tensor<T, D> const& weight, Tensor<T, D> const& out_grad, Pooling pool,
                                    Tensor<T, D>& weight_grad) {
    return BagLookups<D>::grad(exec, table, ids, &weight, out_grad, pool, &weight_grad);
}
template <class T, class I, class D>
SelectedRows<T, D> pooled_bags_grad(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                                    Tensor<T, D> const& weight, Tensor<T, D> const& out_grad, Pooling pool,
                                    Tensor<T, D>& weight_grad) {
    using Access = SelectedRowsAccess;
    auto const g =
        pooled_bags_grad(exec, table.value(), bag_positions(exec, table, ids, {}), weight, out_grad, pool, weight_grad);
    return Access::adopt(table.height(), rows_at(exec, Access::rows(table), Access::rows(g)), g.value().share());
}
template <class W, class T, class I, class D>
std::tuple<SelectedRows<T, D>, Tensor<T, D>> weighted_bags_grad(D const& exec, W const& table,
                                                                LoDTensor<I, D> const& ids, Tensor<T, D> const& weight,
                                                                Tensor<T, D> const& out_grad,
                                                                BagOptions const& options) {
    if (options.unknown)
        return weighted_bags_grad(exec, table, known_bags(exec, table, ids, options), weight, out_grad,
                                  all_known(options));
    auto weight_grad = Tensor<T, D>::zeros(exec, weight.shape());
    if (!options.padding_id) {
        auto rows = pooled_bags_grad(exec, table, ids, weight, out_grad, options.pool, weight_grad);
        return {std::move(rows), std::move(weight_grad)};
    }
    auto const kept = without_padding(exec, ids, *options.padding_id, height_of_table(table));
    ElementLoops<D>::check(exec, weight);
    auto const positions = kept_ids(exec, ids.value(), *options.padding_id);
    auto const kept_weight = rows_at(exec, weight, positions);
    auto kept_grad = Tensor<T, D>::zeros(exec, kept_weight.shape());
    auto rows = pooled_bags_grad(exec, table, kept, kept_weight, out_grad, options.pool, kept_grad);
    put_rows(exec, positions.size(), 1, kept_grad.data(), positions.data(), weight_grad.data());
    return {std::move(rows), std::move(weight_grad)};
}

}  // namespace detail

template <>
struct detail::function_of<weighted_embedding_bag_op> {
    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                               std::type_identity_t<Tensor<T, D>> const& weight, BagOptions const& options) {
        check_bags(exec, table, ids, &weight, options.pool);
        return weighted_bags(exec, table, ids, weight, options);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                               std::type_identity_t<Tensor<T, D>> const& weight, BagOptions const& options) {
        check_bags(exec, table.value(), ids, &weight, options.pool);
        return weighted_bags(exec, table, ids, weight, options);
    }

    template <class T, id_type I>
    static LoDTensor<T> run(Cpu const& exec, RowStore<T> const& store, LoDTensor<I> const& ids,
                            std::type_identity_t<Tensor<T>> const& weight, BagOptions const& options) {
        check_id_bags<T>(exec, ids, options.pool);
        check_weights(weight, ids);
        return weighted_bags(exec, store, ids, weight, options);
    }
};

template <>
struct detail::function_of<detail::backward_of<weighted_embedding_bag_op>> {
    template <class T, id_type I, class D>
    static std::tuple<SelectedRows<T, D>, Tensor<T, D>> run(D const& exec, Tensor<T, D> const& table,
                                                            LoDTensor<I, D> const& ids,
                                                            std::type_identity_t<Tensor<T, D>> const& weight,
                                                            std::type_identity_t<Tensor<T, D>> const& out_grad,
                                                            BagOptions const& options) {
        check_bags(exec, table, ids, &weight, options.pool);
        return weighted_bags_grad(exec, table, ids, weight, out_grad, options);
    }

    template <class T, id_type I, class D>
    static std::tuple<SelectedRows<T, D>, Tensor<T, D>> run(D const& exec, SelectedRows<T, D> const& table,
                                                            LoDTensor<I, D> const& ids,
                                                            std::type_identity_t<Tensor<T, D>> const& weight,
                                                            std::type_identity_t<Tensor<T, D>> const& out_grad,
                                                            BagOptions const& options) {
        check_bags(exec, table.value(), ids, &weight, options.pool);
        return weighted_bags_grad(exec, table, ids, weight, out_grad, options);
    }
};

struct weighted_embedding_bag_op : detail::declared<weighted_embedding_bag_op> {
    using grad = gradient<weighted_embedding_bag_op, uses<slot::w, slot::ids, slot::weight, grad_of<slot::out>>,
                          makes<grad_of<slot::w>, grad_of<slot::weight>>>;

    static constexpr std::array<SlotLookup, 1> lookups{{{0, 1}}};

    static constexpr VarSpec infer(VarSpec const& w, VarSpec const& ids, VarSpec const& weight,
                                   BagOptions const& options = {}) {
        spec::dense("weighted_embedding_bag: weight", weight);
        spec::same_dtype("weighted_embedding_bag: weight", weight, w);
        static_cast<void>(spec::same_dims("weighted_embedding_bag: weight", weight, ids));
        if (weight.lod_level != 0) spec::same_levels("weighted_embedding_bag: weight", weight, ids);
        return embedding_bag_op::infer(w, ids, options);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, Tensor<T, D> const& w, LoDTensor<I, D> const& ids, LoDTensor<T, D> const& weight,
                               BagOptions const& options = {}) {
        return embedding_bag(exec, w, ids, detail::rows_along("weight", weight, "ids", ids.lod()), options);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, SelectedRows<T, D> const& w, LoDTensor<I, D> const& ids,
                               LoDTensor<T, D> const& weight, BagOptions const& options = {}) {
        return embedding_bag(exec, w, ids, detail::rows_along("weight", weight, "ids", ids.lod()), options);
    }
    template <class T, id_type I>
    static LoDTensor<T> run(Cpu exec, RowStore<T> const& w, LoDTensor<I> const& ids, LoDTensor<T> const& weight,
                            BagOptions const& options = {}) {
        return embedding_bag(exec, w, ids, detail::rows_along("weight", weight, "ids", ids.lod()), options);
    }

    static constexpr std::array<VarSpec, 2> infer_backward(VarSpec const& w, VarSpec const&, VarSpec const& weight,
                                                           VarSpec const&, BagOptions const& = {}) {
        return {VarSpec{.type = VarType::SELECTED_ROWS, .dtype = w.dtype, .dims = w.dims, .lod_level = 0}, weight};
    }

    template <class T, class I, class D>
    static auto backward(D exec, Tensor<T, D> const& w, LoDTensor<I, D> const& ids, Tensor<T, D> const& weight,
                         LoDTensor<T, D> const& out_grad, BagOptions const& options = {}) {
        return embedding_bag_grad(exec, w, ids, weight, out_grad.value(), options);
    }
    template <class T, class I, class D>
    static auto backward(D exec, SelectedRows<T, D> const& w, LoDTensor<I, D> const& ids, Tensor<T, D> const& weight,
                         LoDTensor<T, D> const& out_grad, BagOptions const& options = {}) {
        return embedding_bag_grad(exec, w, ids, weight, out_grad.value(), options);
    }
};

}  // namespace rowan::inline v0
