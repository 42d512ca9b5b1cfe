// rowan/thrust/sparse/update_rows.hpp: update_rows on a device, and with it the optimizers of rowan/sparse.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/update_rows.hpp>
#include <rowan/thrust/sparse/detail/row_sums.hpp>
#include <rowan/thrust/sparse/merge.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

/// The elements of one row, passed to a rule of update_rows on a device; on the host it is std::span.
template <class T>
class RowSpan {
public:
    /// The elements [first, first + size).
    ROWAN_HD RowSpan(T* first, std::size_t size) : first_(first), size_(size) {}

    ROWAN_HD T* data() const { return first_; }  ///< the first element
    ROWAN_HD std::size_t size() const { return size_; }
    ROWAN_HD bool empty() const { return size_ == 0; }
    ROWAN_HD T& operator[](std::size_t i) const { return first_[i]; }
    ROWAN_HD T* begin() const { return first_; }
    ROWAN_HD T* end() const { return first_ + size_; }

private:
    T* first_;
    std::size_t size_;
};

namespace detail {

/// The tensors that an update writes: param and states.
template <class... P>
struct Targets {
    /// Calls f(x...) for each of N elements of the tensors read so far.
    template <int N, class F, class... X>
    ROWAN_HD void apply(std::size_t, F const& f, X&... x) const {
        for (int e = 0; e < N; ++e) f(x.x[e]...);
    }
    template <class Rule, class... X>
    ROWAN_HD void apply_row(std::size_t, Rule const& rule, X const&... x) const {
        rule(x...);
    }
};

template <class P, class... Rest>
struct Targets<P, Rest...> {
    P* p;
    std::size_t width;
    Targets<Rest...> rest;

    template <class D>
    explicit Targets(Tensor<P, D>& param, Tensor<Rest, D>&... states)
        : p(param.data()), width(param.row_size()), rest(states...) {}

    bool in_chunks(std::size_t elements) const {
        if constexpr (sizeof...(Rest) == 0) {
            return detail::in_chunks(elements, static_cast<P const*>(p));
        } else {
            return detail::in_chunks(elements, static_cast<P const*>(p)) && rest.in_chunks(elements);
        }
    }

    /// Reads N elements at `at` of each tensor, converts them to the type of x, calls f with x, y and these, and writes
    /// them back.
    template <int N, class F, class X, class... Y>
    ROWAN_HD void apply(std::size_t at, F const& f, X& x, Y&... y) const {
        X numbers = load_chunk<std::remove_reference_t<decltype(x.x[0])>, N>(p + at);
        rest.template apply<N>(at, f, x, y..., numbers);
        store_chunk(numbers, p + at);
    }

    template <class Rule, class... X>
    ROWAN_HD void apply_row(std::size_t row, Rule const& rule, X const&... x) const {
        rest.apply_row(row, rule, x..., RowSpan<P>(p + row * width, width));
    }
};
template <class D, class... P>
Targets(Tensor<P, D>&...) -> Targets<P...>;

/// Applies a formula to the elements of a plan's rows, given their summed gradient.
template <class Formula, class V, class S, int N, class... P>
struct UpdateSummed {
    Formula formula;
    Targets<P...> targets;
    std::int64_t const* rows;
    std::size_t width;

    ROWAN_HD void operator()(std::int64_t run, std::size_t column, Chunk<S, N> const& sum) const {
        Chunk<V, N> g;
        for (int e = 0; e < N; ++e) g.x[e] = static_cast<V>(sum.x[e]);
        targets.template apply<N>(static_cast<std::size_t>(rows[run]) * width + column, formula, g);
    }
};

/// Applies a formula to all elements, given a dense gradient.
template <class Formula, class V, int N, class T, class... P>
struct UpdateDense {
    Formula formula;
    Targets<P...> targets;
    T const* grad;

    ROWAN_HD void operator()(std::size_t k) const {
        auto const wide = load_chunk<sum_t<T>, N>(grad + k * N);
        Chunk<V, N> g;
        for (int e = 0; e < N; ++e) g.x[e] = static_cast<V>(wide.x[e]);
        targets.template apply<N>(k * N, formula, g);
    }
};

/// Applies a rule to whole rows, one thread per row.
template <class Rule, class S, class... P>
struct UpdateRow {
    Rule rule;
    Targets<P...> targets;
    S const* sums;
    std::size_t width;
    std::int64_t const* rows;   // nullptr: row k itself
    std::int64_t const* count;  // the number of rows; nullptr: all

