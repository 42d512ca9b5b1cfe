// rowan/op/optimizer/moving_average.hpp: moving_average, an average of a tensor over time.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/update_rows.hpp>

namespace rowan::inline v0 {

namespace detail {

struct moving_average_formula {
    double decay;

    ROWAN_FORMULA void operator()(V const& x, V& average) const {
        average = product(constant<V>(decay), average) + product(constant<V>(1.0 - decay), x);
    }
    ROWAN_FORMULA void operator()(V const& x, V& average, V& sum) const {
        (*this)(x, sum);
        average = sum;
    }
};

}  // namespace detail

/// average = decay · average + (1 - decay) · x. The average of 16-bit numbers should be a tensor of floats: rounded to
/// 16 bits in every step, an average whose steps are less than half of its last bit does not move.
/// shapes   average and x of one shape, rank at least 1
/// errors   ShapeError if shapes differ; ValueError if decay is not in [0, 1)
/// cost     one pass over both; the same bits for any number of threads and on every device
template <class A, class T, device D>
void moving_average(D const& exec, Tensor<A, D>& average, Tensor<T, D> const& x,
                    MovingAverageOptions const& options = {}) {
    detail::check_types<T, A>();
    detail::check_decay("decay", options.decay);
    update_rows(exec, x, LaneRule{detail::moving_average_formula{options.decay}}, average);
}

template <class A, class T, class Device>
void moving_average(Tensor<A, Device>& average, Tensor<T, Device> const& x, MovingAverageOptions const& options = {}) {
    moving_average(average.device(), average, x, options);
}

/// See moving_average. The slot `param` holds the average and `grad` holds x.
struct moving_average_op : detail::declared<moving_average_op> {
    template <class T, class D>
    static void run(D exec, Tensor<T, D>& average, Tensor<T, D> const& x, MovingAverageOptions const& options = {}) {
        moving_average(exec, average, x, options);
    }
};

/// moving_average for elements that are narrower than their sums: the state `moment` is the average in the type of
/// sums, and `param` is that average, narrowed.
struct narrowed_moving_average_op : detail::declared<narrowed_moving_average_op> {
    template <class T, class S, class D>
    static void run(D exec, Tensor<T, D>& average, Tensor<S, D>& sum, Tensor<T, D> const& x,
                    MovingAverageOptions const& options = {}) {
        detail::check_types<T, T, S>();
        detail::check_decay("decay", options.decay);
        update_rows(exec, x, LaneRule{detail::moving_average_formula{options.decay}}, average, sum);
    }
};

}  // namespace rowan::inline v0
