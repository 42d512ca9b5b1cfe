// rowan/op/sequence/sequence_scatter.hpp: sequence_scatter, updates added to places of each row that a sequence of ids names.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/drop_levels.hpp>
#include <rowan/op/sequence/functions.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/detail/summed_rows.hpp>
#include <rowan/sparse/gather.hpp>

namespace rowan::inline v0 {

namespace detail {

/// For each id, its place in a tensor [rows, dim, ...] whose first two dims are one: sequence s belongs to row s.
inline std::vector<std::int64_t> places_of_ids(Ids<> const& ids, Lod const& lod, std::size_t rows, std::size_t dim) {
    check_levels("ids.lod()", lod);
    auto const offsets = last_level(lod);
    if (offsets.size() != rows + 1)
        throw ShapeError("x.shape(0)", rows, {offsets.size() - 1, ", the number of sequences of ids"});
    check_list("ids", ids);
    std::vector<std::int64_t> places(ids.size());
    for (std::size_t s = 0; s < rows; ++s) {
        for (auto i = static_cast<std::size_t>(offsets[s]); i < static_cast<std::size_t>(offsets[s + 1]); ++i) {
            if (ids[i] < 0 || static_cast<std::size_t>(ids[i]) >= dim) throw IndexError("ids", i, ids[i], dim);
            places[i] = static_cast<std::int64_t>(s * dim) + ids[i];
        }
    }
    return places;
}

/// An alias of x [n, d, ...] as [n * d, ...].
template <class T, class D>
Tensor<T, D> with_rows_of_places(Tensor<T, D> const& x) {
    auto shape = x.shape();
    shape[1] *= shape[0];
    shape.erase(shape.begin());
    return x.reshaped(shape);
}

/// Throws unless x has places with elements.
template <class T, class D>
void check_places(char const* field, Tensor<T, D> const& x) {
    if (x.dimension() < 2) throw ShapeError({field, " rank"}, x.dimension(), "at least 2");
}

}  // namespace detail

template <>
struct detail::function_of<sequence_scatter_op> {
    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D const& exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& ids,
                               Tensor<T, D> const& updates) {
        ElementLoops<D>::check(exec, x.value(), updates);
        x.check();
        ids.check();
        check_places("x", x.value());
        HostIds<D> const on_host(exec, ids.value());
        auto const places = places_of_ids(on_host, ids.lod(), x.shape()[0], x.shape()[1]);
        check_height("updates", updates, static_cast<std::int64_t>(places.size()));
        auto like = x.shape();
        like.erase(like.begin());
        check_trailing("updates", updates, like);
        auto out = ElementLoops<D>::copy(exec, x.value());
        if (out.size() != 0) {
            auto rows = with_rows_of_places(out);
            Ids<D> const ids_of_rows(places);
            SummedRows<D>::add(exec, RowPairs<D>::prepare(exec, ids_of_rows, height_of(rows)), updates, rows,
                               most_serial<T>);
        }
        return {std::move(out), x.lod()};
    }
};

/// See sequence_scatter.
struct sequence_scatter_op : detail::declared<sequence_scatter_op> {
    using grad = grad_rules<grad_rule<drop_levels_grad_op>,
                            gradient<sequence_scatter_op, uses<slot::ids, slot::updates, grad_of<slot::out>>,
                                     makes<grad_of<slot::updates>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& ids, VarSpec const& updates) {
        spec::rows_of_elements("sequence_scatter: x", x);
        spec::id_list("sequence_scatter: ids", ids);
        spec::has_levels("sequence_scatter: ids", ids);
        spec::dense("sequence_scatter: updates", updates);
        spec::same_dtype("sequence_scatter: updates", updates, x);
        VarSpec like = updates;
        like.dims = {ids.dims[0]};
        for (std::size_t i = 2; i < x.dims.size(); ++i) like.dims.push_back(x.dims[i]);
        spec::same_dims("sequence_scatter: updates", updates, like);
        return x;
    }

    template <class T, id_type I, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& ids,
                               LoDTensor<T, D> const& updates) {
        return sequence_scatter(exec, x, ids, updates.value());
    }

    /// The gradient of the updates.
    /// errors   as sequence_scatter for an x with the shape of out_grad
    template <class T, id_type I, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<I, D> const& ids, LoDTensor<T, D> const& updates,
                                    LoDTensor<T, D> const& out_grad) {
        auto const& g = out_grad.value();
        ids.check();
        detail::check_places("out_grad", g);
        detail::HostIds<D> const on_host(exec, ids.value());
        auto const places = detail::places_of_ids(on_host, ids.lod(), g.shape(0), g.shape(1));
        auto shape = g.shape();
        shape.erase(shape.begin());
        shape[0] = places.size();
        if (updates.shape() != shape)
            throw ShapeError("updates.shape()", detail::shape_text(updates.shape()), detail::shape_text(shape));
        if (updates.value().size() == 0) return {Tensor<T, D>::zeros(exec, shape), updates.lod()};
        return {gather(exec, detail::with_rows_of_places(g), places), updates.lod()};
    }
};

}  // namespace rowan::inline v0
