// rowan/sparse/optimizer_options.hpp: the settings of the optimizers, and their declarations: states and names.
#pragma once

#include <rowan/core/fields.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rowan::inline v0 {

/// The options of adadelta.
struct AdadeltaOptions {
    double learning_rate = 1.0;  ///< the factor of the steps
    double rho = 0.9;            ///< decay rate of the mean squares, in [0, 1)
    double epsilon = 1e-6;       ///< added inside both square roots
    double weight_decay = 0.0;   ///< L2 penalty: weight_decay · p is added to the gradient of touched rows

    ROWAN_OPTIONS(AdadeltaOptions, learning_rate, rho, epsilon, weight_decay)
};

/// The options of adagrad and rowwise_adagrad.
struct AdaGradOptions {
    double learning_rate = 0.01;  ///< the step size
    double epsilon = 1e-6;        ///< added to the square root
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · p is added to the gradient of touched rows
    bool decoupled = false;       ///< touched rows are multiplied by 1 - learning_rate · weight_decay instead

    ROWAN_OPTIONS(AdaGradOptions, learning_rate, epsilon, weight_decay, decoupled)
};

/// The options of adam.
struct AdamOptions {
    double learning_rate = 0.001;  ///< the step size
    double beta1 = 0.9;            ///< decay rate of the mean gradient, in [0, 1)
    double beta2 = 0.999;          ///< decay rate of the mean square, in [0, 1)
    double epsilon = 1e-8;         ///< added to the square root
    /// The number of this step, counted from 1 by the caller, including batches that touch no row.
    std::int64_t step = 1;
    double weight_decay = 0.0;  ///< L2 penalty: weight_decay · p is added to the gradient of touched rows
    bool decoupled = false;     ///< AdamW: touched rows are multiplied by 1 - learning_rate · weight_decay instead

    ROWAN_OPTIONS(AdamOptions, learning_rate, beta1, beta2, epsilon, step, weight_decay, decoupled)
};

/// The options of adamax.
struct AdamaxOptions {
    double learning_rate = 0.002;  ///< the step size
    double beta1 = 0.9;            ///< decay rate of the mean gradient, in [0, 1)
    double beta2 = 0.999;          ///< decay rate of the greatest gradient, in [0, 1)
    double epsilon = 1e-8;         ///< added to the absolute value of the gradient
    /// The number of this step, counted from 1 by the caller, including batches that touch no row.
    std::int64_t step = 1;
    double weight_decay = 0.0;  ///< L2 penalty: weight_decay · p is added to the gradient of touched rows

    ROWAN_OPTIONS(AdamaxOptions, learning_rate, beta1, beta2, epsilon, step, weight_decay)
};

/// The options of ftrl.
struct FtrlOptions {
    double learning_rate = 0.01;  ///< the step size; not 0
    double l1 = 0.0;              ///< L1 penalty, which makes small parameters exactly 0
    double l2 = 0.0;              ///< L2 penalty
    double lr_power = -0.5;       ///< in [-1, 0]; the usual -0.5 uses the square root

    ROWAN_OPTIONS(FtrlOptions, learning_rate, l1, l2, lr_power)
};

/// The options of lamb.
struct LambOptions {
    double learning_rate = 0.001;  ///< the norm of a step, divided by the norm of the parameter
    double beta1 = 0.9;            ///< decay rate of the mean gradient, in [0, 1)
    double beta2 = 0.999;          ///< decay rate of the mean square, in [0, 1)
    double epsilon = 1e-6;         ///< added to the square root
    /// The number of this step, counted from 1 by the caller.
    std::int64_t step = 1;
    double weight_decay = 0.01;  ///< weight_decay · p is added to the direction

    ROWAN_OPTIONS(LambOptions, learning_rate, beta1, beta2, epsilon, step, weight_decay)
};

/// The options of momentum.
struct MomentumOptions {
    double learning_rate = 0.01;  ///< the step size
    double momentum = 0.9;        ///< mu: the momentum factor
    bool nesterov = false;        ///< the step uses g + mu · v instead of v
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · p is added to the gradient of touched rows

    ROWAN_OPTIONS(MomentumOptions, learning_rate, momentum, nesterov, weight_decay)
};

/// The options of rmsprop.
struct RmsPropOptions {
    double learning_rate = 0.01;  ///< the step size
    double rho = 0.9;             ///< decay rate of the averages, in [0, 1)
    double momentum = 0.0;        ///< the momentum factor
    double epsilon = 1e-6;        ///< added inside the square root

    ROWAN_OPTIONS(RmsPropOptions, learning_rate, rho, momentum, epsilon)
};

/// The options of rowwise_rmsprop.
struct RowwiseRmsPropOptions {
    double learning_rate = 0.01;  ///< the step size
    double rho = 0.99;            ///< decay rate of the averages, in [0, 1)
    double epsilon = 1e-6;        ///< added to the square root
    double decay = 0.0;       ///< the decay of a row for each step since its last, times the learning rate; 0 or more
    double min_shrink = 0.1;  ///< the least that a step multiplies a row by, in [0, 1]
    /// The number of this step, counted from 1 by the caller, including batches that touch no row.
    std::int64_t step = 1;

