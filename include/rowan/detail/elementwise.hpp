// rowan/detail/elementwise.hpp: loops that apply a formula to all elements of tensors of one shape.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/fill.hpp>
#include <rowan/core/detail/number_range.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/on_device.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Elements per range of a parallel loop.
inline constexpr std::size_t elementwise_grain = std::size_t{1} << 16;

template <class T, class U, class D>
void check_same_shape(char const* field, Tensor<T, D> const& x, Tensor<U, D> const& like) {
    if (x.shape() != like.shape())
        throw ShapeError({field, ".shape()"}, shape_text(x.shape()), shape_text(like.shape()));
}

template <class T, class D>
void check_rank(char const* field, Tensor<T, D> const& x, std::size_t rank) {
    if (x.dimension() == rank) return;
    throw ShapeError({field, " rank"}, x.dimension(), rank);
}

/// Calls f(begin, end) on disjoint ranges that cover [0, rows), in parallel if rows * width elements are enough work.
template <class F>
void for_ranges(Cpu exec, std::size_t rows, std::size_t width, F const& f) {
    parallel_work(exec, rows * width, rows, (elementwise_grain - 1) / std::max<std::size_t>(width, 1) + 1, f);
}

/// The first i of [0, n) for which fits(i) is false, or n.
template <class Fits>
std::size_t first_misfit(Cpu exec, std::size_t n, Fits const& fits) {
    std::atomic<bool> good{true};
    for_ranges(exec, n, 1, [&](std::size_t begin, std::size_t end) {
        bool all = true;
        for (std::size_t i = begin; i < end; ++i) all = all && fits(i);
        if (!all) good = false;
    });
    std::size_t i = good ? n : 0;
    while (i < n && fits(i)) ++i;
    return i;
}

/// A function without arguments that returns a value.
template <class S>
struct GivenValue {
    S value;
    ROWAN_HD S operator()() const { return value; }
};

/// The element-wise loops of a device; those of Thrust devices are in rowan/thrust/detail/elementwise.hpp.
template <class D>
struct ElementLoops {
    static_assert(has_backend<D>, "rowan: operators on a Thrust device need #include <rowan/thrust/op.hpp>");
};

template <>
struct ElementLoops<Cpu> {
    /// Checks that a call on `exec` may use these tensors; validates exec.threads.
    template <class... X>
    static void check(Cpu exec, X const&...) {
        check_exec(exec);
    }

    /// Throws IndexError unless all ids are in [0, bound). Thrust devices enqueue the check.
    template <class I>
    static void check_ids(Cpu exec, char const* field, Tensor<I> const& ids, std::int64_t bound) {
        detail::check_ids(exec, field, ids, bound);
    }

    /// Throws ValueError unless all elements are in the range. Thrust devices enqueue the check.
    template <class T>
    static void check_range(Cpu exec, char const* field, Tensor<T> const& x, NumberRange const& range) {
        auto const number = [from = x.data()](std::size_t i) { return static_cast<double>(dtype<T>::widen(from[i])); };
        std::size_t const bad = first_misfit(exec, x.size(), [&](std::size_t i) { return range.has(number(i)); });
        if (bad == x.size()) return;
        throw ValueError({field, "[", bad, "]"}, number(bad), range.expected);
    }

    /// A function that returns read(), where `read` reads an element of a tensor. Thrust kernels call it.
    template <class F>
    static auto value_of(F const& read) {
        return GivenValue<decltype(read())>{read()};
    }

    template <class T>
    static Tensor<T> copy(Cpu, Tensor<T> const& x) {
        return x;
    }

    /// Temporary memory for n numbers.
    template <class S>
    static Buffer<S> scratch(Cpu, std::size_t n) {
        return Buffer<S>(n);
    }

    /// to[i] = map(from[i]...) for i in [0, n), computed in type `S`.
    template <class S, class Map, class To, class... From>
    static void zip(Cpu exec, std::size_t n, Map const& map, To* to, From const*... from) {
        for_ranges(exec, n, 1, [&](std::size_t begin, std::size_t end) {
            zip_lanes<S>(map, end - begin, to + begin, (from + begin)...);
        });
    }

