// rowan/thrust/sparse/deferred.hpp: Deferred on a device.
#pragma once

#include <rowan/sparse/deferred.hpp>
#include <rowan/thrust/sparse/detail/device_steps.hpp>
#include <rowan/thrust/sparse/row_plan.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace rowan::inline v0 {

/// Deferred for tables in device memory, with the bits of the host's and of dense updates: `Deferred<AdamOptions, Cuda>`.
/// A thread for each element computes the steps that it has missed, one by one, and leaves out roots and quotients where
/// the host does. There is no closed form on devices.
///
/// `step`, `catch_up` and `renew` are asynchronous. `flush` waits, as the host must know that no steps are left. A step
/// after a call with a bad id is not made, as if that call had thrown. Without an execution argument and without tensors,
/// a call runs where this object was made. Calls on several streams must wait for each other.
template <class Options, class System>
class Deferred<Options, ThrustDevice<System>> {
    using Rule = typename detail::deferred_rule<Options>::type;
    using Checks = detail::DeferredChecks<Options>;
    using Memory = detail::ThrustSystem<System>;

public:
    using Device = ThrustDevice<System>;

    /// For a table of this height, whose rows have missed nothing.
    /// errors   ShapeError if height is negative; CudaError or std::bad_alloc if there is not enough memory
    /// cost     2 bytes a row, and one asynchronous write of them
    Deferred(Device const& exec, Height height)
        : done_(exec, static_cast<std::size_t>(static_cast<std::int64_t>(height))), count_(exec, 1) {
        detail::launch_always(exec, done_.size() + 1, forget());
    }
    explicit Deferred(Height height) : Deferred(Device{}, height) {}

    std::int64_t height() const noexcept { return static_cast<std::int64_t>(done_.size()); }  ///< the rows of the table

    /// The number of steps that a row has missed.
    /// errors   IndexError if row is not in [0, height); those of synchronize
    /// cost     waits for the work enqueued before
    std::size_t missed(Device const& exec, std::int64_t row) const {
        if (row < 0 || row >= height()) throw IndexError("row", row, height());
        check_here(exec);
        std::uint16_t done = 0;
        detail::StepCount count{};
        detail::read_back(exec, {{&done, done_.data() + row, sizeof done}, {&count, count_.data(), sizeof count}});
        return count.size - done;
    }
    std::size_t missed(std::int64_t row) const { return missed(done_.device(), row); }

    /// One step, as on the host.
    /// shapes   grad a SelectedRows of this height, or a Tensor; param and states as of the optimizer's function
    /// errors   those of the optimizer's function; ShapeError if the height is another; CudaError or std::bad_alloc, after
    ///          which rows may be up to date, but the step has not been made; those of flush
    /// cost     that of the optimizer's function, and of catch_up for the rows of grad; device memory of 100 bytes for each
    ///          step between two flushes, of which twice as much may be allocated, and which is kept. A dense gradient
    ///          flushes, and so does a step after 65,535 others.
    template <class G, class... P>
    void step(Device const& exec, SelectedRows<G, Device> const& grad, Options const& options,
              Tensor<P, Device>&... param) {
        Rule const rule = Checks::step(exec, height(), grad, options, param...);
        if (detail::only_checking()) return;
        check_here(exec, grad.value(), param...);
        RowPlan<Device> const plan(exec, grad);
        if (most_ == std::numeric_limits<std::uint16_t>::max()) flush(exec, param...);
        reserve(exec);
        bring(exec, plan, param...);
        rule.visit([&]<class Formula>(Formula const& formula) {
            update_rows(exec, plan, grad.value(), LaneRule<detail::of_sums<G, Formula>>{{formula}}, param...);
        });
        add(exec, rule, sizeof...(P) - 1);
        mark(exec, plan);
    }
    template <class G, class... P>
    void step(Device const& exec, Tensor<G, Device> const& grad, Options const& options, Tensor<P, Device>&... param) {
        Rule const rule = Checks::step(exec, height(), grad, options, param...);
        if (detail::only_checking()) return;
        flush(exec, param...);
        update_rows(exec, grad, rule, param...);
    }
    template <class G, class... P>
    requires detail::gradient_on<G, Device>
    void step(G const& grad, Options const& options, Tensor<P, Device>&... param) {
        step(grad.device(), grad, options, param...);
    }

    /// Brings rows up to date, in which a row may repeat. Only rows that have missed steps are read.
    /// shapes   param [height, ...], the states of its shape
    /// errors   ShapeError if shapes do not match; IndexError if a row is not in [0, height), for rows in device memory
    ///          from the next synchronize; Error if two tensors share memory
    /// cost     a sort of the rows, and the steps that they have missed; not waited for
    template <class... P>
    void catch_up(Device const& exec, Ids<Device> rows, Tensor<P, Device>&... param) {
        Checks::tensors(height(), param...);
        check_here(exec, param...);
        RowPlan<Device> const plan(exec, rows, Height(height()));
        if (detail::only_checking()) return;
        bring(exec, plan, param...);
    }
    template <class P, class... S>
    void catch_up(Ids<Device> rows, Tensor<P, Device>& param, Tensor<S, Device>&... state) {
        catch_up(param.device(), rows, param, state...);
    }

    /// Brings all rows up to date.
    /// shapes   as catch_up
    /// errors   as catch_up; those of synchronize, after which no row has changed
    /// cost     the steps that rows have missed; waits for them unless there were no steps since the last flush
    template <class... P>
    void flush(Device const& exec, Tensor<P, Device>&... param) {
        detail::check_exec(exec);
        Checks::tensors(height(), param...);
        if (detail::only_checking()) return;
        check_here(exec, param...);
        if (most_ == 0) return;
        replay(exec, done_.size(), {}, param...);
        detail::launch(exec, done_.size() + 1, forget());
        synchronize(exec);
        most_ = 0;
    }
    template <class P, class... S>
    void flush(Tensor<P, Device>& param, Tensor<S, Device>&... state) {
        flush(param.device(), param, state...);
    }

