// rowan/graph/detail/op_infer.hpp: calls of an operator's infer with type-erased attributes.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/detail/op_arguments.hpp>
#include <rowan/graph/detail/op_call.hpp>
#include <rowan/op/var_spec.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// errors   GraphError if the number of inputs is not that of the slots; a variadic operator has a slot for any number
inline void check_inputs(std::string_view name, std::size_t given, std::size_t slots, bool variadic) {
    if (given == slots || (variadic && given + 1 >= slots)) return;
    throw GraphError(std::string(name) + " has " + std::to_string(given) + " inputs, expected " +
                     (variadic ? "at least " + std::to_string(slots - 1) : std::to_string(slots)));
}

template <class Op, class... In>
auto infer_of(attributes_of<Op> const& attributes, In const&... in) {
    if constexpr (requires { Op::infer(in..., attributes); }) {
        return Op::infer(in..., attributes);
    } else {
        static_assert(
            requires { Op::infer(in...); },
            "rowan: an operator needs a function infer that takes a VarSpec for each of its inputs");
        return Op::infer(in...);
    }
}

/// Whether the operator has a function `normal`.
template <class Op>
concept has_normal = requires(VarSpec const& x, attributes_of<Op> const& attributes) {
    Op::normal(x, attributes);
};

/// The functions of an op_kernel that do not depend on its element types. In operators_double.cpp and
/// operators_integer.cpp they are only declared, because operators_float.cpp defines them.
template <class Op, bool variadic>
struct untyped_functions {
#ifdef ROWAN_UNTYPED_FUNCTIONS_ELSEWHERE
    static std::vector<VarSpec> infer(std::span<VarSpec const> in, AttributesRef attributes);
    static unsigned row_inputs(std::span<VarSpec const> in, AttributesRef attributes);
    static bool row_output(AttributesRef attributes, std::size_t i);
    static RowTraits row_traits(AttributesRef attributes);
    static Attributes normal(std::span<VarSpec const> in, AttributesRef attributes);
#else
    static std::vector<VarSpec> infer(std::span<VarSpec const> in, AttributesRef attributes) {
        check_inputs(Op::name, in.size(), Op::inputs::size, variadic);
        auto const& a = attributes_for<Op>(attributes);
        auto const result = [&]<std::size_t... i>(std::index_sequence<i...>) {
            if constexpr (!variadic) {
                return infer_of<Op>(a, in[i]...);
            } else {
                std::size_t const many = in.size() - sizeof...(i);
                return infer_of<Op>(a, in.first(many), in[many + i]...);
            }
        }
        (std::make_index_sequence<Op::inputs::size - variadic>{});
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(result)>, VarSpec>) {
            return {result};
        } else {
            return {result.begin(), result.end()};
        }
    }

    static unsigned row_inputs(std::span<VarSpec const> in, AttributesRef attributes) {
        auto const& a = attributes_for<Op>(attributes);
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            if constexpr (variadic) {
                return row_inputs_of<Op>(a, in);
            } else {
                return row_inputs_of<Op>(a, in[i]...);
            }
        }
        (std::make_index_sequence<Op::inputs::size>{});
    }

    static bool row_output(AttributesRef attributes, std::size_t) {
        return row_output_of<Op>(attributes_for<Op>(attributes));
    }
    static RowTraits row_traits(AttributesRef attributes) {
        auto const& a = attributes_for<Op>(attributes);
        return {sums_rows_of<Op>(a), row_wise_of<Op>(a), linearity_of<Op>(a)};
    }
    static Attributes normal(std::span<VarSpec const> in, AttributesRef attributes) {
        auto given = attributes_for<Op>(attributes);
        if constexpr (has_normal<Op>) {
            if (!in.empty()) given = Op::normal(in[0], std::move(given));
        }
        return owned(std::move(given));
    }
#endif
};

}  // namespace rowan::inline v0::detail
