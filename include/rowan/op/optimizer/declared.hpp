// rowan/op/optimizer/declared.hpp: optimizers and clipping: names, slots and options, without what computes.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/sparse/optimizer_options.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

namespace rowan::inline v0 {

/// The settings of clip_by_norm and clip_by_global_norm.
struct ClipByNormOptions {
    double max_norm = 1;  ///< the maximum norm

    ROWAN_OPTIONS(ClipByNormOptions, max_norm)
};

/// The options of moving_average.
struct MovingAverageOptions {
    double decay = 0.999;  ///< the part of the average that a step keeps, in [0, 1)

    ROWAN_OPTIONS(MovingAverageOptions, decay)
};

struct adadelta_op;
struct adagrad_op;
struct adam_op;
struct adamax_op;
struct clip_by_global_norm_op;
struct clip_by_norm_op;
struct ftrl_op;
struct lamb_op;
struct momentum_op;
struct moving_average_op;
struct narrowed_moving_average_op;
struct rmsprop_op;
struct rowwise_adagrad_op;
struct sgd_op;

namespace detail {

/// The inputs are the parameter, the states and the gradient; there are no outputs: the slots in `updates` are modified
/// in place. The gradient may be dense or row-sparse; overload resolution selects the algorithm. The parameter may be a
/// SelectedRows, too: nets then call the algorithm for its value, and for the gradient's positions in it (find_rows).
template <class Attributes, class... State>
struct optimizer_op : operator_of<slots<slot::param, State..., slot::grad>, slots<>, Attributes> {
    using updates = slots<slot::param, State...>;
    static constexpr bool checks_first = true;  // under OnlyChecking, `run` changes nothing

    template <std::same_as<VarSpec>... Spec>
    static constexpr std::array<VarSpec, 0> infer(VarSpec const& param, Spec const&... states_and_grad) {
        static_assert(sizeof...(Spec) == sizeof...(State) + 1,
                      "rowan: an optimizer takes param, its states and a gradient");
        std::array<VarSpec, sizeof...(Spec)> const rest{states_and_grad...};
        spec::table("optimizer: param", param);
        bool const some_rows = param.type == VarType::SELECTED_ROWS;  // the states then have a row for each of them
        if (some_rows && rest[sizeof...(State)].type != VarType::SELECTED_ROWS)
            spec::the_kinds_do_not_match("optimizer: grad", param.type, "a SelectedRows, as param is");
        for (std::size_t i = 0; i < rest.size(); ++i) {
            spec::has_rows("optimizer: a state or the gradient", rest[i]);
            if (some_rows && i + 1 < rest.size()) continue;
            spec::same_dim("optimizer: the height of a state or the gradient", rest[i].dims[0], param.dims[0]);
        }
        for (std::size_t i = 0; i + 1 < rest.size(); ++i) spec::dense("optimizer: a state", rest[i]);
        static_cast<void>(spec::same_dims("optimizer: grad", rest[sizeof...(State)], param));
        return {};
    }
};

/// One of rowan's.
template <class Op, class Attributes, class... State>
struct builtin_optimizer : optimizer_op<Attributes, State...> {
    using itself = Op;
};

template <class Attributes, class States>
struct optimizer_of;
template <class Attributes, class... State>
struct optimizer_of<Attributes, state_list<State...>> {
    using type = optimizer_op<Attributes, State...>;
};
template <class Attributes, class States>
using optimizer_op_of = typename optimizer_of<Attributes, States>::type;

/// What one of rowan's is by the declaration of its optimizer.
template <class Op, class O>
struct declared_optimizer : optimizer_op_of<typename O::options, typename O::states> {
    using itself = Op;
    static constexpr std::string_view name = O::name, brief = O::brief;
    static constexpr bool one_state_per_row = requires { requires O::one_state_per_row; };
};

template <>
struct declared<adadelta_op> : declared_optimizer<adadelta_op, optim::adadelta> {};
template <>
struct declared<adagrad_op> : declared_optimizer<adagrad_op, optim::adagrad> {};
template <>
struct declared<rowwise_adagrad_op> : declared_optimizer<rowwise_adagrad_op, optim::rowwise_adagrad> {};
template <>
struct declared<adam_op> : declared_optimizer<adam_op, optim::adam> {};
template <>
struct declared<adamax_op> : declared_optimizer<adamax_op, optim::adamax> {};
template <>
struct declared<ftrl_op> : declared_optimizer<ftrl_op, optim::ftrl> {};
template <>
struct declared<lamb_op> : declared_optimizer<lamb_op, optim::lamb> {};
template <>
struct declared<momentum_op> : declared_optimizer<momentum_op, optim::momentum> {};
template <>
struct declared<rmsprop_op> : declared_optimizer<rmsprop_op, optim::rmsprop> {};
template <>
struct declared<sgd_op> : declared_optimizer<sgd_op, optim::sgd> {};

template <>
struct declared<clip_by_norm_op> : builtin_op<clip_by_norm_op, slots<slot::x>, slots<slot::out>, ClipByNormOptions> {
    static constexpr std::string_view name = "clip_by_norm", brief = "x, scaled so that its norm is at most max_norm.";
};

template <>
struct declared<clip_by_global_norm_op>
    : builtin_op<clip_by_global_norm_op, slots<slot::x>, slots<slot::out>, ClipByNormOptions> {
    static constexpr bool takes_list = true;
    static constexpr std::string_view name = "clip_by_global_norm";
    static constexpr std::string_view brief = "All gradients, scaled so that their common norm is at most max_norm.";
};

template <>
struct declared<moving_average_op> : builtin_optimizer<moving_average_op, MovingAverageOptions> {
    static constexpr std::string_view name = "moving_average";
    static constexpr std::string_view brief = "decay · param + (1 - decay) · grad: changes param in place.";
};

template <>
struct declared<narrowed_moving_average_op>
    : builtin_optimizer<narrowed_moving_average_op, MovingAverageOptions, slot::moment> {
    static constexpr bool compiled = false;          // the library has its kernels for bfloat16 alone
    static constexpr bool begins_with_param = true;  // its state begins with the values of param
    static constexpr std::string_view name = "narrowed_moving_average";
};

}  // namespace detail

}  // namespace rowan::inline v0
