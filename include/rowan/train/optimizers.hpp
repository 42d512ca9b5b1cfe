// rowan/train/optimizers.hpp: the built-in optimizers of train and their settings.
#pragma once

#include <rowan/op/fields.hpp>
#include <rowan/op/optimizer/adadelta.hpp>
#include <rowan/op/optimizer/adagrad.hpp>
#include <rowan/op/optimizer/adam.hpp>
#include <rowan/op/optimizer/adamax.hpp>
#include <rowan/op/optimizer/ftrl.hpp>
#include <rowan/op/optimizer/lamb.hpp>
#include <rowan/op/optimizer/momentum.hpp>
#include <rowan/op/optimizer/rmsprop.hpp>
#include <rowan/op/optimizer/rowwise_adagrad.hpp>
#include <rowan/op/optimizer/sgd.hpp>

#include <concepts>

namespace rowan::inline v0::layer {

// Of an optimizer that is not lazy, the states of rows without a gradient decay, and the rows move with them.

/// Stochastic gradient descent, see rowan::sgd; duplicates of 16-bit tables are summed first.
struct Sgd {
    double learning_rate = 0.01;  ///< step size

    using op = sgd_op;
    SgdOptions options() const { return {learning_rate}; }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &Sgd::learning_rate});
    }
};

/// AdaGrad, see rowan::adagrad.
struct AdaGrad {
    double learning_rate = 0.01;  ///< step size
    double epsilon = 1e-6;        ///< added to the square root

    using op = adagrad_op;
    AdaGradOptions options() const { return {learning_rate, epsilon}; }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &AdaGrad::learning_rate}, field{"epsilon", &AdaGrad::epsilon});
    }
};

/// AdaGrad with one scalar of state per row, see rowan::rowwise_adagrad.
struct RowwiseAdaGrad {
    double learning_rate = 0.01;  ///< step size
    double epsilon = 1e-6;        ///< added to the square root

    using op = rowwise_adagrad_op;
    static constexpr bool one_state_per_row = true;  ///< the state has the shape [height]
    AdaGradOptions options() const { return {learning_rate, epsilon}; }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &RowwiseAdaGrad::learning_rate},
                     field{"epsilon", &RowwiseAdaGrad::epsilon});
    }
};

/// Gradient descent with momentum, see rowan::momentum.
struct Momentum {
    double learning_rate = 0.01;  ///< step size
    double momentum = 0.9;        ///< decay factor of the velocity
    bool nesterov = false;        ///< whether to use Nesterov momentum
    double weight_decay = 0.0;    ///< L2 penalty: weight_decay · param is added to the gradient
    bool lazy = true;             ///< whether rows of a table without a gradient stay, else the update is dense

    using op = momentum_op;
    /// Attributes of the operator.
    /// errors   none
    /// cost     O(1)
    MomentumOptions options() const {
        return {
            .learning_rate = learning_rate, .momentum = momentum, .nesterov = nesterov, .weight_decay = weight_decay};
    }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &Momentum::learning_rate}, field{"momentum", &Momentum::momentum},
                     field{"nesterov", &Momentum::nesterov}, field{"weight_decay", &Momentum::weight_decay},
                     field{"lazy", &Momentum::lazy});
    }
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
    /// Attributes of the operator.
    /// errors   none
    /// cost     O(1)
    AdamOptions options() const {
        return {.learning_rate = learning_rate,
                .beta1 = beta1,
                .beta2 = beta2,
                .epsilon = epsilon,
                .step = 1,
                .weight_decay = weight_decay,
                .decoupled = false};
    }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &Adam::learning_rate}, field{"beta1", &Adam::beta1},
                     field{"beta2", &Adam::beta2}, field{"epsilon", &Adam::epsilon},
                     field{"weight_decay", &Adam::weight_decay}, field{"lazy", &Adam::lazy});
    }
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
    /// Attributes of the operator.
    /// errors   none
    /// cost     O(1)
    AdamOptions options() const {
        return {.learning_rate = learning_rate,
                .beta1 = beta1,
                .beta2 = beta2,
                .epsilon = epsilon,
                .step = 1,
                .weight_decay = weight_decay,
                .decoupled = true};
    }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &AdamW::learning_rate}, field{"beta1", &AdamW::beta1},
                     field{"beta2", &AdamW::beta2}, field{"epsilon", &AdamW::epsilon},
                     field{"weight_decay", &AdamW::weight_decay}, field{"lazy", &AdamW::lazy});
    }
};

