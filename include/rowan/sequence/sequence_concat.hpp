// rowan/sequence/sequence_concat.hpp: sequence_concat, which concatenates the i-th sequences of several batches.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// How the sequences of a level of several batches are concatenated.
struct ConcatPlan {
    std::vector<std::vector<std::int64_t>> rows;  // of each batch, the first rows of the sequences of the level
    Lod blocks;                                   // of the result: block s * rows.size() + j is sequence s of batch j

    std::span<std::int64_t const> starts() const { return blocks[0]; }
    /// The first row of block i in its batch.
    std::size_t from(std::size_t i) const { return static_cast<std::size_t>(rows[i % rows.size()][i / rows.size()]); }
};

/// Throws unless all Lods have the level, by default the last, with as many sequences, and equal levels above it.
ConcatPlan plan_concat(std::string const& field, std::string const& member, std::span<Lod const> lods,
                       std::optional<std::size_t> level);

/// The Lod of the result.
Lod concat_lods(std::span<Lod const> lods, std::optional<std::size_t> level);

template <class T, class D>
LoDTensor<T, D> concat(D const& exec, std::span<LoDTensor<T, D> const* const> inputs,
                       std::optional<std::size_t> level) {
    check_exec(exec);
    std::vector<Lod> lods;
    for (auto const* x : inputs) lods.push_back(x->lod());
    for (auto const* x : inputs) x->check();
    for (auto const* x : inputs) check_usable(exec, x->value());
    auto const plan = plan_concat("x", ".lod()", lods, level);
    for (std::size_t j = 1; j < inputs.size(); ++j)
        check_trailing(("x[" + std::to_string(j) + "]").c_str(), inputs[j]->value(), inputs[0]->shape());
    auto const starts = plan.starts();
    auto lod = concat_lods(lods, level);
    auto shape = inputs[0]->shape();
    shape[0] = static_cast<std::size_t>(starts.back());
    auto result = new_tensor<T>(exec, shape);
    std::size_t const width = result.row_size();
    copy_blocks(
        exec, starts, width * sizeof(T),
        [&](std::size_t i) { return inputs[i % inputs.size()]->value().data() + plan.from(i) * width; },
        blocks_at(result.data(), starts, width));
    return {std::move(result), std::move(lod)};
}

template <class X>
struct lod_tensor_type {};
template <class T, class D>
struct lod_tensor_type<LoDTensor<T, D>> {
    using type = LoDTensor<T, D>;
    using device = D;
};

/// The LoDTensor type of a range of LoDTensors or of std::reference_wrappers to them.
template <class R>
using lod_tensor_in = typename lod_tensor_type<
    std::remove_cvref_t<std::unwrap_ref_decay_t<std::ranges::range_reference_t<R const>>>>::type;

/// The device type of these LoDTensors.
template <class R>
using device_of_tensors = typename lod_tensor_type<lod_tensor_in<R>>::device;

/// A range whose iterators return references to existing LoDTensors, not temporaries.
template <class R>
concept lod_tensors = std::ranges::forward_range<R const> && requires {
    typename lod_tensor_in<R>;
} && !std::same_as<std::ranges::range_reference_t<R const>, lod_tensor_in<R>>;

}  // namespace detail

