// rowan/op/detail/kept_labels.hpp: labels of which some are ignored.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/detail/reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0::detail {

/// to = 0 and kept = 0 where the label is ignored, else the label and 1.
template <class I>
struct KeepLabel {
    I const* label;
    std::int64_t ignored;
    I* to;
    double* kept;

    ROWAN_HD void operator()(std::size_t row) const {
        bool const keep = static_cast<std::int64_t>(label[row]) != ignored;
        to[row] = keep ? label[row] : I{0};
        kept[row] = keep ? 1 : 0;
    }
};

/// The labels with 0 in place of ignored ones, and for each 1 if it is kept, else 0; behind these their sum.
template <class I, class D>
struct KeptLabels {
    using Loops = ElementLoops<D>;
    Tensor<I, D> label;
    decltype(Loops::template scratch<double>(std::declval<D const&>(), 0)) kept;

    KeptLabels(D const& exec, Tensor<I, D> const& given, std::int64_t ignored)
        : label((Loops::check(exec, given), new_tensor<I>(exec, given.shape()))),
          kept(Loops::template scratch<double>(exec, given.size() + 1)) {
        Loops::each(exec, given.size(), 1, KeepLabel<I>{given.data(), ignored, label.data(), kept.data()});
        Totals<D>::template of_losses<double>(exec, given.size(), kept.data(), false, kept.data() + given.size());
    }
};

}  // namespace rowan::inline v0::detail
