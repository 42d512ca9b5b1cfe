// rowan/compiled/operators_float.cpp: the compiled library's operators for float.
#ifndef ROWAN_COMPILING_OPERATORS
#define ROWAN_COMPILING_OPERATORS
#endif
#include <rowan/compiled/functions.hpp>
#include <rowan/compiled/operators.hpp>

#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <vector>

namespace rowan::inline v0::detail {

template <class... Op>
constexpr bool all_are_builtin(type_list<Op...>) {
    for (bool const builtin : {is_builtin<Op>...}) {
        if (!builtin) return false;
    }
    return true;
}
static_assert(all_are_builtin(listed_ops{}), "rowan: an operator of listed_ops is not the Self of its builtin_op");

[[gnu::used]] static Kernels operators_of_float() { return compile_operators<float>(compiled_ops{}); }

[[gnu::used]] static void functions_of_float(Cpu exec, Tensor<float> const& x) { call_functions(exec, x); }

using Untyped = std::vector<std::tuple<decltype(op_kernel::infer), decltype(op_kernel::row_inputs), decltype(op_kernel::row_output),
                                       decltype(op_kernel::row_traits), decltype(op_kernel::normal)>>;

template <class Op, class E>
void compile_untyped(Untyped& made) {
    using Functions = untyped_functions<Op, is_variadic<Op, Cpu, E>>;
    made.emplace_back(&Functions::infer, &Functions::row_inputs, &Functions::row_output, &Functions::row_traits, &Functions::normal);
}

/// Instantiates what the kernels of all element types share, for the operators without kernels for float.
template <class... Op>
auto compile_untyped_functions(registry<Op...>) {
    Untyped made;
    auto const one = [&]<class O>(std::type_identity<O>) {
        if constexpr (is_compiled<O> && !takes_elements<O, float>) {
            if constexpr (takes_elements<O, bool>) {
                compile_untyped<O, bool>(made);
            } else {
                compile_untyped<O, std::int64_t>(made);
            }
        }
    };
    static_cast<void>(std::initializer_list<int>{(one(std::type_identity<Op>{}), 0)...});  // clang limits folds
    return made;
}
template <class... Op>
auto compile_untyped_sources(registry<Op...>) {
    Untyped made;
    (compile_untyped<Op, float>(made), ...);
    return made;
}
[[gnu::used]] static auto untyped_functions_of_operators() { return compile_untyped_functions(compiled_ops{}); }
[[gnu::used]] static auto untyped_functions_of_sources() { return compile_untyped_sources(compiled_sources{}); }

}  // namespace rowan::inline v0::detail
