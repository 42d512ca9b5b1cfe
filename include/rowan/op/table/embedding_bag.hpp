// rowan/op/table/embedding_bag.hpp: embedding_bag, one pooled row for each bag of ids, with a row-sparse gradient.
#pragma once

#include <rowan/op/detail/bag_lookups.hpp>
#include <rowan/op/detail/store_bags.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/op/table/functions.hpp>
#include <rowan/sequence/sequence_erase.hpp>
#include <rowan/sparse/detail/known_ids.hpp>
#include <rowan/sparse/find_rows.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <optional>

namespace rowan::inline v0 {

namespace detail {

/// The bags without padding.
/// errors   IndexError if the padding or an id is not in [0, height)
template <class I, class D>
LoDTensor<I, D> without_padding(D const& exec, LoDTensor<I, D> const& ids, std::int64_t padding, std::int64_t height) {
    if (padding < 0 || padding >= height) throw IndexError("padding_id", padding, height);
    ElementLoops<D>::check(exec, ids.value());
    ElementLoops<D>::check_ids(exec, "ids", ids.value(), height);
    return sequence_erase(exec, ids, {padding});
}

/// The bags with the row options.unknown in place of ids that the table does not have, and the options without it.
template <class W, class I, class D>
LoDTensor<std::int64_t, D> known_bags(D const& exec, W const& table, LoDTensor<I, D> const& ids,
                                      BagOptions const& options) {
    return {known_ids(exec, table, ids.value(), *options.unknown, options.padding_id), ids.lod()};
}
constexpr BagOptions all_known(BagOptions options) {
    options.unknown.reset();
    return options;
}

/// The ids of a table of which only some rows exist as positions in its value, without padding.
template <class T, class I, class D>
LoDTensor<std::int64_t, D> bag_positions(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                                         BagOptions const& options) {
    if (options.unknown) return bag_positions(exec, table, known_bags(exec, table, ids, options), all_known(options));
    if (!options.padding_id) return {positions(exec, "ids", table, ids.value()), ids.lod()};
    auto const kept = without_padding(exec, ids, *options.padding_id, table.height());
    return {positions(exec, "ids", table, kept.value()), kept.lod()};
}

}  // namespace detail

template <>
struct detail::function_of<embedding_bag_op> {
    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                               BagOptions const& options) {
        Tensor<T, D> const* const weight = nullptr;
        check_bags(exec, table, ids, weight, options.pool);
        if (options.unknown)
            return embedding_bag(exec, table, known_bags(exec, table, ids, options), all_known(options));
        if (options.padding_id)
            return embedding_bag(exec, table, without_padding(exec, ids, *options.padding_id, height_of(table)),
                                 {.pool = options.pool});
        return BagLookups<D>::lookup(exec, table, ids, weight, options.pool);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                               BagOptions const& options) {
        return embedding_bag(exec, table.value(), bag_positions(exec, table, ids, options), {.pool = options.pool});
    }

    template <class T, id_type I>
    static LoDTensor<T> run(Cpu const& exec, RowStore<T> const& store, LoDTensor<I> const& ids,
                            BagOptions const& options) {
        check_id_bags<T>(exec, ids, options.pool);
        if (options.unknown)
            return embedding_bag(exec, store, known_bags(exec, store, ids, options), all_known(options));
        if (options.padding_id)
            return embedding_bag(exec, store, without_padding(exec, ids, *options.padding_id, store.height()),
                                 {.pool = options.pool});
        return store_bags<T, I>(exec, store, ids, nullptr, options.pool);
    }
};

template <>
struct detail::function_of<detail::backward_of<embedding_bag_op>> {
    template <class T, id_type I, class D>
    static SelectedRows<T, D> run(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids,
                                  std::type_identity_t<Tensor<T, D>> const& out_grad, BagOptions const& options) {
        Tensor<T, D>* const none = nullptr;
        check_bags<T, I, D>(exec, table, ids, none, options.pool);
        if (options.unknown)
            return embedding_bag_grad(exec, table, known_bags(exec, table, ids, options), out_grad, all_known(options));
        if (options.padding_id)
            return embedding_bag_grad(exec, table, without_padding(exec, ids, *options.padding_id, height_of(table)),
                                      out_grad, {.pool = options.pool});
        return BagLookups<D>::template grad<T, I>(exec, table, ids, none, out_grad, options.pool, none);
    }

    template <class T, id_type I, class D>
    static SelectedRows<T, D> run(D const& exec, SelectedRows<T, D> const& table, LoDTensor<I, D> const& ids,
                                  std::type_identity_t<Tensor<T, D>> const& out_grad, BagOptions const& options) {
        using Access = SelectedRowsAccess;
        auto const g = embedding_bag_grad(exec, table.value(), bag_positions(exec, table, ids, options), out_grad,
                                          {.pool = options.pool});
        return Access::adopt(table.height(), rows_at(exec, Access::rows(table), Access::rows(g)), g.value().share());
    }
};

struct embedding_bag_op : detail::declared<embedding_bag_op> {
    static constexpr std::array<SlotLookup, 1> lookups{{{0, 1}}};
    using grad = gradient<embedding_bag_op, uses<slot::w, slot::ids, grad_of<slot::out>>, makes<grad_of<slot::w>>>;

    static constexpr VarSpec infer(VarSpec const& w, VarSpec const& ids, BagOptions const& options = {}) {
        detail::check_bag_pool(options.pool);
        spec::table("embedding_bag: w", w);
        spec::row_of("padding_id", options.padding_id, w);
        spec::row_of("unknown", options.unknown, w);
        spec::id_list("embedding_bag: ids", ids);
        spec::has_levels("embedding_bag: ids", ids);
        Dims dims = w.dims;
        dims[0] = UNK;
        return spec::with_dims(w, dims, ids.lod_level - 1);
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, Tensor<T, D> const& w, LoDTensor<I, D> const& ids,
                               BagOptions const& options = {}) {
        return embedding_bag(exec, w, ids, options);
    }
    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, SelectedRows<T, D> const& w, LoDTensor<I, D> const& ids,
                               BagOptions const& options = {}) {
        return embedding_bag(exec, w, ids, options);
    }
    template <class T, id_type I>
    static LoDTensor<T> run(Cpu exec, RowStore<T> const& w, LoDTensor<I> const& ids, BagOptions const& options = {}) {
        return embedding_bag(exec, w, ids, options);
    }

    static constexpr VarSpec infer_backward(VarSpec const& w, VarSpec const&, VarSpec const&, BagOptions const& = {}) {
        return {.type = VarType::SELECTED_ROWS, .dtype = w.dtype, .dims = w.dims, .lod_level = 0};
    }

    template <class T, class I, class D>
    static SelectedRows<T, D> backward(D exec, Tensor<T, D> const& w, LoDTensor<I, D> const& ids,
                                       LoDTensor<T, D> const& out_grad, BagOptions const& options = {}) {
        return embedding_bag_grad(exec, w, ids, out_grad.value(), options);
    }
    template <class T, class I, class D>
    static SelectedRows<T, D> backward(D exec, SelectedRows<T, D> const& w, LoDTensor<I, D> const& ids,
                                       LoDTensor<T, D> const& out_grad, BagOptions const& options = {}) {
        return embedding_bag_grad(exec, w, ids, out_grad.value(), options);
    }
};

}  // namespace rowan::inline v0