/// AdaMax, see rowan::adamax.
struct Adamax {
    double learning_rate = 0.002;  ///< step size
    double beta1 = 0.9;            ///< decay factor of the running mean of the gradient
    double beta2 = 0.999;          ///< decay factor of the greatest absolute gradient
    double epsilon = 1e-8;         ///< added to the absolute gradient
    double weight_decay = 0.0;     ///< L2 penalty: weight_decay · param is added to the gradient of touched rows
    bool lazy = true;              ///< whether rows of a table without a gradient stay, else the update is dense

    using op = adamax_op;
    /// Attributes of the operator.
    /// errors   none
    /// cost     O(1)
    AdamaxOptions options() const {
        return {.learning_rate = learning_rate,
                .beta1 = beta1,
                .beta2 = beta2,
                .epsilon = epsilon,
                .step = 1,
                .weight_decay = weight_decay};
    }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &Adamax::learning_rate}, field{"beta1", &Adamax::beta1},
                     field{"beta2", &Adamax::beta2}, field{"epsilon", &Adamax::epsilon},
                     field{"weight_decay", &Adamax::weight_decay}, field{"lazy", &Adamax::lazy});
    }
};

/// Adadelta, see rowan::adadelta.
struct Adadelta {
    double learning_rate = 1.0;  ///< factor of the steps
    double rho = 0.9;            ///< decay factor of the running means of squares
    double epsilon = 1e-6;       ///< added under the square roots
    double weight_decay = 0.0;   ///< L2 penalty: weight_decay · param is added to the gradient of touched rows
    bool lazy = true;            ///< whether rows of a table without a gradient stay, else the update is dense

    using op = adadelta_op;
    /// Attributes of the operator.
    /// errors   none
    /// cost     O(1)
    AdadeltaOptions options() const {
        return {.learning_rate = learning_rate, .rho = rho, .epsilon = epsilon, .weight_decay = weight_decay};
    }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &Adadelta::learning_rate}, field{"rho", &Adadelta::rho},
                     field{"epsilon", &Adadelta::epsilon}, field{"weight_decay", &Adadelta::weight_decay},
                     field{"lazy", &Adadelta::lazy});
    }
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
    /// Attributes of the operator.
    /// errors   none
    /// cost     O(1)
    LambOptions options() const {
        return {.learning_rate = learning_rate,
                .beta1 = beta1,
                .beta2 = beta2,
                .epsilon = epsilon,
                .step = 1,
                .weight_decay = weight_decay};
    }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &Lamb::learning_rate}, field{"beta1", &Lamb::beta1},
                     field{"beta2", &Lamb::beta2}, field{"epsilon", &Lamb::epsilon},
                     field{"weight_decay", &Lamb::weight_decay});
    }
};

/// RMSProp, see rowan::rmsprop.
struct RmsProp {
    double learning_rate = 0.01;  ///< step size
    double rho = 0.9;             ///< decay factor of the running mean of the squared gradient
    double momentum = 0.0;        ///< decay factor of the velocity
    double epsilon = 1e-6;        ///< added under the square root
    bool lazy = true;             ///< whether rows of a table without a gradient stay, else the update is dense

    using op = rmsprop_op;
    /// Attributes of the operator.
    /// errors   none
    /// cost     O(1)
    RmsPropOptions options() const {
        return {.learning_rate = learning_rate, .rho = rho, .momentum = momentum, .epsilon = epsilon};
    }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &RmsProp::learning_rate}, field{"rho", &RmsProp::rho},
                     field{"momentum", &RmsProp::momentum}, field{"epsilon", &RmsProp::epsilon},
                     field{"lazy", &RmsProp::lazy});
    }
};

/// FTRL-proximal with lr_power -0.5, the square root, see rowan::ftrl.
struct Ftrl {
    double learning_rate = 0.01;  ///< step size
    double l1 = 0.0;              ///< L1 penalty, which makes small parameters exactly 0
    double l2 = 0.0;              ///< L2 penalty

    using op = ftrl_op;
    FtrlOptions options() const { return {.learning_rate = learning_rate, .l1 = l1, .l2 = l2, .lr_power = -0.5}; }
    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"learning_rate", &Ftrl::learning_rate}, field{"l1", &Ftrl::l1}, field{"l2", &Ftrl::l2});
    }
};

/// Requirements on an optimizer: it names an operator and returns its attributes.
template <class O>
concept optimizer_options = requires(O const& o) {
    typename O::op;
    { o.options() } -> std::same_as<typename O::op::attributes>;
};

}  // namespace rowan::inline v0::layer
