// rowan/graph/op_kernel.hpp: op_kernel, a type-erased operator for given element types.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/detail/input_types.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/var_spec.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#if defined(__clang__) && defined(ROWAN_COMPILED)
// The compiled library defines kernel_of::value. Clang warns at the point of use, so the setting is not popped.
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif

namespace rowan::inline v0 {

struct op_kernel;
struct Operator;
class Variable;

namespace detail {

using Specs = std::span<VarSpec const>;

/// The variable of a net of which an operator in it, or in the net of one of its steps, reads the elements as `v`, or
/// nullptr if the step computes them.
using OutsideOf = std::function<Variable*(Variable* v)>;
/// Called with an operator, the number of one of its inputs, and where the inputs of this operator come from.
using ReadVisitor = std::function<void(Operator const& op, std::size_t slot, OutsideOf const& outside)>;

}  // namespace detail

/// An input or output of a gradient operator, in terms of the forward operator.
struct grad_slot {
    /// A list of the forward operator, or the values that one rule passes to another.
    enum Kind : std::uint8_t { input, output, grad_of_input, grad_of_output, between_rules };
    Kind kind;          ///< which list
    std::size_t index;  ///< the position in that list
};

/// A grad_rule in run-time form.
struct grad_kernel {
    op_kernel const* op;
    std::span<grad_slot const> reads;   ///< in the order of op's inputs
    std::span<grad_slot const> writes;  ///< in the order of op's outputs
};

/// How an operator is differentiated.
struct GradientRules {
    std::span<grad_kernel const> rules;      ///< of the backward pass, in its order
    std::span<grad_kernel const> row_rules;  ///< instead of these, for row inputs, see row_rules_of; empty: the same
};

/// An operator for given element types and a given device, with what a net needs to run and differentiate it.
/// Instantiated at compile time where it is used: a program contains only the operators that its nets use.
struct op_kernel {
    std::string_view name;  ///< the name in nets and files
    /// The names of the slots. The first slot may hold any number of values.
    std::span<std::string_view const> inputs, outputs;
    detail::TypeTag const* op = nullptr;        ///< the type of its declaration, see is()
    std::span<std::int32_t const> dtypes = {};  ///< dtype<T>::wire of the element type of each input
    OpFamily family = OpFamily::none;           ///< see family_of
    unsigned level_inputs = 0;                  ///< see level_inputs_of
    unsigned sparse_inputs = 0;                 ///< bit i is set if slot i may hold a row-sparse value
    unsigned (*row_inputs)(std::span<VarSpec const> in, AttributesRef attributes);  ///< see row_inputs_of
    /// Whether the rows of result i correspond to rows of the inputs.
    bool (*row_output)(AttributesRef attributes, std::size_t i);
    RowTraits (*row_traits)(AttributesRef attributes);  ///< what the operator says about rows and weights
    /// Computes the specs of the results from those of the inputs, see rowan::operation.
    std::vector<VarSpec> (*infer)(std::span<VarSpec const> in, AttributesRef attributes);
    void (*run)(KernelCall const& call);  ///< runs the operator
    /// The attributes as the operator stores them, see operator_of; nullptr if as they are given.
    Attributes (*normal)(std::span<VarSpec const> in, AttributesRef attributes) = nullptr;
    /// Of its gradient; nullptr: of none, or of a kernel of the compiled library, see gradient().
    GradientRules const* rules = nullptr;
    bool has_row_rules = false;   ///< whether there are rules for row inputs
    bool compiled_rules = false;  ///< whether the compiled library has its rules, apart from it
    bool only_forward = false;    ///< whether its operator has rules that it was made without, see with_gradients
    /// Whether it may compute result 0 in place of input 0 if nothing else reads input 0.
    bool in_place = false;
    /// Whether it changes inputs, and only checks them in a call with only_checks.
    bool checks_first = false;
    /// The operator's `next`, if it has one: for each input slot, the position of the result whose value a trained
    /// variable in this slot, such as a moving mean, has after the step, or -1. Such a variable has no gradient.
    std::span<std::int8_t const> next = {};
    std::span<SlotLookup const> lookups = {};  ///< of tables of which it reads the rows that other inputs name
    /// The kernel that replaces it in the step of a recurrent program, or nullptr; see layer::add_to.
    op_kernel const* in_step = nullptr;
    /// Of an operator with a net of its own whose inputs are known: calls f for what it reads itself, and for all that
    /// the operators of its net read; see detail::each_read.
    void (*each_read)(Operator const& op, detail::OutsideOf const& outside, detail::ReadVisitor const& f) = nullptr;

