// rowan/sparse/deferred.hpp: Deferred, optimizers with the bits of dense updates at the cost of row-sparse ones.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/sparse/deferred_options.hpp>
#include <rowan/sparse/detail/closed_form.hpp>
#include <rowan/sparse/detail/deferred_checks.hpp>
#include <rowan/sparse/detail/deferred_rules.hpp>
#include <rowan/sparse/detail/replay.hpp>
#include <rowan/sparse/detail/replay_rows.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// What the rows of a table have missed: see Deferred::contents.
template <class Options>
struct DeferredContents {
    std::vector<Options> steps = {};       ///< the options of the steps since the last flush
    std::vector<std::uint16_t> made = {};  ///< how many of these each row has made
};

/// The steps of an optimizer on a table whose gradients touch a few rows. A step updates these rows, and notes for the
/// others that they have missed it; a row makes up for the steps that it has missed, with a gradient of 0, before it is
/// next read or updated. After `flush`, the table and the states have the bits that the optimizer gives with the dense
/// gradients, `to_dense(grad)` in every step: moments and weights of all rows decay, which lazy updates leave out. It is
/// so for any learning rates, patterns of rows, types of the table and numbers of threads. (Of NaN, the sign may differ.)
///
///     Deferred<AdamOptions> deferred(table.shape(0));
///     deferred.catch_up(ids, table, moment1, moment2);                                 before rows are read
///     deferred.step(grad, {.learning_rate = rate, .step = t}, table, moment1, moment2);   as adam
///     deferred.flush(table, moment1, moment2);                                         before all rows are read
///     auto const behind = deferred.contents();                         or, to save the table as it is; then `assign`
///
/// The tensors are the same in all calls: param, then the states, in the order of sgd, momentum, adam, adagrad or
/// rmsprop, whose options are `Options`. Steps with a gradient of 0 change nothing under adagrad without a decay, if
/// epsilon is not 0, and under ftrl at the same learning rate: their row-sparse updates are dense ones anyway.
///
/// Missed steps are computed one by one, in registers of the widest type of sums of the tensors. Roots and quotients
/// are left out where a bound shows that the moves that they give are rounded away, for Adam some 100 steps after a
/// gradient; from there on states are multiplied alone. There is no such bound, so that all rows take longer until the
/// next flush, after a step with an L2 penalty, with an epsilon of 0, a negative learning rate, a momentum outside [0, 1)
/// or a decoupled decay of more than 1 a step, or with other betas or another epsilon than the step before.
///
/// With CatchUp::closed_form, an element makes up for any number of steps with one root and two quotients: nearly dense
/// updates, in little more time than lazy ones.
///
///     Deferred<AdamOptions> deferred(table.shape(0), {.catch_up = CatchUp::closed_form});
///
/// What Adam moves in missed steps is then within 1/1000 of the sum of the dense moves, for any learning rates; with the
/// default betas within 1/100,000 from step 100 on. All else is right but for roundings: states, decays, and what the
/// other optimizers move. (States below the least normal number of the type of sums become 0.) Dense
/// steps lose moves of less than half a unit in the last place of the parameter, most of those of bfloat16. The closed
/// form adds them up before it rounds: there, the two differ by more. The bits are still the same for any number of
/// threads and for any rows that are brought up to date together, but they depend on when rows are brought up to date.
///
/// There is no closed form of the steps for which there is no bound, nor of an epsilon below 1.2e-38, nor where beta1 is
/// not less than √beta2. These steps are computed one by one, with all before them, and so are the steps before others
/// with a new momentum, rho, beta or epsilon. Adam computes its first steps in this way while their corrections change
/// fast: 2 of the default betas, 30 with a beta1 of 0.99; and all steps if the betas are as near as 0.9 and 0.9.
///
/// `Deferred<AdamOptions, Cuda>`, for tables in device memory, is in rowan/thrust/sparse/deferred.hpp.
template <class Options>
class Deferred<Options, Cpu> {
    using Rule = typename detail::deferred_rule<Options>::type;
    using Checks = detail::DeferredChecks<Options>;

public:
    /// For a table of this height, whose rows have missed nothing.
    /// errors   ShapeError if height is negative; std::bad_alloc or std::length_error if there is not enough memory
    /// cost     2 bytes a row
    explicit Deferred(Height height, DeferredOptions options = {})
        : options_(options), done_(static_cast<std::size_t>(static_cast<std::int64_t>(height))) {}

