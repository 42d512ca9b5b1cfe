// rowan/train/optimizers.hpp: the built-in optimizers of train and their settings.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/train/detail/option_values.hpp>

namespace rowan::inline v0::layer {

// Lazy optimizers leave rows without a gradient alone. Others let the states of all rows decay, and all rows move with their states.

/// Stochastic gradient descent, see rowan::sgd; duplicates are summed first of 16-bit tables and with a weight decay.
struct Sgd {
    double learning_rate = 0.01;  ///< step size
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · param is added to the gradient of touched rows
    bool decoupled = false;       ///< touched rows are multiplied by 1 - learning_rate · weight_decay instead

    using op = sgd_op;
    ROWAN_OPTIONS(Sgd, learning_rate, weight_decay, decoupled)
};

/// AdaGrad, see rowan::adagrad.
struct AdaGrad {
    double learning_rate = 0.01;  ///< step size
    double epsilon = 1e-6;        ///< added to the square root
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · param is added to the gradient of touched rows
    bool decoupled = false;       ///< touched rows are multiplied by 1 - learning_rate · weight_decay instead

    using op = adagrad_op;
    ROWAN_OPTIONS(AdaGrad, learning_rate, epsilon, weight_decay, decoupled)
};

/// AdaGrad with one scalar of state per row, see rowan::rowwise_adagrad.
struct RowwiseAdaGrad {
    double learning_rate = 0.01;  ///< step size
    double epsilon = 1e-6;        ///< added to the square root
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · param is added to the gradient of touched rows
    bool decoupled = false;       ///< touched rows are multiplied by 1 - learning_rate · weight_decay instead

    using op = rowwise_adagrad_op;
    ROWAN_OPTIONS(RowwiseAdaGrad, learning_rate, epsilon, weight_decay, decoupled)
};

/// Gradient descent with momentum, see rowan::momentum.
struct Momentum {
    double learning_rate = 0.01;  ///< step size
    double momentum = 0.9;        ///< decay factor of the velocity
    bool nesterov = false;        ///< whether to use Nesterov momentum
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · param is added to the gradient
    bool lazy = true;             ///< whether rows of a table without a gradient stay, else the update is dense

    using op = momentum_op;
    ROWAN_OPTIONS(Momentum, learning_rate, momentum, nesterov, weight_decay, lazy)
};

/// Adam, see rowan::adam.
struct Adam {
    double learning_rate = 0.001;  ///< step size
    double beta1 = 0.9;            ///< decay factor of the running mean of the gradient
    double beta2 = 0.999;          ///< decay factor of the running mean of the squared gradient
    double epsilon = 1e-8;         ///< added to the square root
    double weight_decay = 0.0;     ///< L2 penalty: weight_decay · param is added to the gradient of touched rows
    bool lazy = true;              ///< whether rows of a table without a gradient stay, else the update is dense

    using op = adam_op;
    ROWAN_OPTIONS(Adam, learning_rate, beta1, beta2, epsilon, weight_decay, lazy)
};

/// Adam with a weight decay that is no part of the gradient: a step multiplies the parameter, of a lazily updated table
/// the touched rows, by 1 - learning_rate · weight_decay, see rowan::adam.
struct AdamW {
    double learning_rate = 0.001;  ///< step size
    double beta1 = 0.9;            ///< decay factor of the running mean of the gradient
    double beta2 = 0.999;          ///< decay factor of the running mean of the squared gradient
    double epsilon = 1e-8;         ///< added to the square root
    double weight_decay = 0.01;    ///< the decay, times the learning rate
    bool lazy = true;              ///< whether rows of a table without a gradient stay, else the update is dense

    using op = adam_op;
    ROWAN_OPTIONS(AdamW, learning_rate, beta1, beta2, epsilon, weight_decay, lazy)
    /// Attributes of the operator.
    /// errors   none
    /// cost     O(1)
    AdamOptions options() const;
};

inline AdamOptions AdamW::options() const {
    return rowan::detail::with_fields_of<AdamOptions>(*this, {.decoupled = true});
}

/// AdaMax, see rowan::adamax.
struct Adamax {
    double learning_rate = 0.002;  ///< step size
    double beta1 = 0.9;            ///< decay factor of the running mean of the gradient
    double beta2 = 0.999;          ///< decay factor of the greatest absolute gradient
    double epsilon = 1e-8;         ///< added to the absolute gradient
    double weight_decay = 0.0;     ///< L2 penalty: weight_decay · param is added to the gradient of touched rows
    bool lazy = true;              ///< whether rows of a table without a gradient stay, else the update is dense

    using op = adamax_op;
    ROWAN_OPTIONS(Adamax, learning_rate, beta1, beta2, epsilon, weight_decay, lazy)
};

/// Adadelta, see rowan::adadelta.
struct Adadelta {
    double learning_rate = 1.0;  ///< factor of the steps
    double rho = 0.9;            ///< decay factor of the running means of squares
    double epsilon = 1e-6;       ///< added under the square roots
    double weight_decay = 0.0;   ///< L2 penalty: weight_decay · param is added to the gradient of touched rows
    bool lazy = true;            ///< whether rows of a table without a gradient stay, else the update is dense

    using op = adadelta_op;
    ROWAN_OPTIONS(Adadelta, learning_rate, rho, epsilon, weight_decay, lazy)
};

/// LAMB, see rowan::lamb: steps in proportion to the norm of the whole parameter. So it is never lazy: a table's update
/// is dense, and the parameter may not be a SelectedRows, nor a table whose rows ranks share out
/// (layer::sharded_table).
struct Lamb {
    double learning_rate = 0.001;  ///< the norm of a step, divided by the norm of the parameter
    double beta1 = 0.9;            ///< decay factor of the running mean of the gradient
    double beta2 = 0.999;          ///< decay factor of the running mean of the squared gradient
    double epsilon = 1e-6;         ///< added to the square root
    double weight_decay = 0.01;    ///< weight_decay · param is added to the direction of the step

    using op = lamb_op;
    static constexpr bool lazy = false;  ///< all rows of a table are updated
    ROWAN_OPTIONS(Lamb, learning_rate, beta1, beta2, epsilon, weight_decay)
};

/// RMSProp, see rowan::rmsprop.
struct RmsProp {
    double learning_rate = 0.01;  ///< step size
    double rho = 0.9;             ///< decay factor of the running mean of the squared gradient
    double momentum = 0.0;        ///< decay factor of the velocity
    double epsilon = 1e-6;        ///< added under the square root
    bool lazy = true;             ///< whether rows of a table without a gradient stay, else the update is dense

    using op = rmsprop_op;
    ROWAN_OPTIONS(RmsProp, learning_rate, rho, momentum, epsilon, lazy)
};

/// FTRL-proximal with lr_power -0.5, the square root, see rowan::ftrl.
struct Ftrl {
    double learning_rate = 0.01;  ///< step size
    double l1 = 0.0;              ///< L1 penalty, which makes small parameters exactly 0
    double l2 = 0.0;              ///< L2 penalty

    using op = ftrl_op;
    ROWAN_OPTIONS(Ftrl, learning_rate, l1, l2)
};

/// Requirements on an optimizer: it names an operator, and has its attributes: as fields of the same names
/// (rowan::field), or as what options() returns.
template <class O>
concept optimizer_options = rowan::detail::has_attributes<O>;

}  // namespace rowan::inline v0::layer
