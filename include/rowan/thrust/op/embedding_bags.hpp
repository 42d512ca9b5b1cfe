// rowan/thrust/op/embedding_bags.hpp: embedding_bags on a device, all tables by one kernel.
#pragma once

#include <rowan/op/detail/table_bags.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/detail/on_device.hpp>
#include <rowan/thrust/op/embedding_bag.hpp>
#include <rowan/thrust/sequence/sequence_erase.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

/// Folds contributions in blocks of 64, their results in blocks of 64, and so on, as BlockSum does, in one thread.
template <class S, int N, class Fold>
class BlockFold {
public:
    ROWAN_HD explicit BlockFold(Fold const& fold) : fold_(fold) {}

    ROWAN_HD void add(Chunk<S, N> const& x) {
        if (n_ % block_size != 0) {
            combine(x, block_);
        } else {
            if (n_ != 0) carry(n_ / block_size - 1, most);
            block_ = x;
        }
        ++n_;
    }

    ROWAN_HD std::size_t size() const { return n_; }

    /// Of one or more contributions.
    ROWAN_HD Chunk<S, N> const& result() {
        if (n_ <= block_size) return block_;
        int top = 0;
        for (std::size_t n = n_; n > block_size; n = (n + block_size - 1) / block_size) ++top;
        carry((n_ - 1) / block_size, -top);
        return sums_[top - 1];
    }

private:
    static constexpr int most = 6;  // for 64^7 contributions

    // Adds the block to the sums of 64 blocks, and these, where they are complete or `levels` is negative, to the next.
    ROWAN_HD void carry(std::size_t block, int levels) {
        bool const last = levels < 0;
        for (int level = 0; level < (last ? -levels : levels); ++level, block /= block_size) {
            Chunk<S, N> const& from = level == 0 ? block_ : sums_[level - 1];
            if (block % block_size == 0) {
                sums_[level] = from;
            } else {
                combine(from, sums_[level]);
            }
            if (!last && (block + 1) % block_size != 0) break;
        }
    }
    ROWAN_HD void combine(Chunk<S, N> const& x, Chunk<S, N>& to) const {
        for (int e = 0; e < N; ++e) fold_(x.x[e], to.x[e]);
    }

    Fold fold_;
    std::size_t n_ = 0;
    Chunk<S, N> block_;
    Chunk<S, N> sums_[most];
};

template <class T>
struct TableView {
    T const* rows;
    std::int64_t height;
    std::size_t width;
};

/// The bags of several tables in the memory of a device.
template <class T, class I>
struct TableBagViews {
    TableView<T> const* tables;
    std::int64_t const* columns;  // the first column of each table in the result,
    std::int64_t const* starts;   // and its first id
    std::int64_t const* offsets;
    I const* ids;
    T const* weights;
    std::size_t count, batch;
    Pooling pool;
};

/// Checks id k, which may be -1.
template <class T, class I>
struct LookAtTableId {
    TableBagViews<T, I> in;
    IdCheck check;

    ROWAN_HD void operator()(std::size_t k) const {
        if (in.ids[k] == -1) return;
        IdCheck own = check;
        own.bound = in.tables[find_block(in.starts, in.count, k)].height;
        own(k, in.ids[k]);
    }
};

/// Writes N columns of the row of a bag. Bad ids are left out: the call has already failed.
template <class T, class I, int N, class Fold>
struct PoolTableBags {
    using S = sum_t<T>;
    TableBagViews<T, I> in;
    T* out;
    FastDivmod lanes;  // threads per row of the result

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const example = lanes.quotient(k), column = (k - example * lanes.by) * N;
        std::size_t const t = find_block(in.columns, in.count, column), bag = t * in.batch + example;
        TableView<T> const table = in.tables[t];
        std::size_t const own = column - static_cast<std::size_t>(in.columns[t]);
        bool const mean = in.pool == Pooling::mean;
        S weights = constant<S>(0.0);
        BlockFold<S, N, Fold> sum{Fold{}};
        for (std::int64_t i = in.offsets[bag]; i < in.offsets[bag + 1]; ++i) {
            std::int64_t const id = in.ids[i];
            if (id < 0 || id >= table.height) continue;
            auto row = load_chunk<S, N>(table.rows + (static_cast<std::size_t>(id) * table.width + own));
            if (in.weights != nullptr) {
                S const w = load<S>(in.weights + i);
                for (int e = 0; e < N; ++e) row.x[e] = product(row.x[e], w);
                weights = plus(weights, mean ? w : S(product(w, w)));
            }
            sum.add(row);
        }
        auto const begin = static_cast<std::size_t>(in.offsets[bag]),
                   end = static_cast<std::size_t>(in.offsets[bag + 1]);
        auto const known = [&](std::size_t i) { return in.ids[i] >= 0 && in.ids[i] < table.height; };
        auto const weight = [&](std::size_t i) {
            return !known(i) ? constant<S>(0.0) : in.weights == nullptr ? constant<S>(1.0) : load<S>(in.weights + i);
        };
        bool const divides = mean || in.pool == Pooling::sqrt;
        S divisor = constant<S>(1.0);
        if (divides) {
            if (in.weights == nullptr) weights = constant<S>(static_cast<double>(sum.size()));
            divisor = divisor_of(mean, weights, begin, end, weight);
        }
        Chunk<S, N> made;
        for (int e = 0; e < N; ++e) made.x[e] = constant<S>(0.0);
        if (sum.size() != 0 && !(divisor == constant<S>(0.0))) {
            auto const total = sum.result();
            for (int e = 0; e < N; ++e) {
                auto const element = [&](std::size_t i) {
                    auto const row = static_cast<std::size_t>(in.ids[i]) * table.width;
                    return known(i) ? load<S>(table.rows + (row + own + static_cast<std::size_t>(e)))
                                    : constant<S>(0.0);
                };
                made.x[e] = divides ? share_of(total.x[e], divisor, mean, begin, end, weight, element)
                                    : quotient(total.x[e], divisor);
            }
        }
        store_chunk(made, out + k * N);
    }
};

