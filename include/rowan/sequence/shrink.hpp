// rowan/sequence/shrink.hpp: shrink, which removes the sequences that have ended before a step.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/detail/take_sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The positions of the sequences that have a step t among `rows` rows, which stand for all sequences or for those that
/// have a step t - 1.
template <class D>
std::vector<std::int64_t> survivors(StepMap<D> const& map, std::size_t t, std::size_t rows) {
    std::vector<std::int64_t> kept;
    kept.reserve(map.step_size(t));
    auto const last = static_cast<std::int64_t>(t);
    bool const of_step = t > 0 && rows == map.step_size(t - 1);
    if (auto const before = of_step ? StepElements<D>::host_step(map, t - 1) : std::span<std::int64_t const>();
        !before.empty()) {
        auto const now = StepElements<D>::host_step(map, t);
        for (std::size_t r = 0; r < before.size() && kept.size() < now.size(); ++r) {
            if (now[kept.size()] == before[r] + 1) kept.push_back(static_cast<std::int64_t>(r));
        }
        return kept;
    }
    for (std::int64_t r = 0, j = 0; std::cmp_less(j, map.sequences()); ++j) {
        std::int64_t const length = map.length(static_cast<std::size_t>(j));
        if (length > last) kept.push_back(r);
        r += !of_step || length >= last;
    }
    return kept;
}

template <class D>
void check_shrink(StepMap<D> const& map, std::size_t t, std::size_t rows) {
    bool const before = t > 0 && rows == map.step_size(t - 1);
    if (map.sorted() ? rows >= map.step_size(t) && rows <= map.sequences() : before || rows == map.sequences()) return;
    throw ShapeError("x.size()", rows, {"the number of sequences, or of those that have a step ", t == 0 ? 0 : t - 1});
}

}  // namespace detail

/// Selects the rows of the sequences that have a step t. The rows of x stand for all sequences in the map's order, or
/// for those that have a step t - 1. If x has levels, selects first-level sequences instead of rows.
/// shapes   x of map.sequences() or map.step_size(t - 1) rows (sorted: any number from map.step_size(t) to
///          map.sequences()) -> map.step_size(t) rows
/// errors   ShapeError if x has another number of rows
/// cost     O(1) for a sorted map, also with levels: an alias of the first rows. Otherwise one pass over the rows of x
///          (on a device, over all sequences), 8 bytes per selected row, and a copy of these rows
template <class T, device D>
Tensor<T, D> shrink(D const& exec, Tensor<T, D> const& x, StepMap<D> const& map, std::size_t t) {
    detail::check_rows("x", x);
    detail::check_shrink(map, t, x.shape()[0]);
    std::size_t const count = map.step_size(t);
    if (map.sorted()) return x.slice(0, count);
    auto const kept = detail::survivors(map, t, x.shape()[0]);
    return detail::take_sequences(exec, LoDTensor<T, D>(x.share()), count, [&](std::size_t i) { return kept[i]; });
}

template <class T, device D>
LoDTensor<T, D> shrink(D const& exec, LoDTensor<T, D> const& x, StepMap<D> const& map, std::size_t t) {
    x.check();
    if (x.lod().empty()) return shrink(exec, x.value(), map, t);
    detail::check_shrink(map, t, x.size());
    std::size_t const count = map.step_size(t);
    Lod const& lod = x.lod();
    if (!map.sorted()) {
        auto const kept = detail::survivors(map, t, x.size());
        return detail::take_sequences(exec, x, count, [&](std::size_t i) { return kept[i]; });
    }
    std::array<std::span<std::int64_t const>, Lod::max_levels> levels;
    std::size_t last = count;
    for (std::size_t l = 0; l < lod.levels(); ++l) {
        levels[l] = lod[l].first(last + 1);
        last = static_cast<std::size_t>(levels[l].back());
    }
    return {x.value().slice(0, last),
            detail::LodAccess::make(detail::LodAccess::memory(lod), std::span(levels.data(), lod.levels()))};
}

/// The adjoint of shrink for a Tensor: the gradient of the selected rows, and zeros for the others. `rows` is
/// x.shape(0).
/// shapes   out_grad [map.step_size(t), ...] -> [rows, ...]
/// errors   ShapeError if `rows` is not a valid number of rows of x for shrink, or out_grad does not have
///          map.step_size(t) rows
/// cost     one write of every row of the result, one read of every row of out_grad
template <class T, device D>
Tensor<T, D> shrink_grad(D const& exec, Tensor<T, D> const& out_grad, StepMap<D> const& map, std::size_t t,
                         std::size_t rows) {
    detail::check_usable(exec, out_grad);
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(map.step_size(t)));
    detail::check_shrink(map, t, rows);
    auto shape = out_grad.shape();
    shape[0] = rows;
    auto x_grad = Tensor<T, D>::zeros(exec, shape);
    std::size_t const width = out_grad.row_size();
    T const* const from = out_grad.data();
    T* const to = x_grad.data();
    if (map.sorted()) {
        std::array<std::int64_t, 2> const starts{0, static_cast<std::int64_t>(map.step_size(t))};
        detail::copy_blocks(
            exec, starts, width * sizeof(T), [=](std::size_t) { return from; }, [=](std::size_t) { return to; });
    } else {
        auto const kept = detail::survivors(map, t, rows);
        detail::OnDevice<std::int64_t, D> const places(exec, kept);
        detail::put_rows(exec, kept.size(), width, from, places.data(), to);
    }
    return x_grad;
}

