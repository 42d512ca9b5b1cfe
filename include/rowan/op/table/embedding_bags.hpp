// rowan/op/table/embedding_bags.hpp: embedding_bags, the pooled rows of many tables side by side; update_bags, the step.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/op/detail/bags.hpp>
#include <rowan/sequence/sequence_erase.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The bags of several tables without ids -1: those of table t are bags [t · batch, (t + 1) · batch).
template <class T, class I>
class TableBags {
public:
    /// errors   those of embedding_bags
    TableBags(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids, Pooling pool)
        : tables_(tables), ids_(known(exec, tables, ids, pool)), pool_(pool),
          batch_((last_level(ids_.lod()).size() - 1) / tables.size()) {
        columns_.reserve(tables.size() + 1);
        columns_.push_back(0);
        for (auto const& table : tables) columns_.push_back(columns_.back() + table.row_size());
    }

    LoDTensor<I> const& ids() const { return ids_; }
    std::size_t batch() const { return batch_; }
    std::size_t width() const { return columns_.back(); }
    std::size_t column(std::size_t t) const { return columns_[t]; }
    std::span<std::int64_t const> offsets(std::size_t t) const {
        return last_level(ids_.lod()).subspan(t * batch_, batch_ + 1);
    }
    Bags<T, I> bags(std::size_t t) const {
        return {.table = tables_[t].data(),
                .height = tables_[t].shape()[0],
                .width = tables_[t].row_size(),
                .ids = ids_.value().data(),
                .weights = nullptr,
                .offsets = offsets(t).data(),
                .bags = batch_,
                .pool = pool_};
    }

private:
    static LoDTensor<I> known(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids, Pooling pool) {
        if (tables.empty()) throw ShapeError("tables.size()", "0", "1 or more");
        for (auto const& table : tables) check_bags(exec, table, ids, static_cast<Tensor<T> const*>(nullptr), pool);
        if (ids.lod().levels() != 1) throw ShapeError("ids levels", std::to_string(ids.lod().levels()), "1");
        auto const offsets = last_level(ids.lod());
        std::size_t const bags = offsets.size() - 1, count = tables.size();
        if (bags % count != 0)
            throw ShapeError("ids", std::to_string(bags) + " bags",
                             "a multiple of the number of tables, " + std::to_string(count));
        bool pruned = false;
        for (std::size_t t = 0; t < count; ++t) {
            auto const first = static_cast<std::size_t>(offsets[t * (bags / count)]);
            auto const end = static_cast<std::size_t>(offsets[(t + 1) * (bags / count)]);
            auto const height = static_cast<std::int64_t>(tables[t].shape()[0]);
            auto const list = std::span(ids.value().data() + first, end - first);
            bool bad = false;  // no early exit, so that the loop is vectorised
            for (I const id : list) {
                bad |= static_cast<std::uint64_t>(std::int64_t{id}) + 1 > static_cast<std::uint64_t>(height);
                pruned |= id < 0;
            }
            if (!bad) continue;
            std::size_t i = 0;
            while (list[i] >= -1 && list[i] < height) ++i;
            throw IndexError("ids", first + i, list[i], height);
        }
        return pruned ? sequence_erase(exec, ids, {-1}) : LoDTensor<I>(ids.value().share(), ids.lod());
    }

    std::span<Tensor<T> const> tables_;
    LoDTensor<I> ids_;
    Pooling pool_;
    std::size_t batch_;
    Buffer<std::size_t> columns_;
};

}  // namespace detail

/// Pools the rows of bags of ids in several tables, and puts those of one example side by side:
///
///     tables [h0, 2], [h1, 3], batch of 2:   bags of ids  t0b0 t0b1 t1b0 t1b1   ->   row 0  t0b0 t0b0 t1b0 t1b0 t1b0
///                                                                                    row 1  t0b1 t0b1 t1b1 t1b1 t1b1
///
/// Ids are in the layout of TorchRec's KeyedJaggedTensor (values and lengths) and of FBGEMM: first the bags of table 0.
/// An id of -1, as of a row that was pruned or of an unknown key, is no part of its bag. The row of an empty bag is 0.
/// shapes   tables [h, ...], ids [n] with one level of bags, as many for each table -> [batch, sum of the widths]
/// errors   ShapeError if there is no table, or the number of bags is not a multiple of theirs, or as embedding_bag;
///          IndexError if an id is not in [-1, h) of its table; ValueError if pool is not sum, mean, sqrt or max
/// cost     one read of a table row for each id and one write of the result; all tables and bags are divided among
///          threads; a copy of the ids if one is -1
template <class T, id_type I>
Tensor<T> embedding_bags(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids,
                         Pooling pool = Pooling::sum) {
    detail::TableBags<T, I> const all(exec, tables, ids, pool);
    auto out = Tensor<T>::from_shape({all.batch(), all.width()});
    detail::Buffer<std::int64_t> copy;
    auto const* const rows = detail::BagLookups<Cpu>::positions(all.ids().value(), copy);
    std::size_t const batch = all.batch(), n = all.ids().value().size(), bags = batch * tables.size();
    std::size_t const elements = n * all.width() / tables.size() + out.size();
    std::size_t const grain = bags * (std::size_t{1} << 15) / (elements + 1) + 1;
    detail::parallel_work(exec, elements, bags, grain, [&](std::size_t begin, std::size_t end) {
        while (begin < end) {  // bags of one table
            std::size_t const t = begin / batch, first = begin % batch, last = std::min(batch, first + end - begin);
            detail::BagLookups<Cpu>::pool_range(all.bags(t), rows, static_cast<std::size_t>(all.offsets(t).back()),
                                                first, last, out.data() + first * all.width() + all.column(t),
                                                all.width());
            begin += last - first;
        }
    });
    return out;
}
template <class T, id_type I>
Tensor<T> embedding_bags(std::span<Tensor<T> const> tables, LoDTensor<I> const& ids, Pooling pool = Pooling::sum) {
    return embedding_bags(Cpu{}, tables, ids, pool);
}

