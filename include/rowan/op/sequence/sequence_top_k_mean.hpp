// rowan/op/sequence/sequence_top_k_mean.hpp: sequence_top_k_mean, the means of the greatest elements of the columns of
// sequences.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/op/detail/greatest.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/functions.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <span>

namespace rowan::inline v0 {

namespace detail {

/// Throws unless there are numbers, all positive. Returns the number of means of a row of `width` elements, or UNK.
constexpr std::int64_t width_of_means(std::int64_t width, std::vector<std::int64_t> const& ks) {
    if (ks.empty()) throw ShapeError("sequence_top_k_mean: ks.size()", "0", "at least 1");
    for (std::size_t q = 0; q < ks.size(); ++q) {
        if (ks[q] < 1) throw ValueError({"sequence_top_k_mean: ks[", q, "]"}, ks[q], "1 or more");
    }
    return spec::times("sequence_top_k_mean: x.row_size()", width, static_cast<std::int64_t>(ks.size()));
}

/// The columns of sequences: number i is column i % width of sequence i / width.
template <class T>
struct ColumnsOfSequences {
    T const* x;
    std::int64_t const* offsets;
    std::int64_t const* kept;  // offsets, too: how many greatest elements the columns of each sequence keep
    std::int64_t* tops;        // for each column, the rows of these elements, in descending order
    std::size_t width;

    ROWAN_HD std::size_t first(std::size_t i) const { return static_cast<std::size_t>(offsets[i / width]); }
    ROWAN_HD std::size_t length(std::size_t i) const {
        return static_cast<std::size_t>(offsets[i / width + 1] - offsets[i / width]);
    }
    ROWAN_HD std::size_t found(std::size_t i) const {
        return static_cast<std::size_t>(kept[i / width + 1] - kept[i / width]);
    }
    ROWAN_HD std::int64_t* top(std::size_t i) const {
        return tops + static_cast<std::size_t>(kept[i / width]) * width + i % width * found(i);
    }
    ROWAN_HD std::size_t place(std::size_t i, std::int64_t row) const {
        return static_cast<std::size_t>(row) * width + i % width;
    }
};

/// Reads the elements of a column as numbers.
template <class T>
struct NumberOfColumn {
    T const* x;
    std::size_t width;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE sum_t<T> operator()(std::int64_t row) const {
        return load<sum_t<T>>(x + static_cast<std::size_t>(row) * width);
    }
};

/// Finds the greatest elements of a column.
template <class T>
struct FindTop {
    ColumnsOfSequences<T> at;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        std::int64_t const* const ends = at.offsets + i / at.width;
        if (at.found(i) != 0)
            Greatest<NumberOfColumn<T>>{{at.x + i % at.width, at.width}, at.top(i), at.found(i)}(ends[0], ends[1]);
    }
};

/// Averages the greatest elements of a column, for each of `count` numbers.
template <class T>
struct MeansOfTop {
    ColumnsOfSequences<T> at;
    std::int64_t const* ks;
    std::size_t count;
    T* out;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        using S = sum_t<T>;
        std::int64_t const* const top = at.top(i);
        std::size_t const found = at.found(i);
        for (std::size_t q = 0; q < count; ++q) {
            auto const sum_times = [&](S const& factor) {
                S sum = constant<S>(0.0);
                for (std::size_t k = 0; k < found && static_cast<std::int64_t>(k) < ks[q]; ++k) {
                    S const more = product(load<S>(at.x + at.place(i, top[k])), factor);
                    sum = k == 0 ? more : plus(sum, more);
                }
                return sum;
            };
            S const mean = mean_of_sum(sum_times(constant<S>(1.0)), static_cast<double>(ks[q]),
                                       [&] { return sum_times(constant<S>(mean_factor<double>)); });
            store(mean, out + (i * count + q));
        }
    }
};

/// Writes the gradients of a column.
template <class T>
struct SpreadMeans {
    ColumnsOfSequences<T> at;
    std::int64_t const* ks;
    std::size_t count;
    T const* g;
    T* to;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        using S = sum_t<T>;
        std::int64_t const* const top = at.top(i);
        std::size_t const begin = at.first(i), end = begin + at.length(i), found = at.found(i);
        for (std::size_t row = begin; row < end; ++row)
            store(constant<S>(0.0), to + at.place(i, static_cast<std::int64_t>(row)));
        for (std::size_t k = 0; k < found; ++k) {
            S sum = constant<S>(0.0);
            for (std::size_t q = 0; q < count; ++q) {
                if (static_cast<std::int64_t>(k) >= ks[q]) continue;
                sum = plus(sum, quotient(load<S>(g + (i * count + q)), constant<S>(static_cast<double>(ks[q]))));
            }
            store(sum, to + at.place(i, top[k]));
        }
    }
};