    ROWAN_OPTIONS(RowwiseRmsPropOptions, learning_rate, rho, epsilon, decay, min_shrink, step)
};

/// The options of sgd.
struct SgdOptions {
    double learning_rate = 0.01;  ///< the step size
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · p is added to the gradient of touched rows
    bool decoupled = false;       ///< touched rows are multiplied by 1 - learning_rate · weight_decay instead

    ROWAN_OPTIONS(SgdOptions, learning_rate, weight_decay, decoupled)
};

/// The states of optimizers, by which tables, files and nets name them.
namespace slot {

#define ROWAN_STATE(state)                               \
    struct state {                                       \
        static constexpr std::string_view name = #state; \
    };
ROWAN_STATE(moment)       // mean or sum of gradients, or of their squares
ROWAN_STATE(moment2)      // mean of squares beside that mean
ROWAN_STATE(norm)         // the largest gradient
ROWAN_STATE(mean_square)  // mean of the squares of gradients
ROWAN_STATE(mean_step)    // mean of the squares of steps
ROWAN_STATE(mean_grad)    // mean of gradients
ROWAN_STATE(velocity)
ROWAN_STATE(last_step)  // number of the last step of a row, an integer
ROWAN_STATE(linear)
#undef ROWAN_STATE

}  // namespace slot

/// The states of an optimizer, in the order of its arguments.
template <class... State>
struct state_list {
    static constexpr std::size_t size = sizeof...(State);  ///< how many there are
};

/// The declarations of the optimizers: what all of rowan knows of them besides their formulas. See Optimizer.
namespace optim {

/// See rowan::adadelta.
struct adadelta {
    using options = AdadeltaOptions;
    using states = state_list<slot::mean_square, slot::mean_step>;
    static constexpr std::string_view name = "adadelta";
    static constexpr std::string_view brief = "Adadelta: changes param and its states in place.";
};

/// See rowan::adagrad.
struct adagrad {
    using options = AdaGradOptions;
    using states = state_list<slot::moment>;
    static constexpr std::string_view name = "adagrad";
    static constexpr std::string_view brief =
        "AdaGrad: changes param and moment in place, by a dense or row-sparse gradient.";
};

/// See rowan::rowwise_adagrad.
struct rowwise_adagrad {
    using options = AdaGradOptions;
    using states = state_list<slot::moment>;
    static constexpr bool one_state_per_row = true;  ///< the state has the shape [height]
    static constexpr std::string_view name = "rowwise_adagrad";
    static constexpr std::string_view brief = "AdaGrad with one state for each row: changes param and moment in place.";
};

/// See rowan::adam.
struct adam {
    using options = AdamOptions;
    using states = state_list<slot::moment, slot::moment2>;
    static constexpr std::string_view name = "adam";
    static constexpr std::string_view brief = "Adam, or AdamW if decoupled: changes param and both moments in place.";
};

/// See rowan::adamax.
struct adamax {
    using options = AdamaxOptions;
    using states = state_list<slot::moment, slot::norm>;
    static constexpr std::string_view name = "adamax";
    static constexpr std::string_view brief = "AdaMax: changes param and its states in place.";
};

/// See rowan::ftrl.
struct ftrl {
    using options = FtrlOptions;
    using states = state_list<slot::moment, slot::linear>;
    static constexpr std::string_view name = "ftrl";
    static constexpr std::string_view brief = "FTRL: changes param and its states in place.";
};

/// See rowan::lamb.
struct lamb {
    static constexpr bool changes_all_rows = true;
    using options = LambOptions;
    using states = state_list<slot::moment, slot::moment2>;
    static constexpr std::string_view name = "lamb";
    static constexpr std::string_view brief =
        "LAMB: changes param and both moments in place, all rows by a row-sparse gradient too.";
};

/// See rowan::momentum.
struct momentum {
    using options = MomentumOptions;
    using states = state_list<slot::velocity>;
    static constexpr std::string_view name = "momentum";
    static constexpr std::string_view brief = "Momentum: changes param and velocity in place.";
};

/// See rowan::rmsprop, with three states.
struct centered_rmsprop {
    using options = RmsPropOptions;
    using states = state_list<slot::moment, slot::mean_grad, slot::velocity>;
};

/// See rowan::rmsprop.
struct rmsprop {
    using with_more_states = centered_rmsprop;
    using options = RmsPropOptions;
    using states = state_list<slot::moment, slot::velocity>;
    static constexpr std::string_view name = "rmsprop";
    static constexpr std::string_view brief = "RMSProp: changes param and its states in place.";
};

/// See rowan::rowwise_rmsprop.
struct rowwise_rmsprop {
    using options = RowwiseRmsPropOptions;
    using states = state_list<slot::mean_square, slot::last_step>;
    static constexpr bool one_state_per_row = true;
};

/// See rowan::sgd.
struct sgd {
    using options = SgdOptions;
    using states = state_list<>;
    static constexpr std::string_view name = "sgd";
    static constexpr std::string_view brief =
        "param -= learning_rate · grad, in place, by a dense or row-sparse gradient.";
};

}  // namespace optim

}  // namespace rowan::inline v0
