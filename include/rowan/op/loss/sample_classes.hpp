// rowan/op/loss/sample_classes.hpp: sample_classes_op, negatives for sampled_softmax and nce, drawn when a net runs.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/elementwise/dropout.hpp>
#include <rowan/op/loss/class_sampler.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

/// Draws classes, the rows of w, by sample_classes, and computes the expected counts of the labels and of the classes that
/// were drawn, by expected_counts. Each step of training draws others; elsewhere, without a seed, that of seed 0.
/// shapes   w [classes, ...], label of any shape, seed [1] or [0] -> [samples], that of label, [samples]
/// errors   ValueError if samples is not positive, or above the number of classes that are to be different; IndexError if a
///          label is not in [0, classes)
/// cost     as sample_classes
struct sample_classes_op : detail::declared<sample_classes_op> {
    static constexpr std::array<VarSpec, 3> infer(VarSpec const& w, VarSpec const& label, VarSpec const& seed,
                                                  attributes const& a) {
        spec::table("sample_classes: w", w);
        spec::dense("sample_classes: label", label);
        spec::ids("sample_classes: label", label);
        detail::check_seed("sample_classes: seed", seed);
        if (a.samples < 1 || (a.unique && w.dims[0] != UNK && a.samples > w.dims[0]))
            throw ValueError("samples", a.samples,
                             "at least 1, and at most the number of classes if they are to be different");
        VarSpec count = w;
        count.type = VarType::LOD_TENSOR;
        VarSpec ids = spec::with_dims(label, {a.samples});
        ids.dtype = dtype<std::int64_t>::wire;
        return {ids, spec::with_dims(count, label.dims, label.lod_level), spec::with_dims(count, {a.samples})};
    }

    template <class T, id_type I>
    static std::tuple<Tensor<std::int64_t>, Tensor<T>, Tensor<T>> run(Cpu, Tensor<T> const& w, Tensor<I> const& label,
                                                                      Tensor<std::int64_t> const& seed,
                                                                      attributes const& a) {
        auto const classes = detail::height_of(w);
        auto const sampler =
            a.sampling == Sampling::uniform ? ClassSampler::uniform(classes) : ClassSampler::log_uniform(classes);
        auto drawn = rowan::sample_classes(sampler, a.samples,
                                           detail::has_seed(seed) ? static_cast<std::uint64_t>(seed(0)) : 0, a.unique);
        auto [of_label, of_drawn] = expected_counts<T>(sampler, drawn, label);
        return {std::move(drawn.ids), std::move(of_label), std::move(of_drawn)};
    }
};

}  // namespace rowan::inline v0
