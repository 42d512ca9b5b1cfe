// rowan/graph/op_code.hpp: op_code, an operator for given element types, in a form that a net can store.
#pragma once

#include <rowan/graph/value.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

struct op_code;

/// Where a gradient operator finds what it reads, or what it writes is.
struct grad_slot {
    enum Kind : std::uint8_t { input, output, grad_of_input, grad_of_output, between_rules };
    Kind kind;
    std::size_t index;
};

/// A grad_rule as data.
struct rule_code {
    op_code const* op;
    std::span<grad_slot const> reads;
    std::span<grad_slot const> writes;
};

/// An operator for given element types on a given device: what a net needs to run it and to differentiate it. Made at compile time,
/// where it is used: a program carries the operators that its nets use.
struct op_code {
    std::string_view name;
    std::span<std::string_view const> inputs,
        outputs;          // the names of the slots, the first of which may hold any number
    unsigned row_inputs;  // see row_inputs_of
    bool sums_rows;
    bool (*row_output)(void const* attributes, std::size_t i);  // do rows of result i follow from rows of inputs?
    bool (*row_wise)(void const* attributes);                   // see row_wise_of
    std::vector<VarSpec> (*infer)(std::span<VarSpec const> in, void const* attributes);
    void (*run)(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
                std::ptrdiff_t levels_from);  // the input whose levels results of as many rows get, or -1
    std::span<rule_code const> rules;
    bool in_place = false;  ///< may result 0 take the place of input 0, where nothing else reads that?
};

namespace detail {

template <class... T>
struct type_list {};

// ---- which of an operator's arguments are wanted with their levels

template <class V>
V& without_levels(V& v) {
    return v;
}
template <class T, class D>
Tensor<T, D>& without_levels(LoDTensor<T, D>& v) {
    return v.value();
}

template <bool levels, class V>
auto& as_argument(V& v) {
    if constexpr (levels) {
        return v;
    } else {
        return without_levels(v);
    }
}

template <class Op, class D, class... Arg>
inline constexpr bool takes_with_attributes = requires(D const& d, attributes_of<Op> const& a, Arg&... arg) {
    Op::run(d, arg..., a);
};
template <class Op, class D, class... Arg>
inline constexpr bool takes = takes_with_attributes<Op, D, Arg...> || requires(D const& d, Arg&... arg) {
    Op::run(d, arg...);
};

template <class V, bool levels>
using argument_t = std::remove_reference_t<decltype(as_argument<levels>(std::declval<V&>()))>;

template <class Op, class D, std::size_t mask, class... V>
inline constexpr bool takes_masked = []<std::size_t... i>(std::index_sequence<i...>) {
    return takes<Op, D, argument_t<V, ((mask >> i) & 1) != 0>...>;
}
(std::index_sequence_for<V...>{});

inline constexpr std::size_t no_mask = ~std::size_t{0};

/// The arguments that the kernel wants as LoDTensors, as bits; no_mask if there is no kernel. None and all are tried first.
template <class Op, class D, class... V>
constexpr std::size_t level_mask() {
    constexpr std::size_t all = (std::size_t{1} << sizeof...(V)) - 1;
    if constexpr (takes_masked<Op, D, 0, V...>) {
        return 0;
    } else if constexpr (takes_masked<Op, D, all, V...>) {
        return all;
    } else {
        return []<std::size_t... mask>(std::index_sequence<mask...>) {
            std::size_t found = no_mask;
            (void)((takes_masked<Op, D, mask + 1, V...> ? (found = mask + 1, true) : false) || ...);
            return found;
        }
        (std::make_index_sequence<(all > 1 ? all - 1 : 0)>{});
    }
}

template <class Op, std::size_t mask, class D, class... V, std::size_t... i>
auto call_masked(D const& device, attributes_of<Op> const& attributes, std::index_sequence<i...>, V&... v) {
    if constexpr (takes_with_attributes<Op, D, argument_t<V, ((mask >> i) & 1) != 0>...>) {
        return Op::run(device, as_argument<((mask >> i) & 1) != 0>(v)..., attributes);
    } else {
        return Op::run(device, as_argument<((mask >> i) & 1) != 0>(v)...);
    }
}

/// Calls the kernel for these values.
template <class Op, class D, class... V>
auto call(D const& device, attributes_of<Op> const& attributes, V&... v) {
    static_assert(level_mask<Op, D, V...>() != no_mask,
                  "rowan: the operator has no kernel, a function run, for this device and inputs of these types");
    return call_masked<Op, level_mask<Op, D, V...>()>(device, attributes, std::index_sequence_for<V...>{}, v...);
}

// ---- results

template <class R>
struct result_types {
    using type = type_list<R>;
};
template <>
struct result_types<void> {
    using type = type_list<>;
};
template <class... R>
struct result_types<std::tuple<R...>> {
    using type = type_list<R...>;
};

template <class V>
struct element_of {
    using type = typename V::value_type;
};
template <class V>
struct element_of<std::vector<V>> : element_of<V> {};

/// Where results go, and the levels that those of as many rows get.
struct Results {
    std::span<Value*const> in, out;
    Lod const* lod = nullptr;