    ROWAN_HD void operator()(std::size_t k) const {
        if (count != nullptr && static_cast<std::int64_t>(k) >= *count) return;
        std::size_t const row = rows == nullptr ? k : static_cast<std::size_t>(rows[k]);
        targets.apply_row(row, rule, RowSpan<S const>(sums + k * width, width));
    }
};

template <class T, class S>
struct WidenElement {
    T const* from;
    S* to;
    ROWAN_HD void operator()(std::size_t k) const { to[k] = load<S>(from + k); }
};

/// The sums of a plan's rows, contiguous, in memory for as many rows as there are lookups.
template <class System, class T>
DeviceStorage<sum_t<T>, System> summed_rows(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                                            Tensor<T, ThrustDevice<System>> const& value) {
    using S = sum_t<T>;
    DeviceStorage<S, System> sums(exec, value.size());
    std::size_t const width = value.row_size();
    sum_rows(exec, plan, value, true, StoreSum<S, S, 1>{sums.data(), width},
             StoreSum<S, S, chunk_size>{sums.data(), width});
    return sums;
}

/// How a rule updates rows on a device.
template <class Rule>
struct DeviceRule {
    template <class System, class T, class... P>
    static void planned(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                        Tensor<T, ThrustDevice<System>> const& value, Rule const& rule,
                        Tensor<P, ThrustDevice<System>>&... param) {
        using S = sum_t<T>;
        check_here(exec, value, param...);
        std::size_t const width = value.row_size();
        if (plan.size() == 0) return;
        PlanArrays const arrays = RowPlanAccess::arrays(plan);
        Targets const targets(param...);
        if constexpr (is_elementwise<Rule>) {
            using V = std::common_type_t<S, sum_t<P>...>;
            rule.visit([&]<class Formula>(Formula const& formula) {
                sum_rows(exec, plan, value, targets.in_chunks(width),
                         UpdateSummed<Formula, V, S, 1, P...>{formula, targets, arrays.rows, width},
                         UpdateSummed<Formula, V, S, chunk_size, P...>{formula, targets, arrays.rows, width});
            });
        } else {
            auto const sums = summed_rows(exec, plan, value);
            launch(exec, plan.size(),
                   UpdateRow<Rule, S, P...>{rule, targets, sums.data(), width, arrays.rows, arrays.count});
        }
    }

    template <class System, class T, class... P>
    static void dense(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& grad, Rule const& rule,
                      Tensor<P, ThrustDevice<System>>&... param) {
        using S = sum_t<T>;
        check_here(exec, grad, param...);
        Targets const targets(param...);
        if constexpr (is_elementwise<Rule>) {
            using V = std::common_type_t<S, sum_t<P>...>;
            rule.visit([&]<class Formula>(Formula const& formula) {
                std::size_t const n = grad.size();
                if (in_chunks(n, grad.data()) && targets.in_chunks(n)) {
                    launch(exec, n / chunk_size,
                           UpdateDense<Formula, V, chunk_size, T, P...>{formula, targets, grad.data()});
                } else {
                    launch(exec, n, UpdateDense<Formula, V, 1, T, P...>{formula, targets, grad.data()});
                }
            });
        } else {
            auto const update = [&](S const* g) {
                launch(exec, grad.shape()[0],
                       UpdateRow<Rule, S, P...>{rule, targets, g, grad.row_size(), nullptr, nullptr});
            };
            if constexpr (std::is_same_v<S, T>) {
                update(grad.data());
            } else {
                DeviceStorage<S, System> const wide(exec, grad.size());
                launch(exec, grad.size(), WidenElement<T, S>{grad.data(), wide.data()});
                update(wide.data());
            }
        }
    }
};

/// Whether DeviceRule<Rule> works without a call of the rule itself on the device.
template <class Rule>
inline constexpr bool has_device_form = is_elementwise<Rule>;

template <class Rule, class T, class... P>
inline constexpr bool is_device_rule = std::is_invocable_v<Rule const&, RowSpan<sum_t<T> const>, RowSpan<P>...>;

/// Enqueues rules.
template <class System>
struct RowUpdates<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class Rule, class T, class... P>
    static constexpr void check_rule() {
        static_assert(has_device_form<Rule> || is_device_rule<Rule, T, P...>,
                      "rowan::update_rows: on a device the rule must take a rowan::RowSpan of const sums of the "
                      "gradient, then a RowSpan for param and each state");
    }

    template <class T, class Rule, class... P>
    static void planned(Device const& exec, RowPlan<Device> const& plan, Tensor<T, Device> const& value,
                        Rule const& rule, Tensor<P, Device>&... param) {
        DeviceRule<Rule>::planned(exec, plan, value, rule, param...);
    }

    template <class T, class Rule, class... P>
    static void dense(Device const& exec, Tensor<T, Device> const& grad, Rule const& rule,
                      Tensor<P, Device>&... param) {
        DeviceRule<Rule>::dense(exec, grad, rule, param...);
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