/// Sequence i of a level of the result, by default the last, is the concatenation of sequences i of all inputs, with
/// all that they contain. Inputs are separate arguments, for the last level, or a range of LoDTensors or of references
/// to them.
///
///     [a b]  []  [c]   and   [d]  [e f]  []   ->   [a b d]  [e f]  [c]
///
/// shapes   x: one or more [n_j, ...] -> [Σ n_j, ...], with the levels of the first input above the given level
/// errors   ShapeError if there are no inputs or no levels, or if the number of levels, the levels above the given one,
///          its number of sequences, or trailing dims differ; IndexError if there is no such level
/// cost     one read and one write of every row; 16 bytes per sequence of each input
template <detail::lod_tensors R>
auto sequence_concat(detail::device_of_tensors<R> const& exec, R const& x, std::optional<std::size_t> level = {}) {
    using X = detail::lod_tensor_in<R>;
    std::vector<X const*> pointers;
    for (X const& part : x) pointers.push_back(&part);
    return detail::concat<typename X::value_type, detail::device_of_tensors<R>>(exec, pointers, level);
}
template <class T, device D, std::same_as<LoDTensor<T, D>>... More>
LoDTensor<T, D> sequence_concat(D const& exec, LoDTensor<T, D> const& first, More const&... more) {
    std::array<LoDTensor<T, D> const*, 1 + sizeof...(More)> const pointers{&first, &more...};
    return detail::concat<T, D>(exec, pointers, {});
}

/// The adjoint of sequence_concat: splits out_grad into the gradients of the inputs, whose levels are `lods`.
/// shapes   out_grad [Σ n_j, ...] -> [n_j, ...] with lods[j], for each j
/// errors   those of sequence_concat for inputs with `lods`, and ShapeError if out_grad has another number of rows
/// cost     one read and one write of every row
template <class T, device D, std::ranges::contiguous_range R>
requires std::same_as<std::ranges::range_value_t<R>, Lod> std::vector<LoDTensor<T, D>> sequence_concat_grad(
    D const& exec, LoDTensor<T, D> const& out_grad, R const& lods, std::optional<std::size_t> level = {}) {
    detail::check_exec(exec);
    detail::check_usable(exec, out_grad.value());
    std::span<Lod const> const all(lods);
    auto const plan = detail::plan_concat("lods", "", all, level);
    auto const starts = plan.starts();
    detail::check_height("out_grad", out_grad.value(), starts.back());
    std::size_t const width = out_grad.value().row_size();
    std::vector<LoDTensor<T, D>> grads;
    grads.reserve(all.size());
    std::vector<T*> to;
    for (Lod const& lod : all) {
        auto shape = out_grad.shape();
        shape[0] = static_cast<std::size_t>(lod.rows());
        grads.emplace_back(detail::new_tensor<T>(exec, shape), lod);
        to.push_back(grads.back().value().data());
    }
    detail::copy_blocks(exec, starts, width * sizeof(T), detail::blocks_at(out_grad.value().data(), starts, width),
                        [&](std::size_t i) { return to[i % all.size()] + plan.from(i) * width; });
    return grads;
}
template <class T, device D>
std::vector<LoDTensor<T, D>> sequence_concat_grad(D const& exec, LoDTensor<T, D> const& out_grad,
                                                  std::initializer_list<Lod> lods,
                                                  std::optional<std::size_t> level = {}) {
    return sequence_concat_grad(exec, out_grad, std::span(lods.begin(), lods.size()), level);
}

template <detail::lod_tensors R>
auto sequence_concat(R const& x, std::optional<std::size_t> level = {}) {
    return sequence_concat(detail::device_of_first<detail::lod_tensor_in<R>>(x), x, level);
}
template <class T, class Device, std::same_as<LoDTensor<T, Device>>... More>
LoDTensor<T, Device> sequence_concat(LoDTensor<T, Device> const& first, More const&... more) {
    return sequence_concat(first.device(), first, more...);
}
template <class T, class Device, std::ranges::contiguous_range R>
auto sequence_concat_grad(LoDTensor<T, Device> const& out_grad, R const& lods, std::optional<std::size_t> level = {}) {
    return sequence_concat_grad(out_grad.device(), out_grad, lods, level);
}
template <class T, class Device>
auto sequence_concat_grad(LoDTensor<T, Device> const& out_grad, std::initializer_list<Lod> lods,
                          std::optional<std::size_t> level = {}) {
    return sequence_concat_grad(out_grad.device(), out_grad, lods, level);
}

}  // namespace rowan::inline v0

#include <rowan/sequence/sequence_concat_inl.hpp>
