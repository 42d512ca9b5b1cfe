// rowan/op/detail/sampled_scores.hpp: SampledScores, the scores of labels and of a few sampled classes, and their gradients.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/matmul.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/detail/vector_pairs.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace rowan::inline v0::detail {

/// n rows of x with `labels` classes each, and `samples` other classes: the same for all rows, or for `each` its own.
struct SampledSizes {
    std::size_t n, width, labels, samples;
    bool each;

    std::size_t columns() const { return labels + samples; }
    std::size_t sampled() const { return each ? n * samples : samples; }  ///< rows of the table
};

/// How scores are changed: by the logarithms of expected counts, and to almost -infinity where a sampled class is a label.
struct ScoreOptions {
    bool subtract_log_counts, remove_hits;
};

/// (x + b) - l
struct shifted_score {
    ROWAN_FORMULA V operator()(V const& x, V const& b, V const& l) const { return (x + b) - l; }
};
/// factor · x, and to + factor · x
template <class S>
struct scaled_row {
    S factor;
    ROWAN_FORMULA V operator()(V const& x) const { return product(V(factor), x); }
};
template <class S>
struct add_scaled_row {
    S factor;
    ROWAN_FORMULA void operator()(V const& x, V& to) const { to = to + product(V(factor), x); }
};

/// The specs of a loss of n rows, of its result for each score, and of the gradients.
constexpr std::array<VarSpec, 2> infer_sampled(VarSpec const& x, VarSpec const& w, VarSpec const& b,
                                               VarSpec const& label, VarSpec const& ids, VarSpec const& label_count,
                                               VarSpec const& count, Reduction reduction) {
    spec::matrix("x", x);
    spec::matrix("w", w);
    spec::same_dtype("w", w, x);
    spec::same_dim("w", 1, w.dims[1], x.dims[1]);
    spec::dense("b", b);
    spec::rank("b", b, 1, "1");
    spec::same_dtype("b", b, x);
    spec::same_dim("b", 0, b.dims[0], w.dims[0]);
    for (auto const& [field, list] : {std::pair{"label", &label}, std::pair{"ids", &ids}}) {
        spec::dense(field, *list);
        spec::ids(field, *list);
        if (list->dims.size() != 1) spec::rank(field, *list, 2, "1 or 2");
    }
    spec::same_dim("label", 0, label.dims[0], x.dims[0]);
    if (ids.dims.size() == 2) spec::same_dim("ids", 0, ids.dims[0], x.dims[0]);
    for (auto const& [field, counts, list] :
         {std::tuple{"label_count", &label_count, &label}, std::tuple{"sampled_count", &count, &ids}}) {
        spec::dense(field, *counts);
        spec::same_dtype(field, *counts, x);
        static_cast<void>(spec::same_dims(field, *counts, *list));
    }
    std::int64_t const labels = label.dims.size() == 2 ? label.dims[1] : 1;
    std::int64_t const columns = spec::plus("ids", ids.dims.size() - 1, ids.dims[ids.dims.size() - 1], labels);
    return {spec::with_dims(x, reduced_dims(reduction, x.dims[0])), spec::with_dims(x, {x.dims[0], columns})};
}

/// What the operators of losses of sampled classes share: all but their options, run and backward.
template <class Self>
struct sampled_op : declared<Self> {
    using Options = typename declared<Self>::attributes;
    static constexpr std::array<SlotLookup, 4> lookups{{{1, 3}, {1, 4}, {2, 3}, {2, 4}}};
    using grad =
        gradient<Self, uses<slot::x, slot::w, slot::b, slot::label, slot::drawn, slot::saved, grad_of<slot::out>>,
                 makes<grad_of<slot::x>, grad_of<slot::w>, grad_of<slot::b>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& w, VarSpec const& b,
                                                  VarSpec const& label, VarSpec const& ids, VarSpec const& label_count,
                                                  VarSpec const& sampled_count, Options const& a) {
        return infer_sampled(x, w, b, label, ids, label_count, sampled_count, a.reduction);
    }
    static constexpr std::array<VarSpec, 3> infer_backward(VarSpec const& x, VarSpec const& w, VarSpec const& b,
                                                           VarSpec const&, VarSpec const&, VarSpec const&,
                                                           VarSpec const&, Options const&) {
        auto const rows = [](VarSpec const& table) {
            return VarSpec{.type = VarType::SELECTED_ROWS, .dtype = table.dtype, .dims = table.dims, .lod_level = 0};
        };
        return {x, rows(w), rows(b)};
    }
};

