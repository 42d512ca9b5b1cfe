// rowan/op/gradients.hpp: gradients, the backward pass of one operator, with types known at compile time.
#pragma once

#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The value of a slot.
template <class Slot, class V>
struct SlotValue {
    V value;
};

template <class... Entry>
struct SlotValues : Entry... {};
template <class... Entry>
SlotValues(Entry...) -> SlotValues<Entry...>;

template <class Slot, class V>
V const& value_of(SlotValue<Slot, V> const& entry) {
    return entry.value;
}

/// Moves the value out, unless it is a reference to the caller's.
template <class Slot, class V>
V&& take(SlotValue<Slot, V>& entry) {
    return static_cast<V&&>(entry.value);
}

template <class Slot, class V>
std::true_type has_value(SlotValue<Slot, V> const&);
template <class Slot>
std::false_type has_value(...);

/// A kernel's result as a tuple.
template <class V>
std::tuple<V> as_tuple(V value) {
    return std::tuple<V>(std::move(value));
}
template <class... V>
std::tuple<V...> as_tuple(std::tuple<V...> values) {
    return values;
}

/// Calls Op::run, with the attributes if it takes them.
template <class Op, class Device, class Attributes, class... In>
auto run_op(Device exec, Attributes const& attributes, In const&... in) {
    if constexpr (requires { Op::run(exec, in..., attributes); }) {
        return as_tuple(Op::run(exec, in..., attributes));
    } else {
        return as_tuple(Op::run(exec, in...));
    }
}

template <class Device, class Attributes, class Values>
Values run_rules(Device, Attributes const&, Values values, grad_rules<>) {
    return values;
}
template <class Device, class Attributes, class... Entry, class Rule, class... Rest>
auto run_rules(Device exec, Attributes const& attributes, SlotValues<Entry...> values, grad_rules<Rule, Rest...>) {
    auto made = [&]<class... In>(slots<In...>) {
        return run_op<typename Rule::op>(exec, attributes, value_of<In>(values)...);
    }(typename Rule::reads{});
    auto all = [&]<class... Out, std::size_t... i>(slots<Out...>, std::index_sequence<i...>) {
        return SlotValues<Entry..., SlotValue<Out, std::tuple_element_t<i, decltype(made)>>...>{
            static_cast<Entry&&>(values)..., {std::get<i>(std::move(made))}...};
    }(typename Rule::writes{}, std::make_index_sequence<Rule::writes::size>{});
    return run_rules(exec, attributes, std::move(all), grad_rules<Rest...>{});
}

template <class V>
inline constexpr bool is_one_tensor = false;
template <class T, class Device>
inline constexpr bool is_one_tensor<Tensor<T, Device>> = true;

template <class T, class Device>
VarSpec spec_of(Tensor<T, Device> const& x) {
    Dims dims;
    for (std::size_t const dim : x.shape()) dims.push_back(static_cast<std::int64_t>(dim));
    return tensor_spec<T>(dims);
}

}  // namespace detail

/// Stands for the gradient of an input that has none.
struct no_value {};

/// The gradients of an operator's inputs as a tuple; no_value for an input without a gradient, such as ids.
///
///     auto [x_grad, w_grad, b_grad] = gradients<fc_op>(Cpu{}, std::tie(x, w, b), std::tie(out), std::tie(out_grad));
///
/// `inputs`, `outputs` and `out_grads` are in the order of the operator's slots. Gradients of outputs that no rule
/// reads are ignored.
/// shapes   each gradient has the shape of its input
/// errors   those of the operators in the rules
/// cost     that of the operators in the rules, all of which run: those of row_rules_of or of grad_rules_of
template <differentiable Op, class Device, class... In, class... Out, class... OutGrad>
auto gradients(Device exec, std::tuple<In...> const& inputs, std::tuple<Out...> const& outputs,
               std::tuple<OutGrad...> const& out_grads, attributes_of<Op> const& attributes = {}) {
    static_assert(sizeof...(In) == Op::inputs::size && sizeof...(Out) == Op::outputs::size &&
                      sizeof...(OutGrad) == Op::outputs::size,
                  "rowan::gradients: pass one value for each slot of the operator");
    auto const known = [&]<class... I, class... O>(slots<I...>, slots<O...>) {
        return [&]<std::size_t... i, std::size_t... o>(std::index_sequence<i...>, std::index_sequence<o...>) {
            return detail::SlotValues<detail::SlotValue<I, std::remove_cvref_t<In> const&>...,
                                      detail::SlotValue<O, std::remove_cvref_t<Out> const&>...,
                                      detail::SlotValue<grad_of<O>, std::remove_cvref_t<OutGrad> const&>...>{
                {std::get<i>(inputs)}..., {std::get<o>(outputs)}..., {std::get<o>(out_grads)}...};
        }
        (std::index_sequence_for<In...>{}, std::index_sequence_for<Out...>{});
    }(typename Op::inputs{}, typename Op::outputs{});
    auto const by = [&](auto rules) {
        auto all = detail::run_rules(exec, attributes, known, rules);
        return [&]<class... I>(slots<I...>) {
            auto const one = [&]<class Slot>(Slot*) {
                if constexpr (decltype(detail::has_value<grad_of<Slot>>(all))::value) {
                    return detail::take<grad_of<Slot>>(all);
                } else {
                    return no_value{};
                }
            };
            return std::tuple(one(static_cast<I*>(nullptr))...);
        }(typename Op::inputs{});
    };
    if constexpr (!std::is_same_v<row_rules_of<Op>, grad_rules<>>) {
        if constexpr ((detail::is_one_tensor<std::remove_cvref_t<In>> && ...)) {
            auto const rows = [&](auto const&... in) { return row_inputs_of<Op>(attributes, detail::spec_of(in)...); };
            if (std::apply(rows, inputs) == 0) return by(grad_rules_of<Op>{});
        }
        return by(row_rules_of<Op>{});
    } else {
        return by(grad_rules_of<Op>{});
    }
}

}  // namespace rowan::inline v0
