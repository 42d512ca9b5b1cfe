// rowan/op/reduce/argsort.hpp: argsort, the positions along an axis in the order of their elements.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/reduce/functions.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Sorts the positions of lanes along an axis, in runs that become longer. Those of lane k are from[k · n + i].
template <class T>
struct SortRuns {
    using S = sum_t<T>;
    static constexpr std::size_t shortest = 16;

    T const* x;
    std::int64_t const* from;
    std::int64_t* to;
    std::size_t n, inner, run, runs;  // `runs` runs of each lane, of `run` positions, are written
    bool descending;

    /// Makes a run of two sorted ones, or of unsorted positions if it is a shortest one.
    ROWAN_KERNEL void operator()(std::size_t k) const {
        std::size_t const lane = k / runs, begin = (k - lane * runs) * run, end = n - begin < run ? n : begin + run;
        T const* const first = x + (lane / inner * n * inner + lane % inner);
        auto const key = [&](std::int64_t i) { return load<S>(first + static_cast<std::size_t>(i) * inner); };
        std::int64_t* const out = to + lane * n;
        if (run == shortest) {
            for (std::size_t i = begin; i < end; ++i) {
                S const now = key(static_cast<std::int64_t>(i));
                std::size_t place = i;
                for (; place > begin && precedes(now, key(out[place - 1])); --place) out[place] = out[place - 1];
                out[place] = static_cast<std::int64_t>(i);
            }
            return;
        }
        std::int64_t const* const in = from + lane * n;
        std::size_t const middle = n - begin < run / 2 ? n : begin + run / 2;
        std::int64_t const *left = in + begin, *right = in + middle;
        std::int64_t const *const left_end = right, *const right_end = in + end;
        std::size_t i = begin;
        if (left != left_end && right != right_end) {
            for (S a = key(*left), b = key(*right);; ++i) {  // of equal elements, that of the left run comes first
                bool const is_right = precedes(b, a);
                out[i] = is_right ? *right : *left;
                right += is_right ? 1 : 0;
                left += is_right ? 0 : 1;
                if (left == left_end || right == right_end) break;
                (is_right ? b : a) = key(is_right ? *right : *left);
            }
            ++i;
        }
        for (; left != left_end; ++left) out[i++] = *left;
        for (; right != right_end; ++right) out[i++] = *right;
    }

private:
    /// NaN is the greatest.
    ROWAN_KERNEL bool precedes(S const& a, S const& b) const {
        more_extreme<true> const more;
        return descending ? more(a, b) : more(b, a);
    }
};

/// Writes the positions of lanes to where their elements are.
struct PlaceLanes {
    std::int64_t const* from;
    std::int64_t* to;
    std::size_t n, inner;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const outer = k / (n * inner), rest = k - outer * n * inner;
        to[k] = from[(outer * inner + rest % inner) * n + rest / inner];
    }
};

}  // namespace detail

template <>
struct detail::function_of<argsort_op> {
    template <class T, class D>
    static Tensor<std::int64_t, D> run(D const& exec, Tensor<T, D> const& x, ArgsortOptions const& options) {
        using Sort = SortRuns<T>;
        using Loops = ElementLoops<D>;
        Loops::check(exec, x);
        std::size_t const axis = checked_axis(options.axis, x.dimension());
        auto out = new_tensor<std::int64_t>(exec, x.shape());
        if (x.size() == 0) return out;
        std::size_t const n = x.shape(axis), inner = product_from(x.shape(), axis + 1), lanes = x.size() / n;
        bool const more = n > Sort::shortest;
        auto first = Loops::template scratch<std::int64_t>(exec, inner == 1 ? 0 : x.size());
        auto second = Loops::template scratch<std::int64_t>(exec, more ? x.size() : 0);
        std::int64_t *to = inner == 1 ? out.data() : first.data(), *from = second.data();
        for (std::size_t run = Sort::shortest;; run *= 2) {
            std::size_t const runs = (n - 1) / run + 1;
            Loops::each(exec, lanes * runs, n < run ? n : run,
                        Sort{x.data(), from, to, n, inner, run, runs, options.descending});
            if (runs == 1) break;
            std::swap(from, to);
        }
        if (to != out.data()) Loops::each(exec, x.size(), 1, PlaceLanes{to, out.data(), n, inner});
        return out;
    }
};

/// See argsort.
struct argsort_op : detail::declared<argsort_op> {
    static constexpr ArgsortOptions normal(VarSpec const& x, ArgsortOptions const& options) {
        return detail::axes_from_first(x.dims.size(), options);
    }

    static constexpr bool row_wise(ArgsortOptions const& options) { return options.axis > 0; }

    static constexpr VarSpec infer(VarSpec const& x, ArgsortOptions const& options = {}) {
        VarSpec out = spec::elementwise("argsort: x", x);
        detail::checked_axis(options.axis, x.dims.size());
        out.dtype = rowan::dtype<std::int64_t>::wire;
        return out;
    }

    template <class T, class D>
    static Tensor<std::int64_t, D> run(D exec, Tensor<T, D> const& x, ArgsortOptions const& options = {}) {
        return argsort(exec, x, options);
    }
};

}  // namespace rowan::inline v0