/// Calls update(exec, t, plan, grad) once for each table: the backward pass of embedding_bags, with a step of any
/// optimizer. `plan` has the rows of table t that the bags name, and `grad` the gradient of its bags, so that no
/// gradient of the single rows is made:
///     update_bags(exec, tables, ids, out_grad, [&](Cpu e, std::size_t t, RowPlan<> const& plan, auto const& grad) {
///         rowwise_adagrad(e, plan, tables[t], moments[t], grad);
///     });
/// The parameters have the bits of a step with embedding_bag_grad.
/// shapes   out_grad of the shape that embedding_bags returns
/// requires tables do not share memory, and update may be called for several tables at the same time, unless
///          exec.threads is 1
/// errors   as embedding_bags; ValueError if pool is max; ShapeError if out_grad has another shape; then nothing is
///          called; the first error of update, after which it is called for no more tables
/// cost     a sort of the ids, one read of out_grad, and the cost of update; tables are divided among threads if there
///          are as many, else update is passed the threads
template <class T, id_type I, class F>
void update_bags(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids, Tensor<T> const& out_grad,
                 F const& update, Pooling pool = Pooling::sum) {
    using S = detail::sum_t<T>;
    static_assert(
        std::is_invocable_v<F const&, Cpu, std::size_t, RowPlan<> const&, Tensor<T> const&>,
        "rowan::update_bags: the step must take (Cpu, std::size_t table, RowPlan<> const&, Tensor<T> const&)");
    detail::TableBags<T, I> const all(exec, tables, ids, pool);
    if (pool == Pooling::max) throw ValueError("pool", static_cast<int>(pool), "one of sum, mean, sqrt");
    typename Tensor<T>::shape_type const shape{all.batch(), all.width()};
    if (out_grad.shape() != shape)
        throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(shape));
    int const threads = thread_count(exec);
    bool const by_tables = tables.size() >= static_cast<std::size_t>(threads);
    Cpu const inner{by_tables ? 1 : threads};
    detail::for_each_share(by_tables ? threads : 1, tables.size(), [&](std::size_t t) {
        auto const bags = all.bags(t);
        auto const offsets = all.offsets(t);
        auto const first = static_cast<std::size_t>(offsets[0]), n = static_cast<std::size_t>(offsets.back()) - first;
        std::vector<std::int64_t> starts(offsets.begin(), offsets.end());
        for (std::int64_t& start : starts) start -= offsets[0];
        RowPlan<> const plan(inner, std::span(bags.ids + first, n), starts, tables[t].shape()[0]);
        auto shape_of_rows = tables[t].shape();
        shape_of_rows[0] = all.batch();
        auto grad = Tensor<T>::from_shape(shape_of_rows);
        T const* const from = all.batch() == 0 ? nullptr : out_grad.data() + all.column(t);
        detail::on_lanes<S>(bags.width, [&]<class V>(detail::as<V>) ROWAN_INLINED {
            for (std::size_t b = 0; b < all.batch(); ++b) {
                if (b + 16 < all.batch())
                    detail::prefetch_row<false>(from + (b + 16) * all.width(), bags.width * sizeof(T));
                S const divisor = bags.divisor(b);
                S const share = divisor == detail::constant<S>(0.0) ? divisor : detail::constant<S>(1.0) / divisor;
                detail::zip_with<V>(
                    [&](auto const& x)
                        ROWAN_INLINED { return detail::product(x, std::remove_cvref_t<decltype(x)>(share)); },
                    bags.width, grad.data() + b * bags.width, from + b * all.width());
            }
        });
        update(inner, t, plan, std::as_const(grad));
    });
}

}  // namespace rowan::inline v0