    template <class T, class D>
    void store(std::size_t i, Tensor<T, D>&& x) const {
        bool const rows = lod != nullptr && x.dimension() != 0 && static_cast<std::int64_t>(x.shape(0)) == lod->rows();
        out[i]->set(LoDTensor<T, D>(std::move(x), rows ? *lod : Lod()));
    }
    template <class V>
    void store(std::size_t i, V&& x) const {
        out[i]->set(std::move(x));
    }

    template <class R>
    void store_all(R&& result) const {
        store(0, std::move(result));
    }
    template <class... R>
    void store_all(std::tuple<R...>&& results) const {
        std::apply([&, i = std::size_t{0}](R&... r) mutable { (store(i++, std::move(r)), ...); }, results);
    }
    template <class V>
    void store_all(std::vector<V>&& results) const {
        for (std::size_t i = 0; i < out.size(); ++i) store(i, std::move(results[i]));
    }
    /// Of as many values, dense and row-sparse ones, each has the kind of its input.
    template <class T, class D>
    void store_all(std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>>&& results) const {
        std::size_t dense = 0, sparse = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (in[i]->template is<SelectedRows<T, D>>()) {
                store(i, std::move(std::get<1>(results)[sparse++]));
            } else {
                store(i, std::move(std::get<0>(results)[dense++]));
            }
        }
    }
};

// ---- from values of unknown kind to a kernel

[[noreturn]] inline void no_kernel(std::string_view name, std::span<Value* const> in) {
    std::string kinds;
    for (Value const* v : in) kinds.append(kinds.empty() ? "" : ", ").append(v->kind());
    throw TypeError(std::string("the kernel of ").append(name), kinds, "kinds and element types that it has");
}

template <class T, class D, bool sparse>
using held_t = std::conditional_t<sparse, SelectedRows<T, D>, LoDTensor<T, D>>;

/// Runs the kernel for inputs of which `sparse` says, as bits, which are row-sparse.
template <class Op, class D, std::size_t sparse, class... T, std::size_t... i>
bool run_kinds(D const& device, Results const& to, attributes_of<Op> const& attributes, type_list<T...>,
               std::index_sequence<i...>) {
    if constexpr (level_mask<Op, D, held_t<T, D, ((sparse >> i) & 1) != 0>...>() == no_mask) {
        return false;
    } else {
        using result =
            decltype(call<Op>(device, attributes, to.in[i]->template get<held_t<T, D, ((sparse >> i) & 1) != 0>>()...));
        if constexpr (std::is_void_v<result>) {
            call<Op>(device, attributes, to.in[i]->template get<held_t<T, D, ((sparse >> i) & 1) != 0>>()...);
        } else {
            to.store_all(
                call<Op>(device, attributes, to.in[i]->template get<held_t<T, D, ((sparse >> i) & 1) != 0>>()...));
        }
        return true;
    }
}

template <class Op, class D, class... T>
void run_fixed(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
               std::ptrdiff_t levels_from) {
    constexpr auto indices = std::index_sequence_for<T...>{};
    constexpr std::size_t all = (std::size_t{1} << sizeof...(T)) - 1;
    D const& d = *static_cast<D const*>(device);
    auto const& a = *static_cast<attributes_of<Op> const*>(attributes);
    Results to{in, out};
    std::size_t sparse = 0, i = 0;
    bool known = true;
    [[maybe_unused]] auto const look = [&]<class V>(std::type_identity<V>) {
        if (in[i]->template is<SelectedRows<V, D>>()) {
            sparse |= std::size_t{1} << i;
        } else if (in[i]->template is<LoDTensor<V, D>>()) {
            if (static_cast<std::ptrdiff_t>(i) == levels_from) to.lod = &in[i]->template get<LoDTensor<V, D>>().lod();
        } else {
            known = false;
        }
        ++i;
    };
    (look(std::type_identity<T>{}), ...);
    bool done = false;
    if (known) {
        // all dense, all row-sparse, or one of them row-sparse
        done = sparse == 0 && run_kinds<Op, D, 0>(d, to, a, type_list<T...>{}, indices);
        if constexpr (all != 0)
            done = done || (sparse == all && run_kinds<Op, D, all>(d, to, a, type_list<T...>{}, indices));
        if constexpr (sizeof...(T) > 1) {
            [&]<std::size_t... k>(std::index_sequence<k...>) {
                ((done = done || (sparse == std::size_t{1} << k &&
                                  run_kinds<Op, D, std::size_t{1} << k>(d, to, a, type_list<T...>{}, indices))),
                 ...);
            }
            (indices);
        }
    }
    if (!done) no_kernel(Op::name, in);
}

