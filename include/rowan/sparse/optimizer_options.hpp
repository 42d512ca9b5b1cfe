// rowan/sparse/optimizer_options.hpp: the settings of the optimizers.
#pragma once

#include <rowan/core/fields.hpp>

#include <cstdint>

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

/// The options of sgd.
struct SgdOptions {
    double learning_rate = 0.01;  ///< the step size
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · p is added to the gradient of touched rows
    bool decoupled = false;       ///< touched rows are multiplied by 1 - learning_rate · weight_decay instead

    ROWAN_OPTIONS(SgdOptions, learning_rate, weight_decay, decoupled)
};

}  // namespace rowan::inline v0