/// The rows of a table for labels and for sampled classes.
template <class T>
class SampledScores {
    using S = sum_t<T>;

public:
    /// errors   ShapeError if shapes do not match; IndexError if a label or an id is not in [0, classes)
    SampledScores(Cpu exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b, Tensor<std::int64_t> label,
                  Tensor<std::int64_t> ids)
        : exec_(exec), of(sizes(x, w, b, label, ids)), x_(x), label_(std::move(label)), ids_(std::move(ids)),
          height_(height_of(w)) {
        static_assert(floating_element<T>, "rowan: losses need x of a floating-point type: convert it");
        check_ids(exec, "label", label_, height_);
        check_ids(exec, "ids", ids_, height_);
        auto const labels = label_.reshaped({label_.size()}), samples = ids_.reshaped({ids_.size()});
        label_rows_ = gather(exec, w, labels);
        rows_ = gather(exec, w, samples);
        label_bias_ = gather(exec, b, labels);
        bias_ = gather(exec, b, samples);
    }

    /// shapes   [n, labels + samples]
    Tensor<T> scores(Tensor<T> const& label_count, Tensor<T> const& count, ScoreOptions const& options) const {
        check_same_shape("label_count", label_count, label_);
        check_same_shape("sampled_count", count, ids_);
        auto const label_log = logarithms(label_count, options), log = logarithms(count, options);
        auto const products = of.each ? Tensor<T>() : matmul(exec_, x_, rows_, false, true);
        auto out = Tensor<T>::from_shape({of.n, of.columns()});
        for_ranges(exec_, of.n, of.columns() * 4 + of.width, [&](std::size_t begin, std::size_t end) {
            Buffer<S> dots(of.samples);
            for (std::size_t i = begin; i < end; ++i) {
                T* const to = out.data() + i * of.columns();
                T const* const row = x_.data() + i * of.width;
                auto const dot = [&](Tensor<T> const& of_rows, std::size_t at) {
                    return dot_of_pair(of.width, row, of_rows.data() + at * of.width);
                };
                for (std::size_t c = 0; c < of.labels; ++c) {
                    std::size_t const at = i * of.labels + c;
                    store(shifted_score{}(dot(label_rows_, at), load<S>(label_bias_.data() + at), label_log[at]),
                          to + c);
                }
                std::size_t const first = of.each ? i * of.samples : 0;
                for (std::size_t j = 0; j < of.samples && of.each; ++j) dots[j] = dot(rows_, first + j);
                auto const shift = [&](auto const* scores) {
                    zip_lanes<S>(shifted_score{}, of.samples, to + of.labels, scores, bias_.data() + first,
                                 static_cast<S const*>(log.data()) + first);
                };
                of.each ? shift(static_cast<S const*>(dots.data())) : shift(products.data() + i * of.samples);
                if (options.remove_hits) remove_hits(i, first, to + of.labels);
            }
        });
        return out;
    }

    /// errors   ShapeError if `saved` does not have the shape of the scores
    void check_saved(Tensor<T> const& saved) const {
        if (saved.dimension() != 2 || saved.shape(0) != of.n || saved.shape(1) != of.columns())
            throw ShapeError("saved.shape()", shape_text(saved.shape()), {"[", of.n, ", ", of.columns(), "]"});
    }

