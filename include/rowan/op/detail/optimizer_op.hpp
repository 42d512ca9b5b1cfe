// rowan/op/detail/optimizer_op.hpp: optimizer_op, the base of the optimizers' operators.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/sparse/detail/optimizer.hpp>

#include <concepts>

namespace rowan::inline v0::detail {

/// The inputs are the parameter, the states and the gradient; there are no outputs: the slots in `updates` are modified
/// in place. The gradient may be dense or row-sparse; overload resolution selects the algorithm. The parameter may be a
/// SelectedRows, too: nets then call the algorithm for its value, and for the gradient's positions in it (find_rows).
template <class Attributes, class... State>
struct optimizer_op : detail::builtin_op<optimizer_op<Attributes, State...>, slots<slot::param, State..., slot::grad>,
                                         slots<>, Attributes> {
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

}  // namespace rowan::inline v0::detail
