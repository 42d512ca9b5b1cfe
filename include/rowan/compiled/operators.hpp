// rowan/compiled/operators.hpp: compile_operators and compile_gradients, used only by the sources of the compiled library.
#pragma once

#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/builtin_ops.hpp>
#include <rowan/op/elementwise/full.hpp>

#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

using Kernels = std::vector<op_kernel const*>;
using compiled_ops = builtin_ops::with<add_to_op, cast_op<double>, cast_op<float>, cast_op<std::int64_t>,
                                       cast_op<std::int32_t>, cast_op<bool>>;
using compiled_sources =
    registry<full_op<double>, full_op<float>, full_op<std::int64_t>, full_op<std::int32_t>, full_op<bool>>;

[[gnu::noinline]] inline void add_kernel(Kernels& kernels, op_kernel const& kernel) { kernels.push_back(&kernel); }

template <class Op, class... T>
void compile_kernel(Kernels& kernels, type_list<T...>) {
    static_assert(is_variadic<Op, Cpu, T...> || level_mask<Op, Cpu, LoDTensor<T, Cpu>...>() != no_mask ||
                      sparse_inputs_of<Op, Cpu, T...> != 0,
                  "rowan: the operator lacks a kernel for elements that it says it takes");
    // The results of declarations, once: with float, the file takes the most memory.
    using First = std::tuple_element_t<0, std::tuple<T..., void>>;
    if constexpr (has_declaration<Op> && Op::outputs::size != 0 && !std::is_same_v<First, float>) {
        if constexpr (!is_variadic<Op, Cpu, T...> && level_mask<Op, Cpu, LoDTensor<T, Cpu>...>() != no_mask)
            static_assert(
                std::is_same_v<typename made_element<Op, T...>::type, typename first_result_of<Op, Cpu, T...>::type>,
                "rowan: the declaration of the operator says another type of result than its function run "
                "returns");
    }
    add_kernel(kernels, kernel_of<Op, Cpu, T...>::value);
}

/// Calls f(type_list<T...>) for the element types of each kernel that the library has of an operator for elements of E.
template <class Op, class E, class F>
void each_kernel(F const& f) {
    if constexpr (is_compiled<Op> && takes_elements<Op, E>) {
        if constexpr (is_variadic<Op, Cpu, E>) {
            f(type_list<E>{});
        } else {
            each_input_types<Op, E>(f);
        }
    }
}

template <class E, class Op>
void compile_operator(Kernels& kernels) {
    each_kernel<Op, E>([&]<class... T>(type_list<T...> types) { compile_kernel<Op>(kernels, types); });
}

/// Instantiates the kernels of a list of operators for elements of E in the object file that calls it.
template <class E, class... Op>
Kernels compile_operators(registry<Op...>) {
    Kernels kernels;
    // no fold: clang has a limit of 256
    static_cast<void>(std::initializer_list<int>{(compile_operator<E, Op>(kernels), 0)...});
    return kernels;
}

/// Rules of gradients, by the kernels that they are of.
using CompiledRules = std::vector<std::pair<op_kernel const*, GradientRules>>;

template <class E, class Op>
void compile_gradient(CompiledRules& rules) {
    if constexpr (has_rules<Op>) {
        each_kernel<Op, E>([&]<class... T>(type_list<T...>) {
            rules.emplace_back(&kernel_of<Op, Cpu, T...>::value, gradient_rules<Op, Cpu, T...>);
        });
    }
}

/// Instantiates the gradients of a list of operators for elements of E in the object file that calls it, and adds them.
template <class E, class... Op>
void compile_gradients(CompiledRules& rules, registry<Op...>) {
    static_cast<void>(std::initializer_list<int>{(compile_gradient<E, Op>(rules), 0)...});
}

void add_rules_of_float(CompiledRules& rules);
void add_rules_of_double(CompiledRules& rules);
void add_rules_of_integers(CompiledRules& rules);
void add_rules_of_sampled_losses(CompiledRules& rules);

}  // namespace rowan::inline v0::detail