    /// The gradients of x, w and b, given that of the scores.
    std::tuple<Tensor<T>, SelectedRows<T>, SelectedRows<T>> gradients(Tensor<T> const& grad) const {
        std::size_t const first = of.n * of.labels, rows = first + of.sampled();
        auto x_grad = of.each ? Tensor<T>::zeros({of.n, of.width}) : Tensor<T>::from_shape({of.n, of.width});
        auto value = Tensor<T>::from_shape({rows, of.width}), bias = Tensor<T>::from_shape({rows});
        auto all = Tensor<std::int64_t>::from_shape({rows});
        if (!of.each) {
            T const* const columns = grad.data() + of.labels;  // of the samples, in each row of grad
            multiply<T>(exec_, of.n, of.width, of.samples, {columns, of.columns()}, {rows_.data(), of.width},
                        x_grad.data(), false);
            multiply<T>(exec_, of.samples, of.width, of.n, {columns, of.columns(), true}, {x_.data(), of.width},
                        value.data() + first * of.width, false);
            sum_columns(columns, bias.data() + first);
        }
        for_ranges(exec_, of.n, of.columns() * of.width, [&](std::size_t begin, std::size_t end) {
            Buffer<S> sums(of.width);
            for (std::size_t i = begin; i < end; ++i) {
                T const *const g = grad.data() + i * of.columns(), *const x = x_.data() + i * of.width;
                map_lanes<S>(same_number{}, of.width, x_grad.data() + i * of.width, sums.data());
                auto const add = [&](std::size_t c, T const* row, std::size_t at) {
                    S const factor = load<S>(g + c);
                    for_lanes<S>(add_scaled_row<S>{factor}, of.width, row, sums.data());
                    map_lanes<S>(scaled_row<S>{factor}, of.width, x, value.data() + at * of.width);
                    bias.data()[at] = g[c];
                };
                for (std::size_t c = 0; c < of.labels; ++c)
                    add(c, label_rows_.data() + (i * of.labels + c) * of.width, i * of.labels + c);
                for (std::size_t j = 0; j < of.samples && of.each; ++j)
                    add(of.labels + j, rows_.data() + (i * of.samples + j) * of.width, first + i * of.samples + j);
                map_lanes<S>(same_number{}, of.width, static_cast<S const*>(sums.data()), x_grad.data() + i * of.width);
            }
        });
        std::copy_n(label_.data(), first, all.data());
        std::copy_n(ids_.data(), of.sampled(), all.data() + first);
        return {std::move(x_grad), lookup_table_grad(exec_, all, std::move(value), height_),
                lookup_table_grad(exec_, all, std::move(bias), height_)};
    }

private:
    static SampledSizes sizes(Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b,
                              Tensor<std::int64_t> const& label, Tensor<std::int64_t> const& ids) {
        check_rank("x", x, 2);
        check_rank("w", w, 2);
        std::size_t const n = x.shape(0), width = x.shape(1);
        auto const refuse = [](char const* field, auto const& tensor, std::string const& wanted) {
            throw ShapeError({field, ".shape()"}, shape_text(tensor.shape()), wanted);
        };
        std::string const of_rows = std::to_string(n);
        if (w.shape(1) != width) refuse("w", w, "[any, " + std::to_string(width) + "], the width of x");
        if (b.dimension() != 1 || b.shape(0) != w.shape(0))
            refuse("b", b, "[" + std::to_string(w.shape(0)) + "], the classes of w");
        if (label.dimension() < 1 || label.dimension() > 2 || label.shape(0) != n || (n != 0 && label.size() == 0))
            refuse("label", label, "[" + of_rows + "] or [" + of_rows + ", at least 1], the rows of x");
        if (ids.dimension() < 1 || ids.dimension() > 2 || (ids.dimension() == 2 && ids.shape(0) != n))
            refuse("ids", ids, "[samples] or [" + of_rows + ", samples], the rows of x");
        return {n, width, label.dimension() == 2 ? label.shape(1) : 1, ids.shape(ids.dimension() - 1),
                ids.dimension() == 2};
    }

    /// The logarithms of counts, or zeros.
    static Buffer<S> logarithms(Tensor<T> const& counts, ScoreOptions const& options) {
        Buffer<S> logs(counts.size(), constant<S>(0.0));
        for (std::size_t k = 0; k < logs.size() && options.subtract_log_counts; ++k)
            logs[k] = logarithm(load<S>(counts.data() + k));
        return logs;
    }

    void remove_hits(std::size_t i, std::size_t first, T* scores) const {
        T const least = dtype<T>::narrow(constant<S>(-static_cast<double>(std::numeric_limits<float>::max())));
        for (std::size_t c = 0; c < of.labels; ++c) {
            std::int64_t const label = label_.data()[i * of.labels + c];
            for (std::size_t j = 0; j < of.samples; ++j)
                if (ids_.data()[first + j] == label) scores[j] = least;
        }
    }

    /// to[j]: the sum of column j of the samples, from the first row on.
    void sum_columns(T const* columns, T* to) const {
        constexpr std::size_t block = 16;
        for_ranges(exec_, (of.samples + block - 1) / block, of.n * block, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                std::size_t const column = k * block, count = std::min(block, of.samples - column);
                std::array<S, block> sums;
                sums.fill(constant<S>(0.0));
                for (std::size_t i = 0; i < of.n; ++i)
                    for_lanes<S>(add_lanes{}, count, columns + i * of.columns() + column, sums.data());
                for (std::size_t c = 0; c < count; ++c) store(sums[c], to + column + c);
            }
        });
    }

    Cpu exec_;

public:
    SampledSizes const of;

private:
    Tensor<T> const& x_;
    Tensor<std::int64_t> label_, ids_;
    std::int64_t height_;
    Tensor<T> label_rows_, rows_, label_bias_, bias_;
};

}  // namespace rowan::inline v0::detail
