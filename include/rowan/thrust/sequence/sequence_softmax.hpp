// rowan/thrust/sequence/sequence_softmax.hpp: sequence_softmax on a device.
#pragma once

#include <rowan/sequence/sequence_softmax.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/sequence/sequence_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// Maps element k of a batch to an index in [sequences, width]: its sequence and column.
struct SequenceElement {
    std::int64_t const* offsets;
    std::size_t sequences;
    FastDivmod width;

    ROWAN_HD std::size_t column_of(std::size_t k) const {
        std::size_t const row = width.quotient(k);
        return find_block(offsets, sequences, row) * width.by + k - row * width.by;
    }
};

/// to[k] = formula(from[k], the total of its column)
template <class Formula, class S, class From, class To>
struct WithTotal {
    SequenceElement at;
    From const* from;
    S const* totals;
    To* to;
    ROWAN_HD void operator()(std::size_t k) const {
        store(Formula{}(load<S>(from + k), totals[at.column_of(k)]), to + k);
    }
};

template <class T>
struct SoftmaxGrad {
    using S = sum_t<T>;

    SequenceElement at;
    T const* out;
    T const* out_grad;
    S const* dot;
    T* to;
    ROWAN_HD void operator()(std::size_t k) const {
        store(softmax_slope{}(load<S>(out + k), load<S>(out_grad + k), dot[at.column_of(k)]), to + k);
    }
};

/// cost     temporary memory for all of x in the type of sums, more than on the host
template <class System>
struct SequenceSoftmax<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void run(Exec const& exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T* out) {
        using S = sum_t<T>;
        std::size_t const size = static_cast<std::size_t>(offsets.back()) * width;
        if (size == 0) return;
        OnDevice<std::int64_t, Exec> const begins(exec, offsets);
        OnDevice<S, Exec> const totals(exec, (offsets.size() - 1) * width), computed(exec, size);
        SequenceElement const at{begins.data(), offsets.size() - 1, FastDivmod(width)};
        auto const tree = sequence_sums(offsets);
        tree.template run_chunks<1>(exec, width, ExtremeRows<true, T>{rows, width},
                                    StoreExtreme<S>{totals.data(), width, S{}});
        launch(exec, size, WithTotal<shifted_exp, S, T, S>{at, rows, totals.data(), computed.data()});
        add_up<T>(exec, tree, width, computed.data(), totals.data());
        launch(exec, size, WithTotal<divided, S, S, T>{at, computed.data(), totals.data(), out});
    }

    template <class T>
    static void grad(Exec const& exec, std::span<std::int64_t const> offsets, std::size_t width, T const* out,
                     T const* out_grad, T* x_grad) {
        using S = sum_t<T>;
        std::size_t const size = static_cast<std::size_t>(offsets.back()) * width;
        if (size == 0) return;
        OnDevice<std::int64_t, Exec> const begins(exec, offsets);
        OnDevice<S, Exec> const totals(exec, (offsets.size() - 1) * width), computed(exec, size);
        ElementLoops<Exec>::template zip<S>(exec, size, multiplied{}, computed.data(), out, out_grad);
        add_up<T>(exec, sequence_sums(offsets), width, computed.data(), totals.data());
        launch(exec, size,
               SoftmaxGrad<T>{
                   {begins.data(), offsets.size() - 1, FastDivmod(width)}, out, out_grad, totals.data(), x_grad});
    }

private:
    /// Sums computed rows.
    template <class T, class S>
    static void add_up(Exec const& exec, SumTree const& tree, std::size_t width, S const* rows, S* totals) {
        tree.run(exec, width, PartialRows<AddRows<T>>{{}, rows, width}, StoreTotal<S>{totals, width, S{}},
                 in_chunks(width, rows, static_cast<S const*>(totals)));
    }
};

}  // namespace rowan::inline v0::detail
