// rowan/op/detail/sampled_scores.hpp: SampledScores, the scores of labels and of a few sampled classes, and their gradients.
#pragma once

#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/detail/vector_pairs.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/selected_rows.hpp>

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

/// Score k of n rows: first those of the labels, then those of the samples.
template <class T, class I, class J>
struct SampledScore {
    SampledSizes of;
    ScoreOptions options;
    T const *x, *label_rows, *rows;
    T const* products;  // [n, samples], unless `each`
    T const *label_bias, *bias;
    I const* label;
    J const* ids;
    T const *label_count, *count;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t k) const {
        using S = sum_t<T>;
        std::size_t const columns = of.labels + of.samples, i = k / columns, c = k % columns;
        T const* const row = x + i * of.width;
        if (c < of.labels) {
            std::size_t const at = i * of.labels + c;
            S const score = plus(dot_of_pair(of.width, row, label_rows + at * of.width), load<S>(label_bias + at));
            return store(corrected(score, label_count + at), to + k);
        }
        std::size_t const j = c - of.labels, at = of.each ? i * of.samples + j : j;
        S const dot =
            of.each ? dot_of_pair(of.width, row, rows + at * of.width) : load<S>(products + i * of.samples + j);
        S score = corrected(plus(dot, load<S>(bias + at)), count + at);
        for (std::size_t l = 0; l < of.labels && options.remove_hits; ++l) {
            if (std::int64_t{label[i * of.labels + l]} == std::int64_t{ids[at]})
                score = constant<S>(-static_cast<double>(std::numeric_limits<float>::max()));
        }
        store(score, to + k);
    }

    ROWAN_KERNEL sum_t<T> corrected(sum_t<T> const& score, T const* expected) const {
        return options.subtract_log_counts ? sum_t<T>(score - logarithm(load<sum_t<T>>(expected))) : score;
    }
};

/// Element k of the rows of the gradient of the table: of n · labels rows, then of the samples.
template <class T>
struct SampledRowGrad {
    SampledSizes of;
    T const *x, *grad;
    T const* products;  // [samples, width], unless `each`
    T* to;

    ROWAN_KERNEL void operator()(std::size_t k) const {
        using S = sum_t<T>;
        std::size_t const row = k / of.width, column = k % of.width, columns = of.labels + of.samples;
        std::size_t const first = of.n * of.labels;
        if (row >= first && !of.each) {
            to[k] = products[k - first * of.width];
            return;
        }
        std::size_t const per = row < first ? of.labels : of.samples, at = row < first ? row : row - first;
        std::size_t const i = at / per, c = (row < first ? 0 : of.labels) + at % per;
        store(product(load<S>(grad + i * columns + c), load<S>(x + i * of.width + column)), to + k);
    }
};

/// Element k of the gradient of the biases, in the same order.
template <class T>
struct SampledBiasGrad {
    SampledSizes of;
    T const* grad;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t k) const {
        using S = sum_t<T>;
        std::size_t const first = of.n * of.labels, columns = of.labels + of.samples;
        if (k < first) {
            to[k] = grad[k / of.labels * columns + k % of.labels];
        } else if (of.each) {
            to[k] = grad[(k - first) / of.samples * columns + of.labels + (k - first) % of.samples];
        } else {
            S sum = constant<S>(0.0);
            for (std::size_t i = 0; i < of.n; ++i)
                sum = plus(sum, load<S>(grad + i * columns + of.labels + (k - first)));
            store(sum, to + k);
        }
    }
};

/// Element k of the gradient of x, to which the products with the samples have been written unless `each`.
template <class T>
struct SampledInputGrad {
    SampledSizes of;
    T const *grad, *label_rows, *rows;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t k) const {
        using S = sum_t<T>;
        std::size_t const i = k / of.width, column = k % of.width;
        T const* const from = grad + i * (of.labels + of.samples);
        S sum = of.each ? constant<S>(0.0) : load<S>(to + k);
        for (std::size_t c = 0; c < of.labels; ++c)
            sum = plus(sum, product(load<S>(from + c), load<S>(label_rows + (i * of.labels + c) * of.width + column)));
        for (std::size_t j = 0; j < of.samples && of.each; ++j)
            sum = plus(
                sum, product(load<S>(from + of.labels + j), load<S>(rows + (i * of.samples + j) * of.width + column)));
        store(sum, to + k);
    }
};

/// Copies the columns of samples.
template <class T>
struct SampledColumns {
    SampledSizes of;
    T const* grad;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t k) const {
        to[k] = grad[k / of.samples * (of.labels + of.samples) + of.labels + k % of.samples];
    }
};