template <class System>
struct TableBagLookups<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    /// Whether an id may be -1.
    template <class T, class I>
    static bool has_pruned(Device const& exec, TableBags<T, I, Device> const& all) {
        check(exec, Uploaded<T, I>(exec, all));
        return all.ids().value().size() != 0;
    }

    template <class T, class I>
    static void lookup(Device const& exec, TableBags<T, I, Device> const& all, Tensor<T, Device>& out) {
        Uploaded<T, I> const in(exec, all);
        check(exec, in);
        bool chunks = in_chunks(all.width(), static_cast<T const*>(out.data()));
        for (std::size_t t = 0; t < all.size(); ++t)
            chunks = chunks && in_chunks(all.table(t).row_size(), all.table(t).data());
        if (chunks)
            pool<chunk_size>(exec, in.views, all, out);
        else
            pool<1>(exec, in.views, all, out);
    }

private:
    template <class T, class I>
    struct Uploaded {
        std::size_t ids;
        OnDevice<TableView<T>, Device> tables;
        OnDevice<std::int64_t, Device> numbers;
        TableBagViews<T, I> views;

        Uploaded(Device const& exec, TableBags<T, I, Device> const& all)
            : ids(all.ids().value().size()), tables(exec, tables_of(exec, all)),
              numbers(exec, numbers_of(all)), views{.tables = tables.data(),
                                                    .columns = numbers.data(),
                                                    .starts = numbers.data() + all.size(),
                                                    .offsets = numbers.data() + 2 * all.size(),
                                                    .ids = all.ids().value().data(),
                                                    .weights = all.weight() == nullptr ? nullptr : all.weight()->data(),
                                                    .count = all.size(),
                                                    .batch = all.batch(),
                                                    .pool = all.pool()} {}

        static std::vector<TableView<T>> tables_of(Device const& exec, TableBags<T, I, Device> const& all) {
            check_here(exec, all.ids().value());
            if (all.weight() != nullptr) check_here(exec, *all.weight());
            std::vector<TableView<T>> list;
            for (std::size_t t = 0; t < all.size(); ++t) {
                check_here(exec, all.table(t));
                list.push_back({all.table(t).data(), height_of(all.table(t)), all.table(t).row_size()});
            }
            return list;
        }
        static std::vector<std::int64_t> numbers_of(TableBags<T, I, Device> const& all) {
            std::vector<std::int64_t> list;
            for (std::size_t t = 0; t < all.size(); ++t) list.push_back(static_cast<std::int64_t>(all.column(t)));
            for (std::size_t t = 0; t < all.size(); ++t) list.push_back(static_cast<std::int64_t>(all.first_id(t)));
            auto const offsets = last_level(all.ids().lod());
            list.insert(list.end(), offsets.begin(), offsets.end());
            return list;
        }
    };

    template <class T, class I>
    static void check(Device const& exec, Uploaded<T, I> const& in) {
        launch_always(exec, in.ids, LookAtTableId<T, I>{in.views, id_check(exec, "ids", 0)});
    }

    template <int N, class T, class I>
    static void pool(Device const& exec, TableBagViews<T, I> const& in, TableBags<T, I, Device> const& all,
                     Tensor<T, Device>& out) {
        if (out.size() == 0) return;
        FastDivmod const lanes(all.width() / N);
        if (in.pool == Pooling::max)
            launch_always(exec, out.size() / N, PoolTableBags<T, I, N, keep_extreme<true>>{in, out.data(), lanes});
        else
            launch_always(exec, out.size() / N, PoolTableBags<T, I, N, add_lanes>{in, out.data(), lanes});
    }
};

}  // namespace rowan::inline v0::detail