/// Does the operator's first slot hold any number of values? One of another slot may follow.
template <class Op, class D, class T>
inline constexpr bool is_variadic = [] {
    using Many = std::vector<Tensor<T, D>>;
    if constexpr (Op::inputs::size == 1) {
        return takes<Op, D, Many> || takes<Op, D, std::vector<SelectedRows<T, D>>> ||
               takes<Op, D, Many, std::vector<SelectedRows<T, D>>>;
    } else {
        return Op::inputs::size == 2 && takes<Op, D, Many, Tensor<T, D>>;
    }
}();

template <class List>
struct Borrowed {
    explicit Borrowed(List& owner) : list(std::move(owner)), home(owner) {}
    Borrowed(Borrowed const&) = delete;
    Borrowed& operator=(Borrowed const&) = delete;
    ~Borrowed() {
        list.clear();
        home = std::move(list);
    }

    List list;
    List& home;
};

template <class Op, class D, class T>
void run_variadic(void const* device, std::span<Value* const> in, std::span<Value* const> out, void const* attributes,
                  std::ptrdiff_t levels_from) {
    using Dense = std::vector<Tensor<T, D>>;
    using Sparse = std::vector<SelectedRows<T, D>>;
    D const& d = *static_cast<D const*>(device);
    auto const& a = *static_cast<attributes_of<Op> const*>(attributes);
    Results to{in, out};
    thread_local Dense dense_room;  // kept, so that a net of steady shape allocates nothing
    thread_local Sparse sparse_room;
    Borrowed<Dense> dense_lent{dense_room};
    Borrowed<Sparse> sparse_lent{sparse_room};
    Dense& dense = dense_lent.list;
    Sparse& sparse = sparse_lent.list;
    for (Value* const v : in.first(in.size() - (Op::inputs::size - 1))) {
        if (v->is<LoDTensor<T, D>>()) {
            if (v == in[static_cast<std::size_t>(std::max<std::ptrdiff_t>(levels_from, 0))] && levels_from >= 0)
                to.lod = &v->get<LoDTensor<T, D>>().lod();
            dense.push_back(v->get<LoDTensor<T, D>>().value().share());
        } else if (v->is<SelectedRows<T, D>>()) {
            sparse.push_back(v->get<SelectedRows<T, D>>().share());
        } else {
            no_kernel(Op::name, in);
        }
    }
    if constexpr (Op::inputs::size == 2) {
        if (!in.back()->is<LoDTensor<T, D>>()) no_kernel(Op::name, in);
        if constexpr (takes<Op, D, Dense, Sparse, Tensor<T, D>>) {
            if (!sparse.empty())
                return to.store_all(call<Op>(d, a, dense, sparse, in.back()->get<LoDTensor<T, D>>().value()));
        }
        if (!sparse.empty()) no_kernel(Op::name, in);
        return to.store_all(call<Op>(d, a, dense, in.back()->get<LoDTensor<T, D>>().value()));
    }
    if constexpr (takes<Op, D, Dense>) {
        if (sparse.empty()) return to.store_all(call<Op>(d, a, dense));
    }
    if constexpr (takes<Op, D, Sparse>) {
        if (dense.empty()) return to.store_all(call<Op>(d, a, sparse));
    }
    if constexpr (takes<Op, D, Dense, Sparse>) return to.store_all(call<Op>(d, a, dense, sparse));
    no_kernel(Op::name, in);
}

// ---- infer

template <class Op, std::size_t... i>
auto infer_fixed(std::span<VarSpec const> in, attributes_of<Op> const& attributes, std::index_sequence<i...>) {
    if constexpr (requires { Op::infer(in[i]..., attributes); }) {
        return Op::infer(in[i]..., attributes);
    } else {
        static_assert(
            requires { Op::infer(in[i]...); },
            "rowan: an operator needs a function infer that takes a VarSpec for each of its inputs");
        return Op::infer(in[i]...);
    }
}

