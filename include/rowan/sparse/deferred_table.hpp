// rowan/sparse/deferred_table.hpp: DeferredTable, a table of any kind whose optimizer is deferred.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/sparse/deferred.hpp>
#include <rowan/sparse/deferred_options.hpp>
#include <rowan/sparse/detail/table_step.hpp>
#include <rowan/sparse/optimizer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A table, by keys or in a file, whose optimizer `O` is deferred: see Deferred. Rows that a view shows are up to date.
///     KeyedTable<float> users({.width = 64});                      with states "moment" and "moment2"
///     DeferredTable<optim::adam, KeyedTable<float>> deferred(users);
///     auto view = deferred.view(keys);
///     auto x = gather(view.rows(), view.at());
///     adam(view, x_grad, {.step = t});
///     deferred.flush();                                            before all rows are read
/// Save what `contents` gives with the table, or flush before.
/// A new row has missed nothing, nor has one that a new key gets after another: keys enter the table by such views alone.
/// Rows that a view has brought up to date stay so without a step. The table stays the caller's, and outlives this. After
/// it was loaded anew, begin a new DeferredTable, and assign what it had missed.
template <class O, row_table X>
class DeferredTable {
    static_assert(detail::is_deferred<O>,
                  "rowan::DeferredTable: the optimizer is sgd, momentum, adam, adagrad, rmsprop or centered_rmsprop of "
                  "rowan::optim");
    using TableView = decltype(std::declval<X&>().view(Cpu{}, std::declval<typename X::names const&>()));

public:
    using value_type = typename X::value_type;
    using names = typename X::names;  ///< of its rows

    /// Of a table whose rows have missed nothing.
    /// errors   those of Deferred
    /// cost     2 bytes a row
    explicit DeferredTable(X& table, DeferredOptions options = {})
        : table_(table), deferred_(Height(table.height()), options) {}

    std::int64_t height() const { return table_.height(); }  ///< the number of rows
    std::size_t width() const { return table_.width(); }     ///< the number of elements of a row

    /// The table's view of rows that are up to date, for a step of `O`.
    class View : public TableView {
    public:
        using deferred = O;  ///< the optimizer

        /// A step of the optimizer that is deferred.
        /// errors   those of the optimizer, of Deferred::step and of the table's `write`; nothing has changed
        /// cost     that of Deferred::step
        template <class G>
        void step(Cpu exec, Tensor<G> const& x_grad, typename O::options const& options) {
            auto& rows_behind = of_.deferred_;
            auto const grad = detail::gradient_of(exec, *this, x_grad);
            detail::with_states(typename O::states{}, *this, [&](auto&... state) {
                auto const make_room = [&] {
                    if (rows_behind.full()) of_.flush(exec);
                };
                detail::write_and(exec, *this, make_room,
                                  [&] { rows_behind.step(exec, grad, options, this->rows(), state...); });
            });
        }

    private:
        friend class DeferredTable;
        View(DeferredTable& of, TableView&& view) : TableView(std::move(view)), of_(of) {}

        DeferredTable& of_;
    };

    /// The rows of names, up to date.
    /// errors   those of the table's view and of its states; those of `write`, of a table in a file
    /// cost     that of the table's view, and of Deferred::catch_up for the rows
    View view(Cpu exec, names const& of) {
        View view(*this, table_.view(exec, of));
        fit(view.rows());
        if constexpr (requires { view.inserted(); }) deferred_.renew(view.inserted());
        std::vector<std::int64_t> behind;
        for (std::int64_t const row : std::span(view.at().data(), view.at().size())) {
            if (row >= 0 && deferred_.missed(row) != 0) behind.push_back(row);
        }
        if (!behind.empty()) {
            detail::with_states(typename O::states{}, view,
                                [&](auto&... state) { catch_up(exec, behind, view.rows(), state...); });
        }
        return view;
    }
    View view(names const& of) { return view(Cpu{}, of); }

    /// Brings all rows up to date: of a file in the order of its rows.
    /// errors   those of Deferred::flush, and of the table's states and `change`
    /// cost     one pass over the rows that have missed steps
    void flush(Cpu exec = {}) {
        auto view = table_.view(exec, names{});
        fit(view.rows());
        detail::with_states(typename O::states{}, view, [&](auto&... state) {
            if constexpr (is_in_file) {
                std::vector<std::int64_t> behind;
                for (std::int64_t row = 0; row < height(); ++row) {
                    if (deferred_.missed(row) != 0) behind.push_back(row);
                    if (behind.size() < most_at_once && row + 1 != height()) continue;
                    catch_up(exec, behind, view.rows(), state...);
                    behind.clear();
                }
            }
            deferred_.flush(exec, view.rows(), state...);
        });
    }

    /// What rows have missed, to be saved with the table.
    /// errors   those of the table's view; std::bad_alloc
    /// cost     that of Deferred::contents
    DeferredContents<typename O::options> contents() {
        fit(table_.view(Cpu{}, names{}).rows());
        return deferred_.contents();
    }
    /// Takes what rows had missed when the table was saved.
    /// errors   those of Deferred::assign, and of the table's view and states
    /// cost     that of Deferred::assign
    void assign(DeferredContents<typename O::options> saved) {
        auto view = table_.view(Cpu{}, names{});
        fit(view.rows());
        detail::with_states(typename O::states{}, view,
                            [&](auto&... state) { deferred_.assign(std::move(saved), view.rows(), state...); });
    }

private:
    /// Rows come with keys, and go with views that are given up.
    void fit(Tensor<value_type> const& rows) {
        if (detail::height_of(rows) != deferred_.height()) deferred_.resize(Height(detail::height_of(rows)));
    }
    template <class... P>
    void catch_up(Cpu exec, std::vector<std::int64_t> const& rows, Tensor<P>&... param) {
        if constexpr (is_in_file) table_.change(exec, rows);
        deferred_.catch_up(exec, rows, param...);
    }
    static constexpr bool is_in_file = requires(X & x, Ids<> rows) { x.change(Cpu{}, rows); };
    static constexpr std::size_t most_at_once = std::size_t{1} << 16;

    X& table_;
    Deferred<typename O::options> deferred_;
};

}  // namespace rowan::inline v0
