// rowan/train/moving_average.hpp: layer::MovingAverage, averages of parameters over the steps of a training.
#pragma once

#include <rowan/op/optimizer/declared.hpp>
#include <rowan/train/optimizer.hpp>

#include <utility>

namespace rowan::inline v0::detail {

/// What layer::AverageOn<Device> has that does not depend on Device.
class AnyAverage {
public:
    explicit operator bool() const noexcept { return update_.kinds_ != nullptr; }  ///< whether there is one
    /// The options of the average; for one that is given.
    ROWAN_IF_CALLED NamedValues const& values() const;
    /// Adds a variable for the average of a parameter, `name@average`, to a scope, and the operator that updates it, for
    /// narrow element types also its state.
    /// errors   TypeError if the element type is not supported, or the parameter is a SelectedRows; ValueError if decay is not in [0, 1)
    /// cost     one operator and its variable
    ROWAN_IF_CALLED ParameterUpdate add(Scope& scope, Variable& parameter) const;

protected:
    AnyAverage() = default;
    explicit AnyAverage(AnyOptimizer update) : update_(std::move(update)) {}

private:
    AnyOptimizer update_;  // or none
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// After each step, average = decay · average + (1 - decay) · parameter, beginning with the parameter's first value (a
/// resumed training goes on with its averages). `parameters.averaged()` has the averages as parameters, for infer and
/// save_model. Averages have the element type of the parameter. Where dtype<T>::sum is another type, a state beside each has
/// its value in that type: rounded to 16 bits in every step, an average would not move. A training that is resumed without
/// that state goes on with the rounded average. Of tables, all rows are averaged, in every step.
///     auto const learned = train(cost, reader, {.average = layer::MovingAverage{.decay = 0.999}});
///     auto y = infer(predict, batch, learned.averaged());
struct MovingAverage {
    double decay = 0.999;  ///< the part of the average that a step keeps, in [0, 1)

    using op = moving_average_op;
    using narrowed_op = narrowed_moving_average_op;  ///< for elements that are narrower than sums
    ROWAN_OPTIONS(MovingAverage, decay)
};

/// A MovingAverage for parameters of given element types on a device, or none.
template <class Device>
class AverageOn : public rowan::detail::AnyAverage {
public:
    AverageOn() = default;  ///< none
    /// For parameters of the element types in trained_dtypes<MovingAverage>.
    AverageOn(MovingAverage const& average) : AnyAverage(OptimizerOn<Device>(average)) {}
    /// For parameters of other element types, such as user-defined ones.
    template <class... T>
    AverageOn(MovingAverage const& average, dtypes<T...> types) : AnyAverage(OptimizerOn<Device>(average, types)) {}
};

}  // namespace rowan::inline v0::layer

#include <rowan/train/moving_average_inl.hpp>