/// Finds the greatest elements of all columns and calls visit(columns, ks, each), where each(f) calls f(i) for each
/// column.
template <class T, class D, class Visit>
void visit_top(D const& exec, LoDTensor<T, D> const& x, std::vector<std::int64_t> const& ks, Visit const& visit) {
    auto const offsets = last_level(x.lod());
    std::size_t const sequences = offsets.size() - 1, width = x.value().row_size();
    std::size_t const columns = sequences * width;
    if (columns == 0) return;
    std::int64_t const most = *std::ranges::max_element(ks);
    std::vector<std::int64_t> numbers(offsets.begin(), offsets.end());
    numbers.push_back(0);
    for (std::size_t s = 0; s < sequences; ++s)
        numbers.push_back(numbers.back() + std::min(most, offsets[s + 1] - offsets[s]));
    auto tops = new_tensor<std::int64_t>(exec, {static_cast<std::size_t>(numbers.back()), width});
    numbers.insert(numbers.end(), ks.begin(), ks.end());
    OnDevice<std::int64_t, D> const uploaded(exec, numbers);
    std::int64_t const* const kept = uploaded.data() + offsets.size();
    auto const each = [&](auto const& f) { ElementLoops<D>::each(exec, columns, x.shape()[0] / sequences + 1, f); };
    ColumnsOfSequences<T> const at{x.value().data(), uploaded.data(), kept, tops.data(), width};
    each(FindTop<T>{at});
    visit(at, kept + offsets.size(), each);
}

}  // namespace detail

template <>
struct detail::function_of<sequence_top_k_mean_op> {
    template <class T, class D>
    static LoDTensor<T, D> run(D const& exec, LoDTensor<T, D> const& x, SequenceTopKMeanOptions const& options) {
        check_sequences(exec, "x", x);
        std::size_t const width = x.value().row_size(), count = options.ks.size();
        width_of_means(static_cast<std::int64_t>(width), options.ks);
        std::size_t const sequences = last_level(x.lod()).size() - 1;
        auto out = new_tensor<T>(exec, {sequences, width, count});
        visit_top(exec, x, options.ks, [&](auto const& at, std::int64_t const* ks, auto const& each) {
            each(MeansOfTop<T>{at, ks, count, out.data()});
        });
        return {out.reshaped({sequences, width * count}), upper_levels(x.lod())};
    }
};

template <>
struct detail::function_of<detail::backward_of<sequence_top_k_mean_op>> {
    template <class T, class D>
    static LoDTensor<T, D> run(D const& exec, LoDTensor<T, D> const& x,
                               std::type_identity_t<Tensor<T, D>> const& out_grad,
                               SequenceTopKMeanOptions const& options) {
        check_sequences(exec, "x", x);
        check_usable(exec, out_grad);
        auto const width = static_cast<std::int64_t>(x.value().row_size());
        auto const means = static_cast<std::size_t>(width_of_means(width, options.ks));
        check_trailing("out_grad", out_grad, typename Tensor<T, D>::shape_type{0, means});
        check_height("out_grad", out_grad, static_cast<std::int64_t>(last_level(x.lod()).size()) - 1);
        auto x_grad = new_tensor<T>(exec, x.shape());
        visit_top(exec, x, options.ks, [&](auto const& at, std::int64_t const* ks, auto const& each) {
            each(SpreadMeans<T>{at, ks, options.ks.size(), out_grad.data(), x_grad.data()});
        });
        return {std::move(x_grad), x.lod()};
    }
};

/// See sequence_top_k_mean.
struct sequence_top_k_mean_op : detail::declared<sequence_top_k_mean_op> {
    static constexpr bool row_wise = true;
    using grad = gradient<sequence_top_k_mean_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, SequenceTopKMeanOptions const& options) {
        spec::sequences("sequence_top_k_mean: x", x);
        std::int64_t const width = detail::width_of_means(x.dims.product_from(1), options.ks);
        return spec::with_dims(x, {UNK, width}, x.lod_level - 1);
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, SequenceTopKMeanOptions const& options) {
        return sequence_top_k_mean(exec, x, options);
    }

    template <class T, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad,
                                    SequenceTopKMeanOptions const& options) {
        return sequence_top_k_mean_grad(exec, x, out_grad.value(), options);
    }
};

}  // namespace rowan::inline v0