    std::int64_t height() const noexcept { return static_cast<std::int64_t>(done_.size()); }  ///< the rows of the table

    /// Whether a row may have missed a step.
    bool behind() const noexcept { return history_.size() != 0; }
    /// Whether the next step begins with a flush.
    bool full() const noexcept { return history_.size() == std::numeric_limits<Step>::max(); }

    /// The number of steps that a row has missed.
    /// errors   IndexError if row is not in [0, height)
    /// cost     O(1)
    std::size_t missed(std::int64_t row) const {
        if (row < 0 || row >= height()) throw IndexError("row", row, height());
        return history_.size() - done_[static_cast<std::size_t>(row)];
    }

    /// One step: brings the rows of `grad` up to date, then updates them as the optimizer's function does.
    /// shapes   grad a SelectedRows of this height, or a Tensor; param and states as of the optimizer's function
    /// errors   those of the optimizer's function; ShapeError if the height is another; std::bad_alloc, after which rows
    ///          may be up to date, but the step has not been made
    /// cost     that of the optimizer's function, and of catch_up for the rows of grad; 100 bytes until the next flush.
    ///          A dense gradient flushes, and so does a step after 65,535 others. With a closed form 160 bytes more, and
    ///          sums over the last steps: over 40 / (1 - beta1 / √beta2) of them, or 40 / (1 - momentum).
    template <class G, class... P>
    void step(Cpu exec, SelectedRows<G> const& grad, Options const& options, Tensor<P>&... param) {
        Rule const rule = Checks::step(exec, height(), grad, options, param...);
        history_.reserve();  // also of a check, so that no memory is needed after it
        if (options_.catch_up == CatchUp::closed_form) closed_.reserve(history_);
        if (detail::only_checking()) return;
        if constexpr (!std::is_same_v<detail::sum_t<G>, G>) {
            if (!grad.merged()) return step(exec, merge(exec, grad), options, param...);  // rounds sums, as to_dense
        }
        RowPlan<> const plan(exec, grad);
        if (full()) flush(exec, param...);
        replay(exec, plan.rows().data(), plan.rows().size(), param...);
        rule.visit([&]<class Formula>(Formula const& formula) {
            update_rows(exec, plan, grad.value(), LaneRule<detail::of_dense<Formula>>{{formula}}, param...);
        });
        history_.add(rule, sizeof...(P) - 1);
        if (options_.catch_up == CatchUp::closed_form) closed_.add(history_);
        for (auto const row : plan.rows()) done_[static_cast<std::size_t>(row)] = static_cast<Step>(history_.size());
    }
    template <class G, class... P>
    void step(Cpu exec, Tensor<G> const& grad, Options const& options, Tensor<P>&... param) {
        Rule const rule = Checks::step(exec, height(), grad, options, param...);
        if (detail::only_checking()) return;
        flush(exec, param...);
        update_rows(exec, grad, rule, param...);
    }
    template <class G, class... P>
    requires detail::gradient_on<G, Cpu>
    void step(G const& grad, Options const& options, Tensor<P>&... param) { step(Cpu{}, grad, options, param...); }

    /// Brings rows up to date, in which a row may repeat. Only rows that have missed steps are read.
    /// shapes   param [height, ...], the states of its shape
    /// errors   ShapeError if shapes do not match; IndexError if a row is not in [0, height); Error if two tensors share
    ///          memory
    /// cost     a sort of the rows; for each row that has missed steps one read and one write, and their arithmetic: of a
    ///          closed form that of one or two steps
    template <class... P>
    void catch_up(Cpu exec, Ids<> rows, Tensor<P>&... param) {
        Checks::tensors(height(), param...);
        RowPlan<> const plan(exec, rows, Height(height()));
        if (detail::only_checking()) return;
        replay(exec, plan.rows().data(), plan.rows().size(), param...);
    }
    template <class... P>
    void catch_up(Ids<> rows, Tensor<P>&... param) {
        catch_up(Cpu{}, rows, param...);
    }

