// rowan/thrust/detail/elementwise.hpp: element-wise formulas over tensors on a device.
#pragma once

#include <rowan/detail/elementwise.hpp>
#include <rowan/thrust/core/detail/storage.hpp>
#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/core/ids.hpp>
#include <rowan/thrust/core/tensor.hpp>
#include <rowan/thrust/detail/copy_rows.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/detail/lane.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// to[i] = map(from[i]) for N elements, computed in type `S`.
template <class S, int N, class Map, class To, class From>
struct MapChunk {
    Map map;
    To* to;
    From const* from;

    ROWAN_HD void operator()(std::size_t k) const {
        auto x = load_chunk<S, N>(from + k * N);
        for (int e = 0; e < N; ++e) x.x[e] = map(x.x[e]);
        store_chunk(x, to + k * N);
    }
};

/// to[i] = map(a[i], b[i]) for N elements, computed in type `S`.
template <class S, int N, class Map, class To, class A, class B>
struct ZipChunk {
    Map map;
    To* to;
    A const* a;
    B const* b;

    ROWAN_HD void operator()(std::size_t k) const {
        auto x = load_chunk<S, N>(a + k * N);
        auto const y = load_chunk<S, N>(b + k * N);
        for (int e = 0; e < N; ++e) x.x[e] = map(x.x[e], y.x[e]);
        store_chunk(x, to + k * N);
    }
};

template <class S, int N, class Map, class To, class A, class B, class C>
struct ZipThreeChunk {
    Map map;
    To* to;
    A const* a;
    B const* b;
    C const* c;

    ROWAN_HD void operator()(std::size_t k) const {
        auto x = load_chunk<S, N>(a + k * N);
        auto const y = load_chunk<S, N>(b + k * N);
        auto const z = load_chunk<S, N>(c + k * N);
        for (int e = 0; e < N; ++e) x.x[e] = map(x.x[e], y.x[e], z.x[e]);
        store_chunk(x, to + k * N);
    }
};

/// Selects the chunk by the number of input arrays.
template <class S, int N, class Map, class To, class... From>
struct zip_chunk;
template <class S, int N, class Map, class To, class A>
struct zip_chunk<S, N, Map, To, A> {
    using type = MapChunk<S, N, Map, To, A>;
};
template <class S, int N, class Map, class To, class A, class B>
struct zip_chunk<S, N, Map, To, A, B> {
    using type = ZipChunk<S, N, Map, To, A, B>;
};
template <class S, int N, class Map, class To, class A, class B, class C>
struct zip_chunk<S, N, Map, To, A, B, C> {
    using type = ZipThreeChunk<S, N, Map, To, A, B, C>;
};

/// Calls step.at<S>(row, column) for one element.
template <class S, class Step>
struct StepElement {
    Step step;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const row = width.quotient(k);
        step.template at<S>(row, k - row * width.by);
    }
};

/// Calls step.at<S>(step.of_row(row), column) for one element.
template <class S, class Step>
struct StepInRow {
    Step step;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const row = width.quotient(k);
        step.template at<S>(step.of_row(row), k - row * width.by);
    }
};

template <class F>
struct ElementOfRow {
    F f;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const row = width.quotient(k);
        f(f.of_row(row), row, k - row * width.by);
    }
};

/// Checks element i.
template <class T>
struct LookAtNumber {
    NumberCheck check;
    T const* from;
    ROWAN_KERNEL void operator()(std::size_t i) const { check(i, static_cast<double>(dtype<T>::widen(from[i]))); }
};

struct FirstRow {
    ROWAN_HD std::int64_t operator()(std::size_t) const { return 0; }
};

template <class System>
struct ElementLoops<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class... X>
    static void check(Device const& exec, X const&... tensors) {
        check_here(exec, tensors...);
    }

    template <class I>
    static void check_ids(Device const& exec, char const* field, Tensor<I, Device> const& ids, std::int64_t bound) {
        check_on_device(exec, DeviceIds<System>(exec, field, ids, bound));
    }

    template <class T>
    static void check_range(Device const& exec, char const* field, Tensor<T, Device> const& x,
                            NumberRange const& range) {
        launch_always(exec, x.size(), LookAtNumber<T>{number_check(exec, field, range), x.data()});
    }

    template <class F>
    static F value_of(F const& read) {
        return read;
    }

    template <class T>
    static Tensor<T, Device> copy(Device const& exec, Tensor<T, Device> const& x) {
        return copy_of(exec, x);
    }

    template <class S>
    static DeviceStorage<S, System> scratch(Device const& exec, std::size_t n) {
        return DeviceStorage<S, System>(exec, n);
    }

    template <class S, class Map, class To, class... From>
    static void zip(Device const& exec, std::size_t n, Map const& map, To* to, From const*... from) {
        if (in_chunks(n, static_cast<To const*>(to), from...)) {
            launch(exec, n / chunk_size, typename zip_chunk<S, chunk_size, Map, To, From...>::type{map, to, from...});
        } else {
            launch(exec, n, typename zip_chunk<S, 1, Map, To, From...>::type{map, to, from...});
        }
    }

    template <class F>
    static void each(Device const& exec, std::size_t n, std::size_t, F const& f) {
        launch(exec, n, f);
    }

    template <class F>
    static void each_element(Device const& exec, std::size_t rows, std::size_t width, F const& f) {
        if (width != 0) launch(exec, rows * width, ElementOfRow<F>{f, FastDivmod(width)});
    }

    template <class T, class F>
    static void zero_rows(Device const& exec, std::size_t rows, std::size_t width, T* to, F const& f) {
        launch(exec, rows * width, FillWith<T>{to, dtype<T>::narrow(constant<sum_t<T>>(0.0))});
        launch(exec, rows, f);
    }

    template <class T>
    static void repeat_row(Device const& exec, std::size_t rows, std::size_t width, T const* from, T* to) {
        copy_device_rows(exec, rows, width * sizeof(T), from, to, FirstRow{}, SameRow{});
    }

    template <class S, class Step>
    static void each_of_rows(Device const& exec, std::size_t rows, std::size_t width, std::size_t, Step const& step) {
        if (width != 0) launch(exec, rows * width, StepElement<S, Step>{step, FastDivmod(width)});
    }

    template <class S, class Step>
    static void each_in_rows(Device const& exec, std::size_t rows, std::size_t width, Step const& step) {
        if (width != 0) launch(exec, rows * width, StepInRow<S, Step>{step, FastDivmod(width)});
    }
};

}  // namespace rowan::inline v0::detail
