// rowan/op/detail/table_bags.hpp: the bags of ids of several tables, and how they are pooled.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/op/detail/bag_lookups.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/table/join_bags.hpp>
#include <rowan/op/table/weighted_embedding_bag.hpp>
#include <rowan/sequence/sequence_erase.hpp>
#include <rowan/sparse/gather.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Pools the bags of several tables on a device. The Thrust specialization is in rowan/thrust/op/embedding_bags.hpp.
template <class D>
struct TableBagLookups {
    static_assert(has_backend<D>,
                  "rowan: embedding_bags on a Thrust device needs #include <rowan/thrust/op/embedding_bags.hpp>");
};

/// The bags of several tables: those of table t are bags [t · batch, (t + 1) · batch), and their rows are the columns
/// from column(t) to column(t + 1) of the result.
template <class T, class I, class D>
class TableBags {
public:
    /// errors   those of embedding_bags, but for ids
    TableBags(D const& exec, std::span<Tensor<T, D> const> tables, LoDTensor<I, D> const& ids,
              Tensor<T, D> const* weight, Pooling pool)
        : tables_(tables), ids_(ids.share()), pool_(pool) {
        for (auto const& table : tables) check_bags(exec, table, ids, weight, pool);
        batch_ = batch_of(ids.lod(), tables.size());
        columns_.reserve(tables.size() + 1);
        columns_.push_back(0);
        for (auto const& table : tables) columns_.push_back(columns_.back() + table.row_size());
        if (weight == nullptr) return;
        weight_ = weight->share();
        weighted_ = true;
    }

    TableBags(TableBags const&) = delete;
    TableBags& operator=(TableBags const&) = delete;
    ~TableBags() = default;

    /// Checks the ids, and removes those that are -1, with their weights.
    /// errors   IndexError if an id is not in [-1, h) of its table
    void keep_known(D const& exec) {
        if (!TableBagLookups<D>::has_pruned(exec, *this)) return;
        if (weighted_) {
            kept_ = kept_ids(exec, ids_.value(), -1);
            weight_ = rows_at(exec, weight_, *kept_);
        }
        ids_ = sequence_erase(exec, ids_, {-1});
    }

    std::size_t size() const { return tables_.size(); }
    Tensor<T, D> const& table(std::size_t t) const { return tables_[t]; }
    LoDTensor<I, D> const& ids() const { return ids_; }
    Tensor<T, D> const* weight() const { return weighted_ ? &weight_ : nullptr; }
    Pooling pool() const { return pool_; }
    std::size_t batch() const { return batch_; }
    std::size_t width() const { return columns_.back(); }
    std::size_t column(std::size_t t) const { return columns_[t]; }

    std::span<std::int64_t const> offsets(std::size_t t) const {
        return last_level(ids_.lod()).subspan(t * batch_, batch_ + 1);
    }
    std::size_t first_id(std::size_t t) const { return static_cast<std::size_t>(last_level(ids_.lod())[t * batch_]); }
    std::span<I const> ids_of(std::size_t t) const {
        return {ids_.value().data() + first_id(t), first_id(t + 1) - first_id(t)};
    }
    Bags<T, I> bags(std::size_t t) const {
        return {.table = tables_[t].data(),
                .height = tables_[t].shape()[0],
                .width = tables_[t].row_size(),
                .ids = ids_.value().data(),
                .weights = weighted_ ? weight_.data() : nullptr,
                .offsets = offsets(t).data(),
                .bags = batch_,
                .pool = pool_};
    }

    /// The shape of the rows of the bags of table t.
    auto shape(std::size_t t) const {
        auto shape = tables_[t].shape();
        shape[0] = batch_;
        return shape;
    }
    void check_grad(Tensor<T, D> const& out_grad) const {
        typename Tensor<T, D>::shape_type const shape{batch_, width()};
        if (out_grad.shape() != shape)
            throw ShapeError("out_grad.shape()", shape_text(out_grad.shape()), shape_text(shape));
    }

