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
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// errors   GraphError if the number of inputs is not that of the slots; a variadic operator has a slot for any number
inline void check_inputs(std::string_view name, std::size_t given, std::size_t slots, bool variadic) {
    if (given == slots || (variadic && given + 1 >= slots)) return;
    throw GraphError(
        {name, " has ", given, " inputs, expected ", variadic ? "at least " : "", variadic ? slots - 1 : slots});
}

template <class Op, class... In>
ROWAN_RARE auto infer_of(attributes_of<Op> const& attributes, In const&... in) {
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

[[gnu::noinline]] inline std::vector<VarSpec> specs_in(std::span<VarSpec const> specs) {
    return {specs.begin(), specs.end()};
}

/// The functions of an op_kernel where they do not depend on attributes. Most operators share one of few.
template <bool rows>
bool same_row_output(AttributesRef, std::size_t) {
    return rows;
}
template <bool sums_rows, bool row_wise, Linearity linearity>
RowTraits same_row_traits(AttributesRef) {
    return {sums_rows, row_wise, linearity};
}
template <unsigned rows>
unsigned same_row_inputs(std::span<VarSpec const>, AttributesRef) {
    return rows;
}

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
    ROWAN_RARE static std::vector<VarSpec> infer(std::span<VarSpec const> in, AttributesRef attributes) {
        check_inputs(Op::name, in.size(), Op::inputs::size, variadic);
        auto const& a = attributes_for<Op>(attributes);
        auto result = infer_at(a, in, std::make_index_sequence<Op::inputs::size - variadic>{});
        if constexpr (std::is_same_v<decltype(result), VarSpec>) {
            return specs_in({&result, 1});
        } else if constexpr (std::is_same_v<decltype(result), std::vector<VarSpec>>) {
            return result;
        } else {
            return specs_in(result);
        }
    }

    ROWAN_RARE static unsigned row_inputs(std::span<VarSpec const> in, AttributesRef attributes) {
        return row_inputs_at(attributes_for<Op>(attributes), in, std::make_index_sequence<Op::inputs::size>{});
    }

    ROWAN_RARE static bool row_output(AttributesRef attributes, std::size_t) {
        return row_output_of<Op>(attributes_for<Op>(attributes));
    }
    ROWAN_RARE static RowTraits row_traits(AttributesRef attributes) {
        auto const& a = attributes_for<Op>(attributes);
        return {sums_rows_of<Op>(a), row_wise_of<Op>(a), linearity_of<Op>(a)};
    }
    ROWAN_RARE static Attributes normal(std::span<VarSpec const> in, AttributesRef attributes) {
        auto given = attributes_for<Op>(attributes);
        if constexpr (has_normal<Op>) {
            if (!in.empty()) given = Op::normal(in[0], std::move(given));
        }
        return owned(std::move(given));
    }

private:
    template <std::size_t... i>
    static auto infer_at(attributes_of<Op> const& a, std::span<VarSpec const> in, std::index_sequence<i...>) {
        if constexpr (!variadic) {
            return infer_of<Op>(a, in[i]...);
        } else {
            std::size_t const many = in.size() - sizeof...(i);
            return infer_of<Op>(a, in.first(many), in[many + i]...);
        }
    }
    template <std::size_t... i>
    static unsigned row_inputs_at(attributes_of<Op> const& a, std::span<VarSpec const> in, std::index_sequence<i...>) {
        if constexpr (variadic) {
            return row_inputs_of<Op>(a, in);
        } else {
            return row_inputs_of<Op>(a, in[i]...);
        }
    }
#endif
};

}  // namespace rowan::inline v0::detail
