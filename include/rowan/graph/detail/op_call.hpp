// rowan/graph/detail/op_call.hpp: calls of an operator's kernel with type-erased arguments.
#pragma once

#include <rowan/detail/only_checking.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/detail/held_values.hpp>
#include <rowan/graph/detail/op_arguments.hpp>
#include <rowan/graph/detail/op_results.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/find_rows.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

[[noreturn]] inline void no_kernel(std::string_view name, std::span<Value* const> in) {
    std::string kinds;
    for (Value const* v : in) kinds.append(kinds.empty() ? "" : ", ").append(v->kind());
    throw TypeError({"the input of operator ", name}, kinds, "types for which it has a kernel");
}

/// Checks that a call on `device` may use input i. If it is row-sparse, sets bit i of `sparse`. Returns whether it is a
/// tensor with elements of T. There is one function for each element type, and none for each operator.
template <class T, class D>
[[gnu::noinline]] bool looked_at(D const& device, KernelCall const& c, std::size_t i, Results& to,
                                 std::size_t& sparse) {
    Value& v = *c.in[i];
    if (v.is<LoDTensor<T, D>>()) {
        auto const& x = v.get<LoDTensor<T, D>>();
        check_input(device, x);
        if (static_cast<std::ptrdiff_t>(i) == c.levels_from) to.lod = &x.lod();
    } else if (v.is<SelectedRows<T, D>>()) {
        check_input(device, v.get<SelectedRows<T, D>>());
        sparse |= std::size_t{1} << i;
    } else {
        return false;
    }
    return true;
}

/// Runs the kernel for values of types V... and stores its results. Returns whether there is one.
template <class Op, class D, class... V, std::size_t... i>
bool run_held(D const& device, Results const& to, attributes_of<Op> const& attributes, type_list<V...>,
              std::index_sequence<i...>) {
    if constexpr (level_mask<Op, D, V...>() == no_mask) {
        return false;
    } else if constexpr (std::is_void_v<decltype(call<Op>(device, attributes, std::declval<V&>()...))>) {
        call<Op>(device, attributes, to.in[i]->template get<V>()...);
        return true;
    } else {
        to.store_all(call<Op>(device, attributes, to.in[i]->template get<V>()...));
        return true;
    }
}

/// The same if bit i of `sparse` is set where input i is row-sparse.
template <class Op, class D, std::size_t sparse, class... T, std::size_t... i>
bool run_kinds(D const& device, Results const& to, attributes_of<Op> const& attributes, type_list<T...>,
               std::index_sequence<i...> indices) {
    return run_held<Op>(device, to, attributes, type_list<held_t<T, D, ((sparse >> i) & 1) != 0>...>{}, indices);
}

/// run_kinds with one row-sparse input.
template <class Op, class D, class... T, std::size_t... k>
bool run_one_sparse(D const& device, Results const& to, attributes_of<Op> const& attributes, std::size_t sparse,
                    type_list<T...> types, std::index_sequence<k...> indices) {
    return ((sparse == std::size_t{1} << k &&
             run_kinds<Op, D, std::size_t{1} << k>(device, to, attributes, types, indices)) ||
            ...);
}

/// Runs an optimizer on the rows of a parameter that is a SelectedRows, with the states of those rows and a row-sparse
/// gradient, unless it takes no row-sparse gradient. Returns whether it ran.
template <class Op, class D, class... T>
bool run_on_rows(KernelCall const& c) {
    constexpr std::size_t last = sizeof...(T) - 1;
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        if constexpr (level_mask<Op, D, held_t<T, D, i == last>...>() == no_mask) {
            return false;
        } else {
            using Types = std::tuple<T...>;
            using Param = std::tuple_element_t<0, Types>;
            using Grad = SelectedRows<std::tuple_element_t<last, Types>, D>;
            D const& device = c.exec.get<D>();
            auto& param = c.in[0]->template get<SelectedRows<Param, D>>();
            LoDTensor<Param, D> value(param.value().share());
            auto grad = find_rows(device, param, c.in[last]->template get<Grad>());
            auto* const first = &value;  // nvcc warns of references to what a lambda has captured by reference
            auto* const rows = &grad;
            auto const argument = [&]<std::size_t k>(std::integral_constant<std::size_t, k>) -> auto& {
                if constexpr (k == 0) {
                    return *first;
                } else if constexpr (k + 1 == sizeof...(T)) {
                    return *rows;
                } else {
                    return c.in[k]->template get<LoDTensor<std::tuple_element_t<k, Types>, D>>();
                }
            };
            call<Op>(device, attributes_for<Op>(c.attributes), argument(std::integral_constant<std::size_t, i>{})...);
            return true;
        }
    }
    (std::index_sequence_for<T...>{});
}