    /// Whether it is a kernel of the operator Op, of this or of another library of the process.
    /// cost     O(1); for another operator or library a comparison of the types' names
    template <class Op>
    bool is() const noexcept {
        return detail::is_tag_of<detail::declaration_of<Op>>(op);
    }
    /// The rules of its gradient. A program that does not call this links no gradients of the compiled library's kernels.
    /// errors   GraphError if it was made without its rules, or if the kernel is one of another library of the process,
    ///          and this one has no such kernel
    /// cost     O(1)
    ROWAN_IF_CALLED GradientRules gradient() const;
};

namespace detail {

/// The attributes of a call of `Op`. The operator of a gradient rule may have none and be given those of the forward
/// operator.
template <class Op>
attributes_of<Op> const& attributes_for(AttributesRef attributes) {
    if constexpr (std::is_same_v<attributes_of<Op>, no_attributes>) {
        static constexpr no_attributes none;
        return none;
    } else {
        return attributes.get<attributes_of<Op>>();
    }
}

/// Complete where kernels can be made, see make_kernel.hpp.
template <class Op>
struct CanMakeKernels;
template <class Op, class D, class... T>
struct KernelMaker;
template <class Op, class D, class... T>
struct first_result_of;

/// Whether the only slot of the operator holds any number of values.
template <class Op, class D, class... T>
inline constexpr bool has_list = [] {
    if constexpr (has_declaration<Op>) {
        return takes_list<Op>;
    } else if constexpr (Op::inputs::size == 1 && requires { CanMakeKernels<Op>{}; }) {
        return KernelMaker<Op, D, std::tuple_element_t<0, std::tuple<T...>>>::variadic;
    } else {
        return false;
    }
}();

/// The element type of the first result for inputs with elements of T...: by the declaration, or of another operator by
/// its function run.
template <class Op, class D, class... T>
struct first_made : made_element<Op, T...> {};
template <class Op, class D, class... T>
requires(!has_declaration<Op>) struct first_made<Op, D, T...> : first_result_of<Op, D, T...> {
};

/// Whether the operator, which is declared, takes so many element types: one for each slot, or one if its only slot holds
/// any number of values.
template <class Op>
constexpr bool takes_types(std::size_t n) {
    return takes_list<Op> || n == declaration_of<Op>::inputs::size;
}

}  // namespace detail

/// The kernel of `Op` on device D for inputs with element types T..., one for each slot, or for all if the first holds
/// any number of values.
template <class Op, class D, class... T>
struct kernel_of {
    static_assert(detail::has_declaration<Op> || operation<Op>,
                  "rowan: an operator has a name, inputs, outputs and grad, see rowan::operation");
    static_assert(
        requires { detail::CanMakeKernels<Op>{}; },
        "rowan: the compiled library has no kernel of this operator for these element types and this device. "
        "For those of your own, #include <rowan/own_operator.hpp>");
    static op_kernel const value;  ///< make_kernel.hpp defines it
};

#if ROWAN_DECLARES_OPERATORS
/// The kernels that the compiled library defines.
template <class Op, class... T>
requires detail::has_compiled_kernel<Op, T...>
struct kernel_of<Op, Cpu, T...> {
    static_assert(detail::is_of_rowan<Op>(),
                  "rowan::kernel_of: `itself` and detail::builtin_op are for rowan's own operators, whose kernels the "
                  "compiled library has: derive yours from rowan::operator_of, without `using itself`");
    static_assert(detail::takes_types<Op>(sizeof...(T)),
                  "rowan::kernel_of: give one element type for each input of the operator");
    static op_kernel const value;
};
#endif

namespace detail {

// ---- gradient rules in run-time form

/// The types of an operator's results for dense inputs, see make_kernel.hpp.
template <class Op, class D, class... T>
struct results_of;

template <class V>
struct element_of {
    using type = typename V::value_type;
};
template <class V>
struct element_of<std::vector<V>> : element_of<V> {};

template <std::size_t i, class... T>
std::tuple_element_t<i, std::tuple<T...>> nth(type_list<T...>);

template <class Slot>
struct forward_slot {
    using type = Slot;
    static constexpr bool grad = false;
};
template <class Slot>
struct forward_slot<grad_of<Slot>> {
    using type = Slot;
    static constexpr bool grad = true;
};

/// Locates a slot of a rule. `Made`: all slots that the operator's rules write.
template <class Op, class Made, class Slot>
constexpr grad_slot locate() {
    using S = typename forward_slot<Slot>::type;
    constexpr bool grad = forward_slot<Slot>::grad;
    if constexpr (Op::inputs::template has<S>) {
        return {grad ? grad_slot::grad_of_input : grad_slot::input, Op::inputs::template index<S>};
    } else if constexpr (Op::outputs::template has<S>) {
        return {grad ? grad_slot::grad_of_output : grad_slot::output, Op::outputs::template index<S>};
    } else {
        static_assert(Made::template has<Slot>,
                      "rowan: a gradient rule reads a slot that is not a slot of the operator and that no rule writes");
        return {grad_slot::between_rules, Made::template index<Slot>};
    }
}

/// The element type of a slot. Values passed between rules have that of the operator's first result.
template <class Op, class Results, class Slot, class... T>
auto slot_element() {
    using S = typename forward_slot<Slot>::type;
    if constexpr (Op::inputs::template has<S>) {
        constexpr std::size_t i = Op::inputs::template index<S>;
        return std::type_identity<std::tuple_element_t<(i < sizeof...(T) ? i : 0), std::tuple<T...>>>{};
    } else if constexpr (Op::outputs::template has<S>) {
        return std::type_identity<
            typename element_of<decltype(nth<Op::outputs::template index<S>>(Results{}))>::type>{};
    } else {
        return std::type_identity<typename element_of<decltype(nth<0>(Results{}))>::type>{};
    }
}

template <class A, class B>
struct join_slots;
template <class... A, class... B>
struct join_slots<slots<A...>, slots<B...>> {
    using type = slots<A..., B...>;
};

template <class Rules>
struct written_by;
template <>
struct written_by<grad_rules<>> {
    using type = slots<>;
};
template <class Rule, class... Rest>
struct written_by<grad_rules<Rule, Rest...>> {
    using type = typename join_slots<typename Rule::writes, typename written_by<grad_rules<Rest...>>::type>::type;
};

/// The base of operators on whole values of any kind. A derived operator defines name, slots, infer and run, and
/// overrides the members below where it differs.
struct whole_op {
    using grad = no_grad;
    static constexpr bool in_place = false;
    static constexpr bool compiled_rules = false;  // whether the compiled library has its rules apart from it
    static unsigned row_inputs(std::span<VarSpec const>, AttributesRef) { return 0; }
    static bool row_output(AttributesRef, std::size_t) { return false; }
    static RowTraits row_traits(AttributesRef) { return {false, false, Linearity::inside}; }
    static constexpr decltype(op_kernel::each_read) each_read = nullptr;
};

template <std::derived_from<whole_op> Op>
struct whole_kernel {
    static op_kernel const value;
};

template <class Op, class D, class Types, class Rule>
struct rule_of;
template <class Op, class D, class... T, class RuleOp, class... In, class... Out>
struct rule_of<Op, D, type_list<T...>, grad_rule<RuleOp, slots<In...>, slots<Out...>>> {
    static_assert(std::is_same_v<attributes_of<RuleOp>, no_attributes> ||
                      std::is_same_v<attributes_of<RuleOp>, attributes_of<Op>>,
                  "rowan: the operator of a gradient rule must have no attributes, or those of the operator itself");
    using made = typename written_by<grad_rules_of<Op>>::type;
    static constexpr std::array<grad_slot, sizeof...(In)> reads{locate<Op, made, In>()...};
    static constexpr std::array<grad_slot, sizeof...(Out)> writes{locate<Op, made, Out>()...};
    static constexpr op_kernel const* kernel() {
        if constexpr (std::derived_from<Op, whole_op>) {
            return &whole_kernel<RuleOp>::value;
        } else {
            using results = typename results_of<Op, D, T...>::type;
            return &kernel_of<RuleOp, D, typename decltype(slot_element<Op, results, In, T...>())::type...>::value;
        }
    }
};

template <class Op, class D, class Types, class Rules>
struct rules_of;
template <class Op, class D, class Types>
struct rules_of<Op, D, Types, grad_rules<>> {
    static constexpr std::array<grad_kernel, 0> value{};
};
template <class Op, class D, class Types, class... Rule>
struct rules_of<Op, D, Types, grad_rules<Rule...>> {
    static constexpr std::array<grad_kernel, sizeof...(Rule)> value{
        grad_kernel{.op = rule_of<Op, D, Types, Rule>::kernel(),
                    .reads = rule_of<Op, D, Types, Rule>::reads,
                    .writes = rule_of<Op, D, Types, Rule>::writes}...};
};

/// The rules of an operator for inputs with elements of T... on device D.
template <class Op, class D, class... T>
inline constexpr GradientRules gradient_rules{rules_of<Op, D, type_list<T...>, grad_rules_of<Op>>::value,
                                              rules_of<Op, D, type_list<T...>, row_rules_of<Op>>::value};

template <class Op>
inline constexpr bool has_rules = !std::is_same_v<grad_rules_of<Op>, grad_rules<>>;
template <class Op>
inline constexpr bool has_row_rules = !std::is_same_v<row_rules_of<Op>, grad_rules<>>;

/// Whether the rules of a kernel are in the compiled library, apart from it, if there is one and `apart`.
template <class Op, bool apart>
inline constexpr bool has_compiled_rules = false;
#ifdef ROWAN_COMPILED
template <class Op>
inline constexpr bool has_compiled_rules<Op, true> = has_rules<Op>;
#endif

/// The rules that a kernel refers to.
template <class Op, bool apart, class D, class... T>
constexpr GradientRules const* own_rules() {
    if constexpr (has_rules<Op> && !has_compiled_rules<Op, apart>) return &gradient_rules<Op, D, T...>;
    return nullptr;
}

template <std::derived_from<whole_op> Op>
constinit op_kernel const whole_kernel<Op>::value{.name = Op::name,
                                                  .inputs = Op::inputs::names,
                                                  .outputs = Op::outputs::names,
                                                  .op = &type_tag<Op>,
                                                  .family = family_of<Op>,
                                                  .row_inputs = &Op::row_inputs,
                                                  .row_output = &Op::row_output,
                                                  .row_traits = &Op::row_traits,
                                                  .infer = &Op::infer,
                                                  .run = &Op::run,
                                                  .rules = own_rules<Op, Op::compiled_rules, void>(),
                                                  .compiled_rules = has_compiled_rules<Op, Op::compiled_rules>,
                                                  .in_place = Op::in_place,
                                                  .each_read = Op::each_read};

/// The kernel of an operator on whole values, to which it converts. A program that does not use it does not have it.
template <std::derived_from<whole_op> Op>
struct WholeKernel {
    static constexpr std::string_view name = Op::name;
    operator op_kernel const&() const noexcept { return whole_kernel<Op>::value; }
};

}  // namespace detail

#ifndef ROWAN_COMPILED  // compiled/gradients.cpp defines it
template <class>
GradientRules op_kernel::gradient() const {
    if (only_forward)
        throw GraphError({"operator ", name,
                          " was made without its gradient: give from_program, load_model or make_operator the list "
                          "with_gradients<forward_ops>, or another with_gradients<...>"});
    if (compiled_rules) throw GraphError({"this library has no operator ", name, " of these element types"});
    return rules == nullptr ? GradientRules{} : *rules;
}
#endif

}  // namespace rowan::inline v0

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/graph/detail/make_kernel.hpp>
#endif