template <class Op, bool variadic>
std::vector<VarSpec> infer_code(std::span<VarSpec const> in, void const* attributes) {
    auto const& a = *static_cast<attributes_of<Op> const*>(attributes);
    auto const result = [&] {
        if constexpr (!variadic) {
            return infer_fixed<Op>(in, a, std::make_index_sequence<Op::inputs::size>{});
        } else if constexpr (Op::inputs::size == 2) {
            auto const many = in.first(in.size() - 1);
            if constexpr (requires { Op::infer(many, in.back(), a); }) {
                return Op::infer(many, in.back(), a);
            } else {
                return Op::infer(many, in.back());
            }
        } else if constexpr (requires { Op::infer(in, a); }) {
            return Op::infer(in, a);
        } else {
            return Op::infer(in);
        }
    }();
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(result)>, VarSpec>) {
        return {result};
    } else {
        return {result.begin(), result.end()};
    }
}

// ---- rules as data

/// The types of an operator's results for dense inputs.
template <class Op, class D, class... T>
struct results_of {
    using type =
        typename result_types<decltype(call<Op>(std::declval<D const&>(), std::declval<attributes_of<Op> const&>(),
                                                std::declval<LoDTensor<T, D>&>()...))>::type;
};
template <class Op, class D, class T>
requires(is_variadic<Op, D, T>&& Op::inputs::size == 1) struct results_of<Op, D, T> {
    using type = type_list<Tensor<T, D>>;
};

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

/// Where a slot of a rule is found. `Made`: what the rules write that is no gradient of an input.
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
                      "rowan: a gradient rule reads a slot that neither the operator has nor a rule makes");
        return {grad_slot::between_rules, Made::template index<Slot>};
    }
}

/// The element type of what is in a slot. What rules hand to each other has that of the operator's first result.
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

}  // namespace detail

template <class Op, class D, class... T>
struct code_of;

namespace detail {

template <class Op, class D, class Types, class Rule>
struct rule_of;
template <class Op, class D, class... T, class RuleOp, class... In, class... Out>
struct rule_of<Op, D, type_list<T...>, grad_rule<RuleOp, slots<In...>, slots<Out...>>> {
    static_assert(std::is_same_v<attributes_of<RuleOp>, no_attributes> ||
                      std::is_same_v<attributes_of<RuleOp>, attributes_of<Op>>,
                  "rowan: the operator of a gradient rule must have no attributes, or those of the operator itself");
    using results = typename results_of<Op, D, T...>::type;
    using made = typename written_by<grad_rules_of<Op>>::type;
    static constexpr std::array<grad_slot, sizeof...(In)> reads{locate<Op, made, In>()...};
    static constexpr std::array<grad_slot, sizeof...(Out)> writes{locate<Op, made, Out>()...};
    using code = code_of<RuleOp, D, typename decltype(slot_element<Op, results, In, T...>())::type...>;
};

template <class Op, class D, class Types, class Rules>
struct rules_of;
template <class Op, class D, class Types>
struct rules_of<Op, D, Types, grad_rules<>> {
    static constexpr std::array<rule_code, 0> value{};
};
template <class Op, class D, class Types, class... Rule>
struct rules_of<Op, D, Types, grad_rules<Rule...>> {
    static constexpr std::array<rule_code, sizeof...(Rule)> value{rule_code{&rule_of<Op, D, Types, Rule>::code::value,
                                                                            rule_of<Op, D, Types, Rule>::reads,
                                                                            rule_of<Op, D, Types, Rule>::writes}...};
};

}  // namespace detail

/// The code of `Op` on device D, its inputs having elements of T... (one T where its slot holds any number of values).
template <class Op, class D, class... T>
struct code_of {
    static_assert(operation<Op>, "rowan: an operator has a name, inputs, outputs and grad, see rowan::operation");

private:
    static constexpr bool variadic = detail::is_variadic<Op, D, std::tuple_element_t<0, std::tuple<T..., float>>>;
    static constexpr auto run() {
        if constexpr (variadic) {
            return &detail::run_variadic<Op, D, std::tuple_element_t<0, std::tuple<T...>>>;
        } else {
            static_assert(sizeof...(T) == Op::inputs::size,
                          "rowan::code_of: as many element types as the operator has inputs");
            return &detail::run_fixed<Op, D, T...>;
        }
    }

public:
    static constexpr op_code value{
        Op::name,
        Op::inputs::names,
        Op::outputs::names,
        row_inputs_of<Op>,
        sums_rows_of<Op>,
        [](void const*, std::size_t) { return !sums_rows_of<Op>; },
        [](void const* a) { return row_wise_of<Op>(*static_cast<attributes_of<Op> const*>(a)); },
        &detail::infer_code<Op, variadic>,
        run(),
        detail::rules_of<Op, D, detail::type_list<T...>, grad_rules_of<Op>>::value};
};

}  // namespace rowan::inline v0