/// Runs the kernel of an operator that reads_stores if the first input is a RowStore. Returns whether it ran.
template <class Op, class T, class... More, std::size_t... i>
bool run_on_store(Cpu exec, Results const& to, attributes_of<Op> const& attributes, type_list<T, More...>,
                  std::index_sequence<i...>) {
    if (!to.in[0]->is<RowStore<T>>() || !(to.in[i + 1]->is<LoDTensor<More>>() && ...)) return false;
    to.store_all(call<Op>(exec, attributes, to.in[0]->get<RowStore<T>>(), to.in[i + 1]->get<LoDTensor<More>>()...));
    return true;
}

template <class Op, class D, class... T>
void run_fixed(KernelCall const& c) {
    constexpr auto indices = std::index_sequence_for<T...>{};
    constexpr std::size_t all = (std::size_t{1} << sizeof...(T)) - 1;
    D const& d = c.exec.get<D>();
    auto const& a = attributes_for<Op>(c.attributes);
    Results to{c.in, c.out};
    std::size_t sparse = 0;
    [[maybe_unused]] std::size_t i = 0;
    bool known = true, done = false;
    ((known = looked_at<T>(d, c, i++, to, sparse) && known), ...);
    if (known) {
        // Supported: all dense, all row-sparse, or exactly one row-sparse.
        done = sparse == 0 && run_kinds<Op, D, 0>(d, to, a, type_list<T...>{}, indices);
        if constexpr (all != 0)
            done = done || (sparse == all && run_kinds<Op, D, all>(d, to, a, type_list<T...>{}, indices));
        if constexpr (requires { typename Op::updates; })
            done = done || (sparse == (1 | (all + 1) / 2) && run_on_rows<Op, D, T...>(c));
        if constexpr (sizeof...(T) > 1)
            done = done || run_one_sparse<Op, D>(d, to, a, sparse, type_list<T...>{}, indices);
    }
    if constexpr (std::is_same_v<D, Cpu> && requires { Op::reads_stores; })
        done = done || run_on_store<Op>(d, to, a, type_list<T...>{}, std::make_index_sequence<sizeof...(T) - 1>{});
    if (!done) no_kernel(Op::name, c.in);
}

/// The same for an operator with checks_first.
template <class Op, class D, class... T>
void run_or_check(KernelCall const& c) {
    OnlyChecking const checking(c.only_checks);
    run_fixed<Op, D, T...>(c);
}

/// The element type of input i: T... are those of all inputs, or the first is that of every one.
template <std::size_t i, class... T>
using element_at = std::tuple_element_t<(i < sizeof...(T) ? i : 0), std::tuple<T...>>;

/// Whether the operator takes any number of values with their levels, and possibly more values in other slots.
template <class Op, class D, class Indices, class... T>
inline constexpr bool takes_batches_at = false;
template <class Op, class D, std::size_t... i, class First, class... T>
inline constexpr bool takes_batches_at<Op, D, std::index_sequence<i...>, First, T...> =
    takes<Op, D, std::vector<LoDTensor<First, D>>, LoDTensor<element_at<i + 1, First, T...>, D>...>;
template <class Op, class D, class... T>
inline constexpr bool takes_batches =
    Op::inputs::size != 0 &&
    takes_batches_at<Op, D, std::make_index_sequence<(Op::inputs::size == 0 ? 0 : Op::inputs::size - 1)>, T...>;