/// The adjoint of shrink for a LoDTensor: the gradient of the rows of the selected sequences, and zeros for the rows of
/// the others. `x_lod` is the Lod of x.
/// shapes   out_grad of as many rows as the selected sequences -> [rows of x_lod, ...] with x_lod
/// errors   ShapeError if x_lod has no levels or its number of sequences is not valid for shrink, or out_grad has
///          another number of rows
/// cost     one write of every row of the result, one read of every row of out_grad
template <class T, device D>
LoDTensor<T, D> shrink_grad(D const& exec, LoDTensor<T, D> const& out_grad, StepMap<D> const& map, std::size_t t,
                            Lod const& x_lod) {
    detail::check_usable(exec, out_grad.value());
    detail::check_levels("x_lod", x_lod);
    detail::check_shrink(map, t, x_lod.sequences(0));
    auto const kept = map.sorted() ? std::vector<std::int64_t>() : detail::survivors(map, t, x_lod.sequences(0));
    std::size_t const count = map.step_size(t);
    std::vector<std::int64_t> starts{0};
    std::vector<std::int64_t> to_rows(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t begin = map.sorted() ? static_cast<std::int64_t>(i) : kept[i];
        std::int64_t end = begin + 1;
        for (std::size_t l = 0; l < x_lod.levels(); ++l) {
            begin = x_lod[l][static_cast<std::size_t>(begin)];
            end = x_lod[l][static_cast<std::size_t>(end)];
        }
        to_rows[i] = begin;
        starts.push_back(starts.back() + end - begin);
    }
    detail::check_height("out_grad", out_grad.value(), starts.back());
    auto shape = out_grad.shape();
    shape[0] = static_cast<std::size_t>(x_lod.rows());
    auto x_grad = detail::new_tensor<T>(exec, shape);
    detail::spread_blocks(exec, starts, to_rows, x_grad.row_size(), out_grad.value().data(), detail::zero<T>(),
                          shape[0], x_grad.data());
    return {std::move(x_grad), x_lod};
}

template <template <class, class> class X, class T, class Device>  // a Tensor or a LoDTensor
X<T, Device> shrink(X<T, Device> const& x, StepMap<Device> const& map, std::size_t t) {
    return shrink(x.device(), x, map, t);
}
template <class T, class Device>
Tensor<T, Device> shrink_grad(Tensor<T, Device> const& out_grad, StepMap<Device> const& map, std::size_t t,
                              std::size_t rows) {
    return shrink_grad(out_grad.device(), out_grad, map, t, rows);
}
template <class T, class Device>
LoDTensor<T, Device> shrink_grad(LoDTensor<T, Device> const& out_grad, StepMap<Device> const& map, std::size_t t,
                                 Lod const& x_lod) {
    return shrink_grad(out_grad.device(), out_grad, map, t, x_lod);
}

ROWAN_TEMPLATE(Tensor<float> shrink(Cpu const&, Tensor<float> const&, StepMap<Cpu> const&, std::size_t))
ROWAN_TEMPLATE(LoDTensor<float> shrink(Cpu const&, LoDTensor<float> const&, StepMap<Cpu> const&, std::size_t))
ROWAN_TEMPLATE(Tensor<float> shrink_grad(Cpu const&, Tensor<float> const&, StepMap<Cpu> const&, std::size_t,
                                         std::size_t))
ROWAN_TEMPLATE(LoDTensor<float> shrink_grad(Cpu const&, LoDTensor<float> const&, StepMap<Cpu> const&, std::size_t,
                                            Lod const&))
ROWAN_TEMPLATE(Tensor<double> shrink(Cpu const&, Tensor<double> const&, StepMap<Cpu> const&, std::size_t))
ROWAN_TEMPLATE(LoDTensor<double> shrink(Cpu const&, LoDTensor<double> const&, StepMap<Cpu> const&, std::size_t))
ROWAN_TEMPLATE(Tensor<double> shrink_grad(Cpu const&, Tensor<double> const&, StepMap<Cpu> const&, std::size_t,
                                          std::size_t))
ROWAN_TEMPLATE(LoDTensor<double> shrink_grad(Cpu const&, LoDTensor<double> const&, StepMap<Cpu> const&, std::size_t,
                                             Lod const&))

}  // namespace rowan::inline v0