    /// Calls f(i) for i in [0, n), each call processing `work` elements. Calls must write to disjoint memory.
    template <class F>
    static void each(Cpu exec, std::size_t n, std::size_t work, F const& f) {
        for_ranges(exec, n, work, [&](std::size_t begin, std::size_t end) {
            F const own = f;  // a local copy: writes through its pointers cannot alias it
            for (; begin < end; ++begin) own(begin);
        });
    }

    /// Calls f(f.of_row(row), row, column) for all elements.
    template <class F>
    static void each_element(Cpu exec, std::size_t rows, std::size_t width, F const& f) {
        for_ranges(exec, rows, width, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) {
                auto const row = f.of_row(begin);
                for (std::size_t column = 0; column < width; ++column) f(row, begin, column);
            }
        });
    }

    /// Sets all elements to zero and calls f(row) for each row afterwards.
    template <class T, class F>
    static void zero_rows(Cpu exec, std::size_t rows, std::size_t width, T* to, F const& f) {
        for_ranges(exec, rows, width, [&](std::size_t begin, std::size_t end) {
            F const own = f;
            fill_elements(to + begin * width, (end - begin) * width, dtype<T>::narrow(constant<sum_t<T>>(0.0)));
            for (; begin < end; ++begin) own(begin);
        });
    }

    /// Fills `to` with `rows` copies of a row.
    template <class T>
    static void repeat_row(Cpu, std::size_t rows, std::size_t width, T const* from, T* to) {
        for (std::size_t i = 0; i < rows; ++i) to = std::copy_n(from, width, to);
    }

    /// Calls step.at<V>(row, column) for all rows and columns. Where `S` has SIMD registers, V is one and covers
    /// V::size columns. The step itself loads and stores.
    template <class S, class Step>
    static void each_of_rows(Cpu exec, std::size_t rows, std::size_t width, std::size_t work, Step const& step) {
        for_ranges(exec, rows, work, [&](std::size_t begin, std::size_t end) {
            Step const own = step;
            on_lanes<S>(width, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t row = begin; row < end; ++row)
                    each_with<V>(width,
                                 [&]<class U>(std::size_t column) ROWAN_INLINED { own.template at<U>(row, column); });
            });
        });
    }

    /// Calls step.at<V>(step.of_row(row), column) for all rows and columns, with V as above.
    template <class S, class Step>
    static void each_in_rows(Cpu exec, std::size_t rows, std::size_t width, Step const& step) {
        if (width == 0) return;
        std::size_t const pieces = (width - 1) / elementwise_grain + 1, most = std::min(width, elementwise_grain);
        for_ranges(exec, rows * pieces, most, [&](std::size_t begin, std::size_t end) {
            Step const own = step;
            on_lanes<S>(most, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t k = begin; k < end; ++k) {
                    std::size_t const first = k % pieces * most;
                    auto const row = own.of_row(k / pieces);
                    each_with<V>(std::min(most, width - first), [&]<class U>(std::size_t column) ROWAN_INLINED {
                        own.template at<U>(row, first + column);
                    });
                }
            });
        });
    }
};

/// A tensor of map(x...) over the elements of tensors of one shape, computed in type `S`, as elements of To.
template <class To, class S, class D, class Map, class T, class... More>
Tensor<To, D> zip_elements_to(D const& exec, Map const& map, Tensor<T, D> const& x, Tensor<More, D> const&... more) {
    ElementLoops<D>::check(exec, x, more...);
    auto out = new_tensor<To>(exec, x.shape());
    ElementLoops<D>::template zip<S>(exec, x.size(), map, out.data(), x.data(), more.data()...);
    return out;
}
/// The same as elements of T.
template <class S, class D, class Map, class T, class... More>
Tensor<T, D> zip_elements(D const& exec, Map const& map, Tensor<T, D> const& x, Tensor<More, D> const&... more) {
    return zip_elements_to<T, S>(exec, map, x, more...);
}

}  // namespace rowan::inline v0::detail