    /// Changes the height. New rows have missed nothing; rows that no longer exist are forgotten.
    /// errors   as the constructor
    /// cost     O(height)
    void resize(Device const& exec, Height height) {
        check_here(exec);
        auto const rows = static_cast<std::size_t>(static_cast<std::int64_t>(height));
        Done done(exec, rows);
        std::size_t const old = std::min(done_.size(), rows);
        if (old != 0) Memory::copy(exec, done.data(), done_.data(), old * sizeof(std::uint16_t));
        detail::launch_always(exec, rows - old, detail::MarkRows{done.data() + old, {}, count_.data()});
        done_ = std::move(done);
    }
    void resize(Height height) { resize(done_.device(), height); }

    /// Says that rows have new values and states: they have missed nothing.
    /// errors   IndexError if a row is not in [0, height), for rows in device memory from the next synchronize; nothing
    ///          has changed then
    /// cost     O(number of rows), not waited for
    void renew(Device const& exec, Ids<Device> rows) {
        check_here(exec);
        detail::DeviceIds<System> const ids(exec, "rows", rows, height());
        detail::check_on_device(exec, ids);
        ids.visit([&]<class I>(I const* list) {
            detail::launch(exec, ids.size(), detail::RenewRow<I>{done_.data(), list, count_.data()});
        });
    }
    void renew(Ids<Device> rows) { renew(done_.device(), rows); }

private:
    using Done = detail::DeviceStorage<std::uint16_t, System>;

    template <class... X>
    void check_here(Device const& exec, X const&... tensors) const {
        Memory::check(exec);
        Memory::check_place(count_.place());
        detail::check_here(exec, tensors...);
    }
    detail::ForgetSteps forget() const { return {done_.data(), done_.size(), count_.data()}; }
    detail::DeviceSteps<Rule> steps() const {
        detail::Coast* const bounds = bounds_.data();
        return {rules_.data(), bounds, bounds + bounds_.size() / 2, count_.data()};
    }

    /// Makes room for one more step.
    void reserve(Device const& exec) {
        constexpr std::size_t group = detail::DeviceSteps<Rule>::group;
        if (most_ < rules_.size()) return;
        std::size_t const room = std::max(2 * most_, 16 * group);
        detail::DeviceStorage<Rule, System> rules(exec, room);
        detail::DeviceStorage<detail::Coast, System> bounds(exec, 2 * (room / group));
        if (most_ != 0) {
            std::size_t const groups = most_ / group;
            Memory::copy(exec, rules.data(), rules_.data(), most_ * sizeof(Rule));
            Memory::copy(exec, bounds.data(), bounds_.data(), groups * sizeof(detail::Coast));
            Memory::copy(exec, bounds.data() + room / group, bounds_.data() + groups, groups * sizeof(detail::Coast));
        }
        rules_ = std::move(rules);
        bounds_ = std::move(bounds);
    }

    void add(Device const& exec, Rule const& rule, std::size_t states) {
        detail::Coast const coast = detail::coast_of(rule, states);
        if (most_ == 0) all_ = coast;
        all_.include(coast);
        bool const same = last_.has_value() && detail::same_step(*last_, rule);
        using Add = detail::AddStep<Rule>;
        detail::launch(exec, most_ / (detail::DeviceSteps<Rule>::group * Add::some) + 1, Add{steps(), rule, coast});
        detail::launch(exec, 1, detail::EndStep{count_.data(), ++calls_, same});
        last_ = rule;
        ++most_;
    }

    /// Brings the rows of a plan up to date.
    template <class... P>
    void bring(Device const& exec, RowPlan<Device> const& plan, Tensor<P, Device>&... param) {
        if (plan.size() == 0 || most_ == 0) return;
        auto const arrays = detail::RowPlanAccess::arrays(plan);
        replay(exec, plan.size(), {arrays.rows, arrays.count}, param...);
        mark(exec, plan);
    }
    /// Says that the rows of a plan have made all steps.
    void mark(Device const& exec, RowPlan<Device> const& plan) {
        if (plan.size() == 0) return;
        auto const arrays = detail::RowPlanAccess::arrays(plan);
        detail::launch(exec, plan.size(), detail::MarkRows{done_.data(), {arrays.rows, arrays.count}, count_.data()});
    }

    template <class P, class... S>
    void replay(Device const& exec, std::size_t n, detail::PlannedRows const& rows, Tensor<P, Device>& param,
                Tensor<S, Device>&... state) {
        using V = detail::compute_t<P, S...>;
        std::size_t const width = param.row_size();
        if (width == 0) return;
        auto const least = detail::LaneReplay<V, 1, Rule, P, S...>::shrinkage(all_);
        detail::launch(
            exec, n * width,
            detail::ReplayElement<V, Rule, P, S...>{steps(), least, done_.data(), rows, detail::FastDivmod(width),
                                                    detail::Targets<P, S...>(param, state...)});
    }

    Done done_;  // how many of the steps since the last flush each row has made
    detail::DeviceStorage<detail::StepCount, System> count_;
    detail::DeviceStorage<Rule, System> rules_;
    detail::DeviceStorage<detail::Coast, System> bounds_;  // of groups, then of these and all later ones
    std::size_t most_ = 0;  // the steps since the last flush, or a few more than were made
    std::uint64_t calls_ = 0;
    detail::Coast all_;  // of all steps since the last flush
    std::optional<Rule> last_;
};

}  // namespace rowan::inline v0