/// Whether the operator's first slot holds any number of values. Slots with one value each may follow; one, unless the
/// operator takes values with their levels.
template <class Op, class D, class... T>
inline constexpr bool is_variadic = takes_batches<Op, D, T...>;
template <class Op, class D, class T, class... More>
inline constexpr bool is_variadic<Op, D, T, More...> = [] {
    using Many = std::vector<Tensor<T, D>>;
    if constexpr (has_declaration<Op> && Op::inputs::size == 1 && !takes_list<Op>) {
        return false;
    } else if constexpr (takes_batches<Op, D, T, More...>) {
        return true;
    } else if constexpr (Op::inputs::size == 1) {
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

template <class Op, class D, class... T>
void run_batches(KernelCall const& c) {
    using Batch = LoDTensor<element_at<0, T...>, D>;
    auto const& a = attributes_for<Op>(c.attributes);
    std::vector<Batch> batches;
    auto const others = c.in.last(Op::inputs::size - 1);
    for (Value* const v : c.in.first(c.in.size() - others.size())) {
        if (!v->is<Batch>()) no_kernel(Op::name, c.in);
        check_input(c.exec.get<D>(), v->get<Batch>());
        batches.push_back(v->get<Batch>().share());
    }
    Results const to{c.in, c.out};
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        if (!(others[i]->template is<LoDTensor<element_at<i + 1, T...>, D>>() && ...)) no_kernel(Op::name, c.in);
        (check_input(c.exec.get<D>(), others[i]->template get<LoDTensor<element_at<i + 1, T...>, D>>()), ...);
        to.store_all(
            call<Op>(c.exec.get<D>(), a, batches, others[i]->template get<LoDTensor<element_at<i + 1, T...>, D>>()...));
    }
    (std::make_index_sequence<Op::inputs::size - 1>{});
}
template <class Op, class D, class T>
void run_variadic(KernelCall const& c) {
    using Dense = std::vector<Tensor<T, D>>;
    using Sparse = std::vector<SelectedRows<T, D>>;
    D const& d = c.exec.get<D>();
    auto const& a = attributes_for<Op>(c.attributes);
    auto const& in = c.in;
    Results to{in, c.out};
    thread_local Dense dense_room;  // reused, so that a net with constant shapes does not allocate
    thread_local Sparse sparse_room;
    Borrowed<Dense> dense_lent{dense_room};
    Borrowed<Sparse> sparse_lent{sparse_room};
    Dense& dense = dense_lent.list;
    Sparse& sparse = sparse_lent.list;
    for (Value* const v : in.first(in.size() - (Op::inputs::size - 1))) {
        if (v->is<LoDTensor<T, D>>()) {
            if (v == in[static_cast<std::size_t>(std::max<std::ptrdiff_t>(c.levels_from, 0))] && c.levels_from >= 0)
                to.lod = &v->get<LoDTensor<T, D>>().lod();
            check_input(d, v->get<LoDTensor<T, D>>());
            dense.push_back(v->get<LoDTensor<T, D>>().value().share());
        } else if (v->is<SelectedRows<T, D>>()) {
            check_input(d, v->get<SelectedRows<T, D>>());
            sparse.push_back(v->get<SelectedRows<T, D>>().share());
        } else {
            no_kernel(Op::name, in);
        }
    }
    if constexpr (Op::inputs::size == 2) {
        if (!in.back()->is<LoDTensor<T, D>>()) no_kernel(Op::name, in);
        check_input(d, in.back()->get<LoDTensor<T, D>>());
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
    if constexpr (takes<Op, D, Dense, Sparse>) {
        try {
            return to.store_all(call<Op>(d, a, dense, sparse));
        } catch (Error const&) {
            if constexpr (requires { Op::check_list(std::vector<bool>(), dense, sparse); }) {
                std::vector<bool> is_sparse;
                for (Value* const v : in) is_sparse.push_back(v->is<SelectedRows<T, D>>());
                Op::check_list(is_sparse, dense, sparse);  // names the position in the caller's list
            }
            throw;
        }
    }
    no_kernel(Op::name, in);
}

}  // namespace rowan::inline v0::detail
