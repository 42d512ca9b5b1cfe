// rowan/op/table/lookup_table.hpp: lookup_table, the rows of a table selected by ids, with a row-sparse gradient.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/op/table/functions.hpp>
#include <rowan/sparse/detail/known_ids.hpp>
#include <rowan/sparse/find_rows.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/row_store.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <optional>

namespace rowan::inline v0 {

namespace detail {

/// Writes 0 to a row whose id is the padding id.
template <class T, class I>
struct PadRow {
    I const* ids;
    std::int64_t padding;
    T* to;
    std::size_t width;

    ROWAN_KERNEL void operator()(std::size_t row) const {
        if (ids[row] != padding) return;
        for (std::size_t k = 0; k < width; ++k) store(constant<sum_t<T>>(0.0), to + row * width + k);
    }
};

}  // namespace detail

template <>
struct detail::function_of<lookup_table_op> {
    template <class T, id_type I, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& table, Tensor<I, D> const& ids,
                            LookupOptions const& options) {
        check_rows("table", table);
        if (auto const padding = options.padding_id; padding && (*padding < 0 || *padding >= height_of(table)))
            throw IndexError("padding_id", *padding, height_of(table));
        if (options.unknown)
            return lookup_table(exec, table, known_ids(exec, table, ids, *options.unknown),
                                {.padding_id = options.padding_id});
        auto out = gather(exec, table, ids);
        if (!options.padding_id) return out;
        std::size_t const width = table.row_size();
        PadRow<T, I> const pad{ids.data(), *options.padding_id, out.data(), width};
        ElementLoops<D>::each(exec, ids.size(), width, pad);
        return out;
    }

    template <class T, id_type I, class D>
    static Tensor<T, D> run(D const& exec, SelectedRows<T, D> const& table, Tensor<I, D> const& ids,
                            LookupOptions const& options) {
        auto const padding = options.padding_id;
        if (padding && (*padding < 0 || *padding >= table.height()))
            throw IndexError("padding_id", *padding, table.height());
        if (options.unknown)
            return lookup_table(exec, table, known_ids(exec, table, ids, *options.unknown, padding),
                                {.padding_id = padding});
        auto const at = positions(exec, "ids", table, ids, padding);
        if (table.rows().size() == 0)  // all ids are padding
            return Tensor<T, D>::zeros(exec, gathered_shape(ids.shape(), table.value().shape()));
        auto out = gather(exec, table.value(), at);
        if (!padding) return out;
        std::size_t const width = table.row_size();
        PadRow<T, I> const pad{ids.data(), *padding, out.data(), width};
        ElementLoops<D>::each(exec, ids.size(), width, pad);
        return out;
    }

    template <class T, id_type I>
    static Tensor<T> run(Cpu const& exec, RowStore<T> const& store, Tensor<I> const& ids,
                         LookupOptions const& options) {
        if (auto const padding = options.padding_id; padding && (*padding < 0 || *padding >= store.height()))
            throw IndexError("padding_id", *padding, store.height());
        if (options.unknown)
            return lookup_table(exec, store, known_ids(exec, store, ids, *options.unknown),
                                {.padding_id = options.padding_id});
        auto out = gather(exec, store, ids);
        if (!options.padding_id) return out;
        PadRow<T, I> const pad{ids.data(), *options.padding_id, out.data(), store.width()};
        ElementLoops<Cpu>::each(exec, ids.size(), store.width(), pad);
        return out;
    }
};

struct lookup_table_grad_op
    : operator_of<slots<slot::w, slot::ids, grad_of<slot::out>>, slots<grad_of<slot::w>>, LookupOptions> {
    static constexpr std::string_view name = "lookup_table_grad";
    static constexpr unsigned row_inputs = 0b110;
    static constexpr bool sums_rows = true;

    /// The gradient is always row-sparse.
    static constexpr VarSpec infer(VarSpec const& w, VarSpec const&, VarSpec const&, LookupOptions const& = {}) {
        return {.type = VarType::SELECTED_ROWS, .dtype = w.dtype, .dims = w.dims, .lod_level = 0};
    }

    template <class T, class I, class D>
    static SelectedRows<T, D> run(D exec, Tensor<T, D> const& w, Tensor<I, D> const& ids, Tensor<T, D> const& out_grad,
                                  LookupOptions const& options = {}) {
        return grad_of_table(exec, w, detail::height_of(w), ids, out_grad, options);
    }
    template <class T, class I, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& w, Tensor<I, D> const& ids,
                                  Tensor<T, D> const& out_grad, LookupOptions const& options = {}) {
        return grad_of_table(exec, w, w.height(), ids, out_grad, options);
    }

private:
    template <class W, class T, class I, class D>
    static SelectedRows<T, D> grad_of_table(D const& exec, W const& w, std::int64_t height, Tensor<I, D> const& ids,
                                            Tensor<T, D> const& out_grad, LookupOptions const& options) {
        if (!options.unknown) return lookup_table_grad(exec, ids, out_grad.share(), height, options.padding_id);
        auto const known = detail::known_ids(exec, w, ids, *options.unknown, options.padding_id);
        return lookup_table_grad(exec, known, out_grad.share(), height, options.padding_id);
    }
};

struct lookup_table_op : detail::declared<lookup_table_op> {
    static constexpr unsigned row_inputs = 0b10;
    static constexpr std::array<SlotLookup, 1> lookups{{{0, 1}}};
    using grad = grad_rule<lookup_table_grad_op>;

    static constexpr VarSpec infer(VarSpec const& w, VarSpec const& ids, LookupOptions const& options = {}) {
        spec::table("lookup_table: w", w);
        spec::row_of("padding_id", options.padding_id, w);
        spec::row_of("unknown", options.unknown, w);
        spec::dense("lookup_table: ids", ids);
        spec::ids("lookup_table: ids", ids);
        Dims dims = ids.dims;
        for (std::size_t i = 1; i < w.dims.size(); ++i) dims.push_back(w.dims[i]);
        return spec::with_dims(w, dims, ids.lod_level);
    }

    template <class T, id_type I, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& w, Tensor<I, D> const& ids, LookupOptions const& options = {}) {
        return lookup_table(exec, w, ids, options);
    }
    template <class T, id_type I, class D>
    static Tensor<T, D> run(D exec, SelectedRows<T, D> const& w, Tensor<I, D> const& ids,
                            LookupOptions const& options = {}) {
        return lookup_table(exec, w, ids, options);
    }
    template <class T, id_type I>
    static Tensor<T> run(Cpu exec, RowStore<T> const& w, Tensor<I> const& ids, LookupOptions const& options = {}) {
        return lookup_table(exec, w, ids, options);
    }
};

}  // namespace rowan::inline v0