    /// Brings all rows up to date.
    /// shapes   as catch_up
    /// errors   as catch_up
    /// cost     one read and one write of the rows that have missed steps, and the arithmetic of these steps
    template <class... P>
    void flush(Cpu exec, Tensor<P>&... param) {
        detail::check_exec(exec);
        Checks::tensors(height(), param...);
        if (detail::only_checking() || history_.size() == 0) return;
        replay(exec, nullptr, done_.size(), param...);
        history_.clear();
        closed_.clear();
        std::fill(done_.begin(), done_.end(), Step{0});
    }
    template <class... P>
    requires(sizeof...(P) > 0) void flush(Tensor<P>&... param) { flush(Cpu{}, param...); }

    /// What rows have missed, to be saved with the table, which need not be flushed then.
    /// errors   std::bad_alloc
    /// cost     2 bytes a row and the options of each step
    DeferredContents<Options> contents() const {
        DeferredContents<Options> all{.made = done_};
        for (std::size_t step = 0; step < history_.size(); ++step)
            history_[step].visit([&](auto const& formula) { all.steps.push_back(formula.options); });
        return all;
    }
    /// Takes what rows of a table had missed when it was saved.
    /// shapes   as catch_up
    /// errors   ShapeError if it is of another height or has more than 65,535 steps; IndexError if a row has made more steps
    ///          than there are; those of the optimizer's function for the options of a step; std::bad_alloc; nothing has
    ///          changed
    /// cost     2 bytes a row and 100 for each step; with a closed form 160 more
    template <class... P>
    void assign(DeferredContents<Options> saved, Tensor<P>&... param) {
        Checks::tensors(height(), param...);
        if (saved.made.size() != done_.size()) throw ShapeError("made.size()", saved.made.size(), done_.size());
        static constexpr std::size_t most = std::numeric_limits<Step>::max();
        if (saved.steps.size() > most) throw ShapeError("steps.size()", saved.steps.size(), {"at most ", most});
        for (std::size_t row = 0; row < done_.size(); ++row) {
            if (saved.made[row] > saved.steps.size())
                throw IndexError("made", row, saved.made[row], saved.steps.size() + 1);
        }
        Deferred other(Height(height()), options_);
        for (auto const& options : saved.steps) {
            other.history_.reserve();
            other.history_.add(detail::deferred_rule<Options>::make(options, param...), sizeof...(P) - 1);
            if (options_.catch_up != CatchUp::closed_form) continue;
            other.closed_.reserve(other.history_);
            other.closed_.add(other.history_);
        }
        other.done_ = std::move(saved.made);
        *this = std::move(other);
    }

    /// Changes the height. New rows have missed nothing; rows that no longer exist are forgotten.
    /// errors   as the constructor
    /// cost     O(height)
    void resize(Height height) {
        done_.resize(static_cast<std::size_t>(static_cast<std::int64_t>(height)), static_cast<Step>(history_.size()));
    }

    /// Says that rows have new values and states, such as those of new keys in a KeyedTable: they have missed nothing.
    /// errors   IndexError if a row is not in [0, height); nothing has changed then
    /// cost     O(number of rows)
    void renew(Ids<> rows) {
        detail::check_ids(Cpu{}, "rows", rows, height());
        rows.visit([&](auto some) {
            for (auto const row : some) done_[static_cast<std::size_t>(row)] = static_cast<Step>(history_.size());
        });
    }

private:
    using Step = std::uint16_t;

