// rowan/op/operator_of.hpp: operator_of, the base of operators: their slots and attributes; and Elements.
#pragma once

#include <rowan/op/registry.hpp>
#include <rowan/op/slots.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

/// The attributes of an operator that has none.
struct no_attributes {
    friend constexpr bool operator==(no_attributes const&, no_attributes const&) = default;
};

/// The base of an operator: the names of its inputs and outputs, and the type of its attributes. It has no gradient,
/// unless the operator defines `grad`. An operator may define `normal(x, attributes)`, which returns the attributes as
/// nets and files store them, such as with an axis counted from the first one, given the VarSpec of its first input.
template <class Inputs, class Outputs, class Attributes = no_attributes>
struct operator_of {
    using inputs = Inputs;          ///< in the order of run's arguments
    using outputs = Outputs;        ///< in the order of run's results
    using attributes = Attributes;  ///< the last argument of run
    using grad = no_grad;           ///< no gradient
};

/// The element types for which an operator has kernels, as `static constexpr Elements elements`; by default floats.
/// Programs in files, Python and the compiled library provide it for these. `floats` includes user-defined types.
enum class Elements : std::uint8_t { floats = 1, integers = 2, numbers = 3, bools = 4, all = 7 };

/// The operator's `elements`; floats if it does not say.
template <class Op>
inline constexpr Elements elements_of = [] {
    if constexpr (requires { Op::elements; }) {
        return Op::elements;
    } else {
        return Elements::floats;
    }
}();

/// Whether the operator has kernels for elements of T.
template <class Op, class T>
inline constexpr bool takes_elements = (static_cast<unsigned>(elements_of<Op>) & (std::same_as<T, bool> ? 4U
                                                                                  : std::integral<T>    ? 2U
                                                                                                        : 1U)) != 0;

namespace detail {

/// Marks the operators of rowan. The compiled library has their kernels.
struct builtin {};

/// The base of rowan's operators but gradients.
template <class Inputs, class Outputs, class Attributes = no_attributes>
struct builtin_op : operator_of<Inputs, Outputs, Attributes>, builtin {};

/// Whether the operator is one of rowan's but no gradient.
template <class Op>
inline constexpr bool is_builtin = std::is_base_of_v<builtin, Op>;

/// Whether the compiled library has the operators of the families cast and full that make elements of T.
template <class T>
inline constexpr bool is_compiled_element =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int64_t>;

/// Whether only training needs the operator, which programs in files then lack: its `training`, or false.
template <class Op>
inline constexpr bool is_for_training = requires {
    requires Op::training;
};

}  // namespace detail

}  // namespace rowan::inline v0
