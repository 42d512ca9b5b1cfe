// rowan/compiled/operators.hpp: compile_operators, used only by the sources of the compiled library.
#pragma once

#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/builtin_ops.hpp>
#include <rowan/op/elementwise/full.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

using Kernels = std::vector<op_kernel const*>;

template <class Op, class... T>
void compile_kernel(Kernels& kernels, type_list<T...>) {
    static_assert(level_mask<Op, Cpu, LoDTensor<T, Cpu>...>() != no_mask,
                  "rowan: compiled_kernels.hpp lists a kernel that does not exist");
    kernels.push_back(&kernel_of<Op, Cpu, T...>::value);
}

template <class E, class Op>
void compile_operator(Kernels& kernels) {
    using inputs = typename Op::inputs;
    if constexpr (is_variadic<Op, Cpu, E>) {
        kernels.push_back(&kernel_of<Op, Cpu, E>::value);
    } else {
        using plain = typename input_types<inputs, E, E>::type;
        using with_int64 = typename input_types<inputs, E, std::int64_t>::type;
        using with_int32 = typename input_types<inputs, E, std::int32_t>::type;
        if constexpr (has_one_type<Op>) compile_kernel<Op>(kernels, plain{});
        if constexpr (!has_one_type<Op> || !std::is_same_v<with_int64, plain>)
            compile_kernel<Op>(kernels, with_int64{});
        if constexpr (!std::is_same_v<with_int32, with_int64>) compile_kernel<Op>(kernels, with_int32{});
    }
}

/// Instantiates the kernels of a list of operators for elements of E in the object file that calls it.
template <class E, class... Op>
Kernels compile_operators(type_list<Op...>) {
    Kernels kernels;
    (compile_operator<E, Op>(kernels), ...);
    return kernels;
}

}  // namespace rowan::inline v0::detail