    /// Brings n distinct rows up to date: those of the list, or without one the first n.
    template <class P, class... S>
    void replay(Cpu exec, std::int64_t const* list, std::size_t n, Tensor<P>& param, Tensor<S>&... state) {
        using Sum = std::common_type_t<detail::sum_t<P>, detail::sum_t<S>...>;
        std::size_t const now = history_.size(), width = param.row_size();
        if (now == 0 || width == 0) return;
        auto const at = [&](std::size_t k) { return list == nullptr ? k : static_cast<std::size_t>(list[k]); };
        auto const least = detail::LaneReplay<Sum, 1, Rule, P, S...>::shrinkage(history_.ahead(0));
        constexpr std::size_t chunk = 64;
        parallel_for(exec, n, chunk, [&](std::size_t begin, std::size_t end) {
            struct Behind {
                std::array<std::size_t, chunk> rows;
                std::size_t count = 0;
            };
            auto const find = [&](std::size_t first) {
                Behind found;
                std::size_t const last = std::min(end, first + chunk);
                for (std::size_t k = first; k < last; ++k)
                    if (done_[at(k)] != now) found.rows[found.count++] = at(k);
                for (std::size_t k = last; k < std::min(end, last + chunk); ++k)
                    __builtin_prefetch(done_.data() + at(k), 1);
                // rows that have missed about as many steps go together
                if constexpr (detail::LaneReplay<Sum, 1, Rule, P, S...>::waits)
                    std::sort(found.rows.begin(), found.rows.begin() + found.count,
                              [&](std::size_t a, std::size_t b) { return done_[a] < done_[b]; });
                return found;
            };
            Behind ahead = find(begin);
            for (std::size_t first = begin; first < end; first += chunk) {
                Behind const here = ahead;
                ahead = find(std::min(end, first + chunk));
                std::size_t const count = here.count;
                auto const& rows = here.rows;
                detail::on_lanes<Sum>(width, [&]<class V>(detail::as<V>) ROWAN_INLINED {
                    auto const prefetch = [&](std::size_t k) ROWAN_INLINED {
                        if (k >= ahead.count) return;
                        detail::prefetch_row<true>(param.data() + ahead.rows[k] * width, width * sizeof(P));
                        (detail::prefetch_row<true>(state.data() + ahead.rows[k] * width, width * sizeof(S)), ...);
                    };
                    // where it is faster, rows k and k + 1 go together, in their first `lanes` elements
                    constexpr std::size_t lanes = detail::lanes_of_two<V, Rule, P, S...>;
                    bool by_two = false, second = false;
                    if constexpr (lanes != 0) by_two = lanes <= width && width < 2 * lanes;
                    for (std::size_t k = 0; k < count; ++k) {
                        prefetch(k);
                        std::size_t const row = rows[k], from = closed_.from(done_[row], now);
                        std::size_t done = second ? lanes : 0;
                        second = by_two && !second && k + 1 < count && from == now &&
                                 closed_.from(done_[rows[k + 1]], now) == now;
                        if constexpr (lanes > 0) {
                            if (second) {
                                detail::replay_two<V>(history_, least, done_[row], done_[rows[k + 1]], now, row * width,
                                                      rows[k + 1] * width, param.data(), state.data()...);
                                done = lanes;
                            }
                        }
                        if (done_[row] < from) {
                            detail::replay_row<V>(history_, least, done_[row], from, width - done,
                                                  param.data() + row * width + done,
                                                  (state.data() + row * width + done)...);
                        }
                        if (from < now) {
                            detail::for_with<V>(closed_.template formula<Sum>(history_, from), width,
                                                param.data() + row * width, (state.data() + row * width)...);
                        }
                        done_[row] = static_cast<Step>(now);
                    }
                    for (std::size_t k = count; k < ahead.count; ++k) prefetch(k);
                });
            }
        });
    }

    DeferredOptions options_;
    detail::StepHistory<Rule> history_;  // the steps since the last flush
    detail::ClosedForm<Rule> closed_;    // of these, unless rows catch up exactly
    std::vector<Step> done_;             // how many of these each row has made
};

}  // namespace rowan::inline v0
