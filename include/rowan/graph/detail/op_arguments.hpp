// rowan/graph/detail/op_arguments.hpp: level_mask and call, which select an operator's kernel by argument types.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/op/detail/input_types.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// Throws unless a call on `exec` may use the input. This one check refuses the tensors of another GPU for all
/// operators, also those that read shapes or levels alone; most functions that operators call check what they read.
template <class T, class D>
void check_input(D const& exec, LoDTensor<T, D> const& x) {
    check_usable(exec, x.value());
}
template <class T, class D>
void check_input([[maybe_unused]] D const& exec, [[maybe_unused]] SelectedRows<T, D> const& x) {
    if constexpr (!std::is_same_v<D, Cpu>) check_usable(exec, x.rows(), x.value());
}

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

/// A bit mask of the arguments that the kernel takes as LoDTensor; no_mask if there is no kernel. The masks with no bit
/// and with all bits set are tried first. Of more than five arguments, those with one bit are the only others: all would
/// take minutes to compile.
template <class Op, class D, class... V>
constexpr std::size_t level_mask() {
    constexpr std::size_t all = (std::size_t{1} << sizeof...(V)) - 1;
    if constexpr (takes_masked<Op, D, 0, V...>) {
        return 0;
    } else if constexpr (takes_masked<Op, D, all, V...>) {
        return all;
    } else if constexpr (sizeof...(V) > 5) {
        return []<std::size_t... i>(std::index_sequence<i...>) {
            std::size_t found = no_mask;
            (void)((takes_masked<Op, D, std::size_t{1} << i, V...> ? (found = std::size_t{1} << i, true) : false) ||
                   ...);
            return found;
        }
        (std::index_sequence_for<V...>{});
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

/// Calls the kernel for these arguments.
template <class Op, class D, class... V>
auto call(D const& device, attributes_of<Op> const& attributes, V&... v) {
    static_assert(level_mask<Op, D, V...>() != no_mask,
                  "rowan: the operator has no function run for this device and these input types");
    return call_masked<Op, level_mask<Op, D, V...>()>(device, attributes, std::index_sequence_for<V...>{}, v...);
}

template <class T, class D, bool sparse>
using held_t = std::conditional_t<sparse, SelectedRows<T, D>, LoDTensor<T, D>>;

template <class Op, class D, std::size_t k, class... T, std::size_t... i>
constexpr bool takes_sparse(std::index_sequence<i...>) {
    return level_mask<Op, D, held_t<T, D, i == k>...>() != no_mask ||
           level_mask<Op, D, held_t<T, D, true>...>() != no_mask;
}

/// Bit i is set if the operator takes a row-sparse input i where others are dense, or where all are row-sparse.
template <class Op, class D, class... T>
inline constexpr unsigned sparse_inputs_of = []<std::size_t... i>(std::index_sequence<i...>) {
    return ((takes_sparse<Op, D, i, T...>(std::index_sequence<i...>{}) ? 1U << i : 0U) | ... | 0U);
}
(std::index_sequence_for<T...>{});

}  // namespace rowan::inline v0::detail
