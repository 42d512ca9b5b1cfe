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

// What follows is made for hundreds of kernels: of specializations, which cost the compiler less than lambdas.

/// The type of as_argument<levels>(v).
template <class V, bool levels>
struct argument {
    using type = V;
};
template <class T, class D>
struct argument<LoDTensor<T, D>, false> {
    using type = Tensor<T, D>;
};
template <class V, bool levels>
using argument_t = typename argument<V, levels>::type;

template <class Op, class D, std::size_t mask, class Indices, class... V>
inline constexpr bool takes_masked_at = false;
template <class Op, class D, std::size_t mask, std::size_t... i, class... V>
inline constexpr bool takes_masked_at<Op, D, mask, std::index_sequence<i...>, V...> =
    takes<Op, D, argument_t<V, ((mask >> i) & 1) != 0>...>;
template <class Op, class D, std::size_t mask, class... V>
inline constexpr bool takes_masked = takes_masked_at<Op, D, mask, std::index_sequence_for<V...>, V...>;

inline constexpr std::size_t no_mask = ~std::size_t{0};

template <class V>
struct dense_input {
    using type = V;
};
template <class T, class D>
struct dense_input<SelectedRows<T, D>> {
    using type = LoDTensor<T, D>;
};
template <class V>
using dense_t = typename dense_input<V>::type;

/// The bits of the arguments that are not row-sparse.
template <class... V>
constexpr std::size_t dense_inputs() {
    std::size_t bits = 0, i = 0;
    ((bits |= std::size_t{std::is_same_v<V, dense_t<V>>} << i++), ...);
    return bits;
}

template <std::size_t... i>
constexpr std::index_sequence<(std::size_t{1} << i)...> single_bits(std::index_sequence<i...>) {
    return {};
}
/// The first of the masks with which there is a kernel.
template <class Op, class D, class... V, std::size_t... mask>
constexpr std::size_t first_mask(std::index_sequence<mask...>) {
    std::size_t found = no_mask;
    (void)((takes_masked<Op, D, mask, V...> ? (found = mask, true) : false) || ...);
    return found;
}

/// A bit mask of the arguments that the kernel takes as LoDTensor; no_mask if there is no kernel. The masks with no bit
/// and with all bits set are tried first; those of row-sparse arguments count for nothing. Of more than five arguments,
/// masks with one bit are the only others: all would take minutes to compile.
template <class Op, class D, class... V>
constexpr std::size_t level_mask() {
    constexpr std::size_t all = dense_inputs<V...>();
    if constexpr (takes_masked<Op, D, 0, V...>) {
        return 0;
    } else if constexpr (all == 0) {
        return no_mask;
    } else if constexpr (takes_masked<Op, D, all, V...>) {
        return all;
    } else if constexpr (has_declaration<Op> && all + 1 != std::size_t{1} << sizeof...(V)) {
        // rowan's operators take the same inputs with their levels where another one is row-sparse
        constexpr std::size_t dense = level_mask<Op, D, dense_t<V>...>();
        if constexpr (dense != no_mask && (dense & all) != 0 && (dense & all) != all) {
            if constexpr (takes_masked<Op, D, dense & all, V...>) return dense & all;
        }
        return no_mask;
    } else if constexpr (sizeof...(V) > 5) {
        return first_mask<Op, D, V...>(single_bits(std::index_sequence_for<V...>{}));
    } else {
        return first_mask<Op, D, V...>(std::make_index_sequence<(all > 1 ? all : 0)>{});
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

template <class Op, class D, class Indices, class... T>
inline constexpr unsigned sparse_inputs_at = 0;
template <class Op, class D, std::size_t... i, class... T>
inline constexpr unsigned sparse_inputs_at<Op, D, std::index_sequence<i...>, T...> =
    ((takes_sparse<Op, D, i, T...>(std::index_sequence<i...>{}) ? 1U << i : 0U) | ... | 0U);

/// Bit i is set if the operator takes a row-sparse input i where others are dense, or where all are row-sparse.
template <class Op, class D, class... T>
inline constexpr unsigned sparse_inputs_of = sparse_inputs_at<Op, D, std::index_sequence_for<T...>, T...>;

}  // namespace rowan::inline v0::detail
