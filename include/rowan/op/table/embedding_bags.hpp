// rowan/op/table/embedding_bags.hpp: embedding_bags, the pooled rows of many tables side by side.
#pragma once

#include <rowan/op/detail/table_bags.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/op/table/functions.hpp>
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

template <>
struct detail::function_of<embedding_bags_op> {
    template <class T, id_type I, class D>
    static Tensor<T, D> run(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
                            Pooling pool) {
        Tensor<T, D> const* const none = nullptr;
        return pooled_tables(exec, tables, ids, none, pool);
    }

    template <class T, id_type I, class D>
    static Tensor<T, D> run(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
                            std::type_identity_t<Tensor<T, D>> const& weight, Pooling pool) {
        return pooled_tables(exec, tables, ids, &weight, pool);
    }
};

template <>
struct detail::function_of<detail::backward_of<embedding_bags_op>> {
    template <class T, id_type I, class D>
    static std::vector<SelectedRows<T, D>> run(D const& exec, std::span<Tensor<T, D> const> tables,
                                               LoDTensor<I, D> const& ids,
                                               std::type_identity_t<Tensor<T, D>> const& out_grad, Pooling pool) {
        Tensor<T, D> const* const none = nullptr;
        TableBags<T, I, D> all(exec, tables, ids, none, pool);
        all.check_grad(out_grad);
        ElementLoops<D>::check(exec, out_grad);
        all.keep_known(exec);
        return all.grads(exec, out_grad);
    }

    template <class T, id_type I, class D>
    static std::tuple<std::vector<SelectedRows<T, D>>, Tensor<T, D>> run(
        D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
        std::type_identity_t<Tensor<T, D>> const& weight, std::type_identity_t<Tensor<T, D>> const& out_grad,
        Pooling pool) {
        TableBags<T, I, D> all(exec, tables, ids, &weight, pool);
        all.check_grad(out_grad);
        ElementLoops<D>::check(exec, out_grad, weight);
        all.keep_known(exec);
        auto weight_grad = Tensor<T, D>::zeros(exec, {all.ids().value().size()});
        auto grads = all.grads(exec, out_grad, &weight_grad);
        if (all.kept()) {
            auto whole = Tensor<T, D>::zeros(exec, weight.shape());
            put_rows(exec, weight_grad.size(), 1, weight_grad.data(), all.kept()->data(), whole.data());
            weight_grad = std::move(whole);
        }
        return {std::move(grads), std::move(weight_grad)};
    }
};

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