/// The labels, then the samples.
template <class I, class J>
struct SampledIds {
    I const* label;
    J const* ids;
    std::size_t first;
    std::int64_t* to;
    ROWAN_KERNEL void operator()(std::size_t k) const {
        to[k] = k < first ? std::int64_t{label[k]} : std::int64_t{ids[k - first]};
    }
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
constexpr std::array<VarSpec, 3> infer_sampled_gradients(VarSpec const& x, VarSpec const& w, VarSpec const& b) {
    auto const rows = [](VarSpec const& table) {
        return VarSpec{.type = VarType::SELECTED_ROWS, .dtype = table.dtype, .dims = table.dims, .lod_level = 0};
    };
    return {x, rows(w), rows(b)};
}

/// The rows of a table for labels and for sampled classes.
template <class T, class I, class J, class D>
class SampledScores {
    using Loops = ElementLoops<D>;

public:
    /// errors   ShapeError if shapes do not match; IndexError if a label or an id is not in [0, classes)
    SampledScores(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& w, Tensor<T, D> const& b,
                  Tensor<I, D> const& label, Tensor<J, D> const& ids)
        : exec_(exec), of(sizes(x, w, b, label, ids)), x_(x), label_(label), ids_(ids) {
        static_assert(floating_element<T>, "rowan: losses need x of a floating-point type: convert it");
        Loops::check(exec, x, w, b, label, ids);
        Loops::check_ids(exec, "label", label, height_of(w));
        Loops::check_ids(exec, "ids", ids, height_of(w));
        height_ = height_of(w);
        label_rows_ = gather(exec, w, label.reshaped({label.size()}));
        rows_ = gather(exec, w, ids.reshaped({ids.size()}));
        label_bias_ = gather(exec, b, label.reshaped({label.size()}));
        bias_ = gather(exec, b, ids.reshaped({ids.size()}));
    }

    /// shapes   [n, labels + samples]
    Tensor<T, D> scores(Tensor<T, D> const& label_count, Tensor<T, D> const& count, ScoreOptions const& options) const {
        check_same_shape("label_count", label_count, label_);
        check_same_shape("sampled_count", count, ids_);
        Loops::check(exec_, label_count, count);
        auto const products = of.each ? Tensor<T, D>() : matmul(exec_, x_, rows_, false, true);
        auto out = new_tensor<T>(exec_, {of.n, of.columns()});
        SampledScore<T, I, J> const score{of,
                                          options,
                                          x_.data(),
                                          label_rows_.data(),
                                          rows_.data(),
                                          products.data(),
                                          label_bias_.data(),
                                          bias_.data(),
                                          label_.data(),
                                          ids_.data(),
                                          label_count.data(),
                                          count.data(),
                                          out.data()};
        Loops::each(exec_, out.size(), of.width / 4 + 1, score);
        return out;
    }

    /// The gradients of x, w and b, given that of the scores.
    std::tuple<Tensor<T, D>, SelectedRows<T, D>, SelectedRows<T, D>> gradients(Tensor<T, D> const& grad) const {
        std::size_t const first = of.n * of.labels, rows = first + of.sampled();
        auto x_grad = new_tensor<T>(exec_, {of.n, of.width});
        Tensor<T, D> products;
        if (!of.each) {
            auto columns = new_tensor<T>(exec_, {of.n, of.samples});
            Loops::each(exec_, columns.size(), 1, SampledColumns<T>{of, grad.data(), columns.data()});
            x_grad = matmul(exec_, columns, rows_);
            products = matmul(exec_, columns, x_, true);
        }
        SampledInputGrad<T> const of_x{of, grad.data(), label_rows_.data(), rows_.data(), x_grad.data()};
        Loops::each(exec_, x_grad.size(), of.labels + (of.each ? of.samples : 0), of_x);
        auto value = new_tensor<T>(exec_, {rows, of.width});
        Loops::each(exec_, value.size(), 1,
                    SampledRowGrad<T>{of, x_.data(), grad.data(), products.data(), value.data()});
        auto bias = new_tensor<T>(exec_, {rows});
        Loops::each(exec_, rows, of.each ? 1 : of.n, SampledBiasGrad<T>{of, grad.data(), bias.data()});
        auto all = new_tensor<std::int64_t>(exec_, {rows});
        Loops::each(exec_, rows, 1, SampledIds<I, J>{label_.data(), ids_.data(), first, all.data()});
        return {std::move(x_grad), lookup_table_grad(exec_, all, std::move(value), height_),
                lookup_table_grad(exec_, all, std::move(bias), height_)};
    }

private:
    static SampledSizes sizes(Tensor<T, D> const& x, Tensor<T, D> const& w, Tensor<T, D> const& b,
                              Tensor<I, D> const& label, Tensor<J, D> const& ids) {
        check_rank("x", x, 2);
        check_rank("w", w, 2);
        std::size_t const n = x.shape(0), width = x.shape(1);
        auto const refuse = [](char const* field, auto const& tensor, std::string const& wanted) {
            throw ShapeError(std::string(field) + ".shape()", shape_text(tensor.shape()), wanted);
        };
        if (w.shape(1) != width) refuse("w", w, "[any, " + std::to_string(width) + "], the width of x");
        if (b.dimension() != 1 || b.shape(0) != w.shape(0))
            refuse("b", b, "[" + std::to_string(w.shape(0)) + "], the classes of w");
        if (label.dimension() < 1 || label.dimension() > 2 || label.shape(0) != n || label.size() == 0)
            if (n != 0)
                refuse("label", label,
                       "[" + std::to_string(n) + "] or [" + std::to_string(n) + ", at least 1], the rows of x");
        if (ids.dimension() < 1 || ids.dimension() > 2 || (ids.dimension() == 2 && ids.shape(0) != n))
            refuse("ids", ids, "[samples] or [" + std::to_string(n) + ", samples], the rows of x");
        return {n, width, label.dimension() == 2 ? label.shape(1) : 1, ids.shape(ids.dimension() - 1),
                ids.dimension() == 2};
    }

    D exec_;

public:
    SampledSizes const of;

private:
    Tensor<T, D> const& x_;
    Tensor<I, D> const& label_;
    Tensor<J, D> const& ids_;
    std::int64_t height_ = 0;
    Tensor<T, D> label_rows_, rows_, label_bias_, bias_;
};

}  // namespace rowan::inline v0::detail