    /// The gradient of table t, one row for each id, of the gradient of the rows of its bags; also writes those of the
    /// weights of all known ids, which are zeros before, unless it is null. Calls may run at the same time.
    SelectedRows<T, D> grad(D const& exec, std::size_t t, Tensor<T, D> const& out_grad,
                            Tensor<T, D>* weight_grad = nullptr) const {
        auto const ids = ids_.slice(t * batch_, (t + 1) * batch_);
        auto const own = [&](Tensor<T, D> const& all) { return all.slice(first_id(t), first_id(t + 1)); };
        Tensor<T, D> const weight = weighted_ ? own(weight_) : Tensor<T, D>();
        Tensor<T, D> part = weight_grad != nullptr ? own(*weight_grad) : Tensor<T, D>();
        return BagLookups<D>::template grad<T, I>(exec, tables_[t], ids, weighted_ ? &weight : nullptr, out_grad, pool_,
                                                  weight_grad != nullptr ? &part : nullptr);
    }

    /// The gradients of all tables, and of the weights as above.
    std::vector<SelectedRows<T, D>> grads(D const& exec, Tensor<T, D> const& out_grad,
                                          Tensor<T, D>* weight_grad = nullptr) const {
        std::vector<std::size_t> widths;
        for (auto const& table : tables_) widths.push_back(table.row_size());
        auto const parts = cut_along(exec, out_grad, 1, widths);
        std::vector<SelectedRows<T, D>> all;
        for (std::size_t t = 0; t < size(); ++t) all.push_back(grad(exec, t, parts[t].reshaped(shape(t)), weight_grad));
        return all;
    }

    /// The positions of the known ids if there are weights and other ids.
    std::optional<Tensor<std::int64_t, D>> const& kept() const { return kept_; }

private:
    std::span<Tensor<T, D> const> tables_;
    LoDTensor<I, D> ids_;
    Tensor<T, D> weight_;
    std::optional<Tensor<std::int64_t, D>> kept_;
    bool weighted_ = false;
    Pooling pool_;
    std::size_t batch_ = 0;
    Buffer<std::size_t> columns_;
};

template <>
struct TableBagLookups<Cpu> {
    /// Whether an id is -1.
    /// errors   IndexError if an id is not in [-1, h) of its table
    template <class T, class I>
    static bool has_pruned(Cpu exec, TableBags<T, I, Cpu> const& all) {
        std::atomic<bool> good{true}, pruned{false};
        std::size_t const n = all.ids().value().size();
        parallel_work(exec, n, n, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t t = 0; begin < end; ++t) {
                std::size_t const last = std::min(end, all.first_id(t + 1));
                if (begin >= last) continue;
                std::span<I const> const list(all.ids().value().data() + begin, last - begin);
                auto const height = height_of(all.table(t));
                begin = last;
                if (!has_bad_id(list, 0, height)) continue;
                pruned = true;
                if (has_bad_id(list, -1, height)) good = false;
            }
        });
        for (std::size_t t = 0; t < all.size() && !good; ++t) {
            auto const list = all.ids_of(t);
            auto const height = height_of(all.table(t));
            if (has_bad_id(list, -1, height)) bad_id("ids", list, -1, height, all.first_id(t));
        }
        return pruned;
    }

    /// Writes the rows of all bags.
    template <class T, class I>
    static void lookup(Cpu exec, TableBags<T, I, Cpu>& all, Tensor<T>& out) {
        all.keep_known(exec);
        Buffer<std::int64_t> copy;
        auto const* const rows = BagLookups<Cpu>::positions(all.ids().value(), copy);
        std::size_t const batch = all.batch(), n = all.ids().value().size(), bags = batch * all.size();
        std::size_t const elements = n * all.width() / all.size() + out.size();
        std::size_t const grain = bags * (std::size_t{1} << 15) / (elements + 1) + 1;
        Buffer<bool> one;
        for (std::size_t t = 0; t < all.size(); ++t) one.push_back(BagLookups<Cpu>::one_each(all.bags(t)));
        bool const stream = out.size() * sizeof(T) >= stream_from;
        parallel_work(exec, elements, bags, grain, [&](std::size_t begin, std::size_t end) {
            while (begin < end) {  // bags of one table
                std::size_t const t = begin / batch, first = begin % batch, last = std::min(batch, first + end - begin);
                T* const to = out.data() + first * all.width() + all.column(t);
                if (one[t])
                    BagLookups<Cpu>::copy_range(all.bags(t), rows, all.first_id(t + 1), first, last, to, all.width(),
                                                stream);
                else
                    BagLookups<Cpu>::pool_range(all.bags(t), rows, all.first_id(t + 1), first, last, to, all.width());
                begin += last - first;
            }
        });
    }
};

}  // namespace rowan::inline v0::detail
