// tests/op/samples.hpp: samples<Op>, inputs and options for each operator of rowan.
#pragma once

#include "inputs.hpp"

#include <rowan/graph/value.hpp>
#include <rowan/op/builtin_ops.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// An input of an operator. If it holds numbers, the operator has a gradient for it, unless it is fixed.
struct Input {
    std::shared_ptr<rowan::Value> value;
    bool fixed = false;
};

/// Inputs and options of an operator. With an error, its infer refuses them with this text, unless it is late: then only running sees what is
/// wrong, as with an id out of range. Running always refuses them, with `when_run`.
struct Sample {
    std::vector<Input> in;
    rowan::Attributes options = {};  ///< none: the default ones
    std::string error = {}, when_run = {};
    bool late = false;

    /// One text: that of both errors. The first empty: the error is late.
    Sample(std::vector<Input> inputs, std::string text = "", std::string run = "")
        : in(std::move(inputs)), error(text.empty() ? run : text), when_run(run.empty() ? text : run), late(text.empty() && !run.empty()) {}
    template <class A, std::convertible_to<std::string>... Texts>
    requires(!std::convertible_to<A, std::string>)
    Sample(std::vector<Input> inputs, A attributes, Texts... texts) : Sample(std::move(inputs), texts...) {
        options = std::make_shared<A const>(std::move(attributes));
    }
};
using Samples = std::vector<Sample>;

/// The samples of an operator whose inputs have about n rows. Where there are none, every_operator.cpp does not compile.
/// The first one has options that reach the most code: it also runs with many rows on several threads.
template <class Op>
Samples samples(std::size_t n) = delete;

namespace sample {

using namespace rowan;
using Shape = Tensor<double>::shape_type;

template <class V>
Input holder(V&& v) {
    auto made = std::make_shared<Value>();
    made->set(std::move(v));
    return {made};
}
inline Input held_fixed(Input input) { return {input.value, true}; }

/// Numbers in (least, most).
inline Tensor<double> between(double least, double most, Shape const& shape, std::uint64_t seed = 1) {
    auto t = values(shape, seed);
    for (double& v : t) v = (least + most) / 2 + v * (most - least) / 2;
    return t;
}
inline Tensor<std::int64_t> numbers_below(std::int64_t limit, std::size_t n) {
    auto t = Tensor<std::int64_t>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) t(i) = static_cast<std::int64_t>(i * i + i / 3) % limit;
    return t;
}
/// The offsets of sequences of 2, 0, 3, 1, 1, 2, 0, … rows, n in all.
inline std::vector<std::int64_t> offsets(std::size_t n) {
    std::vector<std::int64_t> cuts{0};
    for (std::size_t i = 0; cuts.back() < static_cast<std::int64_t>(n); ++i)
        cuts.push_back(std::min(static_cast<std::int64_t>(n), cuts.back() + std::array{2, 0, 3, 1, 1}[i % 5]));
    return cuts;
}
/// At most this many, where rows are wide.
inline std::size_t up_to(std::size_t most, std::size_t n) { return std::min(n, most); }
/// At least 1, where there must be elements.
inline std::size_t some(std::size_t n) { return std::max<std::size_t>(n, 1); }
inline std::size_t sequences(std::size_t n) { return offsets(n).size() - 1; }
using Levels = std::vector<std::vector<std::int64_t>>;
inline Lod one_level(std::size_t n) { return Lod(Levels{offsets(n)}); }
inline Lod two_levels(std::size_t n) { return Lod(Levels{offsets(sequences(n)), offsets(n)}); }

inline Input x(Shape const& shape, std::uint64_t seed = 1) { return holder(LoDTensor<double>(values(shape, seed))); }
inline Input x(Shape const& shape, Lod lod, std::uint64_t seed = 1) { return holder(LoDTensor<double>(values(shape, seed), std::move(lod))); }
inline Input in(double least, double most, Shape const& shape, std::uint64_t seed = 1) { return holder(LoDTensor<double>(between(least, most, shape, seed))); }
inline Input sparse(std::size_t n, std::uint64_t seed = 1) {
    return holder(SelectedRows<double>(static_cast<std::int64_t>(n), numbers_below(static_cast<std::int64_t>(n), n), values({n, 3}, seed)));
}
inline Input ids(std::int64_t limit, std::size_t n, Lod lod = {}) { return holder(LoDTensor<std::int64_t>(numbers_below(limit, n), std::move(lod))); }
/// Ids below a limit in bags, as many for each of several tables; some are -1.
inline Input bags(std::int64_t limit, std::size_t n, std::size_t tables = 2) {
    auto numbers = numbers_below(limit, n);
    for (std::size_t i = 3; i < n; i += 7) numbers(i) = -1;
    auto cuts = offsets(n);
    while ((cuts.size() - 1) % tables != 0) cuts.push_back(cuts.back());
    return holder(LoDTensor<std::int64_t>(std::move(numbers), Lod(Levels{cuts})));
}
inline Input list(std::vector<std::int64_t> const& values) { return holder(LoDTensor<std::int64_t>(Tensor<std::int64_t>::from_values({values.size()}, values))); }
inline Input truth(Shape const& shape) {
    auto t = Tensor<bool>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = i % 3 == 0 || i % 7 == 2;
    return holder(LoDTensor<bool>(std::move(t)));
}
/// 0 and 1, and 1 and -1.
inline Input truth_values(Shape const& shape) {
    auto t = values(shape, 3);
    for (double& v : t) v = v < 0 ? 0 : 1;
    return holder(LoDTensor<double>(std::move(t)));
}
inline Input signs(std::size_t n) {
    auto t = values({n}, 3);
    for (double& v : t) v = v < 0 ? -1 : 1;
    return holder(LoDTensor<double>(std::move(t)));
}
/// 0 and 1, of which n / 2 are 1.
inline Input branches(std::size_t n) {
    auto t = Tensor<std::int64_t>::zeros({n});
    for (std::size_t i = 1; i < n; i += 2) t(i) = 1;
    return holder(LoDTensor<std::int64_t>(std::move(t)));
}
/// The lengths of sequences, or the offset 0 of each.
inline Input lengths(std::size_t n, std::int64_t factor = 1) {
    auto const cuts = offsets(n);
    std::vector<std::int64_t> made;
    for (std::size_t s = 0; s + 1 < cuts.size(); ++s) made.push_back(factor * (cuts[s + 1] - cuts[s]));
    return list(made);
}
/// Rows of probabilities.
inline Input shares(Shape const& shape, std::uint64_t seed = 1) {
    auto t = between(0.1, 1, shape, seed);
    for (std::size_t i = 0; i < shape[0]; ++i) {
        double sum = 0;
        for (double const v : t.row(i)) sum += v;
        for (double& v : t.row(i)) v /= sum;
    }
    return holder(LoDTensor<double>(std::move(t)));
}

}  // namespace sample

#define ROWAN_SAMPLES(op, ...)                                                   \
    template <>                                                                  \
    inline Samples samples<rowan::op>([[maybe_unused]] std::size_t n) {          \
        using namespace sample;                                                  \
        return __VA_ARGS__;                                                      \
    }

// ---- element by element
ROWAN_SAMPLES(abs_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(ceil_op, {{{in(-3, 3, {n, 3})}}})
ROWAN_SAMPLES(cos_op, {{{in(-9, 9, {n, 3})}}})
ROWAN_SAMPLES(elu_op, {{{x({n, 3})}, EluOptions{.alpha = 0.5}}, {{x({n})}, EluOptions{.alpha = NAN}, "alpha is nan, expected a finite number"}})
ROWAN_SAMPLES(exp_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(floor_op, {{{in(-3, 3, {n, 3})}}})
ROWAN_SAMPLES(gelu_op, {{{in(-3, 3, {n, 3})}}, {{in(-3, 3, {n, 3})}, GeluOptions{.approximate = true}}})
ROWAN_SAMPLES(hard_sigmoid_op, {{{in(-4, 4, {n, 3})}, HardSigmoidOptions{.slope = 0.3, .offset = 0.25}}, {{x({n})}, HardSigmoidOptions{.slope = NAN}, "slope is nan, expected a finite number"}})
ROWAN_SAMPLES(hard_swish_op, {{{in(-6, 6, {n, 3})}, HardSwishOptions{.threshold = 5, .scale = 3, .offset = 2}}, {{x({n})}, HardSwishOptions{.scale = 0}, "scale is 0, expected another number than 0"}, {{x({n})}, HardSwishOptions{.threshold = -1}, "threshold is -1, expected at least 0"}})
ROWAN_SAMPLES(hardtanh_op, {{{in(-2, 2, {n, 3})}, HardtanhOptions{.min = -0.5, .max = 1}}, {{x({n})}, HardtanhOptions{.min = 2, .max = 1}, "max is 1, expected a number not less than min"}})
ROWAN_SAMPLES(identity_op, {{{x({n, 3}, one_level(n))}}})
ROWAN_SAMPLES(isfinite_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(isinf_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(isnan_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(leaky_relu_op, {{{x({n, 3})}, LeakyReluOptions{.alpha = 0.25}}, {{x({n})}, LeakyReluOptions{.alpha = NAN}, "alpha is nan, expected a finite number"}})
ROWAN_SAMPLES(log_op, {{{in(0.1, 5, {n, 3})}}})
ROWAN_SAMPLES(logical_not_op, {{{truth({n, 3})}}})
ROWAN_SAMPLES(mish_op, {{{in(-5, 5, {n, 3})}}})
ROWAN_SAMPLES(negate_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(pow_op, {{{in(0.1, 3, {n, 3})}, PowOptions{.exponent = 2.5}}, {{x({n, 3})}, PowOptions{.exponent = -3}}, {{x({n})}, PowOptions{.exponent = NAN}, "exponent is nan, expected a finite number"}})
ROWAN_SAMPLES(relu_op, {{{x({n, 3}, one_level(n))}}})
ROWAN_SAMPLES(relu6_op, {{{in(-2, 5, {n, 3})}, Relu6Options{.threshold = 3}}, {{x({n})}, Relu6Options{.threshold = NAN}, "threshold is nan, expected a finite number"}, {{x({n})}, Relu6Options{.threshold = -1}, "threshold is -1, expected at least 0"}})
ROWAN_SAMPLES(round_op, {{{in(-3, 3, {n, 3})}}})
ROWAN_SAMPLES(rsqrt_op, {{{in(0.1, 5, {n, 3})}}})
ROWAN_SAMPLES(scale_op, {{{x({n, 3})}, ScaleOptions{.factor = 3, .bias = 2}}, {{sparse(n)}, ScaleOptions{.factor = 3}}, {{sparse(n)}, ScaleOptions{.bias = 1}, "bias is 1, expected 0 for a SelectedRows, whose absent rows stay 0"}})
ROWAN_SAMPLES(sigmoid_op, {{{in(-5, 5, {n, 3})}}})
ROWAN_SAMPLES(sign_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(silu_op, {{{in(-5, 5, {n, 3})}}})
ROWAN_SAMPLES(sin_op, {{{in(-9, 9, {n, 3})}}})
ROWAN_SAMPLES(softplus_op, {{{in(-5, 5, {n, 3})}, SoftplusOptions{.beta = 2}}, {{x({n})}, SoftplusOptions{.beta = 0}, "beta is 0, expected a positive number"}})
ROWAN_SAMPLES(softsign_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(sqrt_op, {{{in(0.1, 5, {n, 3})}}})
ROWAN_SAMPLES(square_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(stanh_op, {{{x({n, 3})}, StanhOptions{.scale_a = 2, .scale_b = 3}}, {{x({n})}, StanhOptions{.scale_a = NAN}, "scale_a is nan, expected a finite number"}, {{x({n})}, StanhOptions{.scale_b = 0}, "scale_b is 0, expected another number than 0"}})
ROWAN_SAMPLES(swish_op, {{{in(-5, 5, {n, 3})}, SwishOptions{.beta = 2}}, {{x({n})}, SwishOptions{.beta = NAN}, "beta is nan, expected a finite number"}})
ROWAN_SAMPLES(tanh_op, {{{x({n, 3})}}, {{x({})}}})
ROWAN_SAMPLES(thresholded_relu_op, {{{x({n, 3})}, ThresholdedReluOptions{.threshold = 0.25}}, {{x({n})}, ThresholdedReluOptions{.threshold = NAN}, "threshold is nan, expected a finite number"}})
ROWAN_SAMPLES(clip_op, {{{x({n, 3})}, ClipOptions{.min = -0.5, .max = 0.25}}, {{sparse(n)}, ClipOptions{.min = -0.5, .max = 0.25}}, {{x({n})}, ClipOptions{.min = 1, .max = -1}, "max is -1, expected a number not less than min"}, {{x({n})}, ClipOptions{.min = NAN}, "min is nan, expected a finite number, or -infinity for no bound"}, {{x({n})}, ClipOptions{.max = -INFINITY}, "max is -inf, expected a finite number, or infinity for no bound"}, {{x({n, 3})}, ClipOptions{.max = INFINITY}}, {{sparse(n)}, ClipOptions{.min = -INFINITY, .max = 0.25}}, {{sparse(n)}, ClipOptions{.min = 0.5}, "", "min is 0.5, expected 0 to be in [min, max], as absent rows stay 0"}})
ROWAN_SAMPLES(dropout_op, {{{x({n, 3}), list({7})}, DropoutOptions{.probability = 0.25}}, {{x({n, 3}), list({})}}, {{x({n}), list({7})}, DropoutOptions{.probability = 1.5}, "probability is 1.5, expected in [0, 1]"}, {{x({n}), list({7})}, DropoutOptions{.probability = NAN}, "probability is nan, expected in [0, 1]"}})
ROWAN_SAMPLES(full_like_op, {{{x({n, 3}, one_level(n))}, FullLikeOptions{.value = 2}}})

// ---- two or more inputs of one shape, or of shapes that are broadcast
ROWAN_SAMPLES(add_op, {{{x({n, 3}), x({n, 3}, 2)}}, {{x({n, 3}), x({3}, 2)}}, {{x({n, 1, 3}), x({1, 2, 1}, 2)}}, {{x({n, 3}), x({n}, 2)}, BroadcastOptions{.axis = 0}}, {{x({n, 3}), sparse(n)}}, {{sparse(n), sparse(n, 2)}}, {{x({n, 3}), x({n + 1, 3})}, "add: y.shape(0) is 7, expected 6", "y.shape() is [7, 3], expected [6, 3] or one that broadcasts with it"}, {{x({n, 3}), x({n, 3})}, BroadcastOptions{.axis = -7}, "axis is -7, expected -1 or a dim of x"}, {{x({n, 3}), x({n, 3})}, BroadcastOptions{.axis = 1}, "add: y rank is 2, expected at most 1, the dims of x from 1 on"}})
ROWAN_SAMPLES(sub_op, {{{x({n, 3}), x({n, 3}, 2)}}, {{x({2, 1, n}), x({1, 4, 1}, 2)}}, {{x({3}), x({n, 3}, 2)}}, {{x({n, 3}), x({n}, 2)}, BroadcastOptions{.axis = 2}, "sub: y rank is 1, expected at most 0, the dims of x from 2 on"}, {{x({n, 3}), x({n, 4})}, "sub: y.shape(1) is 4, expected 3", "y.shape() is [6, 4], expected [6, 3] or one that broadcasts with it"}})
ROWAN_SAMPLES(mul_op, {{{x({n, 3}), x({3}, 2)}}, {{x({2, n, 4}), x({n}, 2)}, BroadcastOptions{.axis = 1}}, {{x({n, 3}), x({n, 3}, 2)}}, {{x({n, 1}), x({1, 3}, 2)}}, {{x({n, 3}), x({n})}, "mul: y.shape(0) is 6, expected 3", "y.shape() is [6], expected [6, 3] or one that broadcasts with it"}})
ROWAN_SAMPLES(div_op, {{{x({n, 3}), in(0.5, 2, {n, 3}, 2)}}, {{in(0.5, 2, {3}), in(0.5, 2, {n, 3}, 2)}}, {{x({n, 3}), in(0.5, 2, {3}, 2)}}, {{x({n, 3}), x({n})}, "div: y.shape(0) is 6, expected 3", "y.shape() is [6], expected [6, 3] or one that broadcasts with it"}})
ROWAN_SAMPLES(maximum_op, {{{x({n, 3}), x({3}, 2)}}, {{x({2, 1, n}), x({1, 4, 1}, 2)}}, {{x({n, 3}), x({n, 3}, 2)}}})
ROWAN_SAMPLES(minimum_op, {{{x({n, 3}), x({3}, 2)}}})
ROWAN_SAMPLES(equal_op, {{{x({n, 3}), x({3})}}})
ROWAN_SAMPLES(greater_op, {{{x({n, 3}), x({3}, 2)}}})
ROWAN_SAMPLES(greater_equal_op, {{{x({n, 3}), x({3})}}})
ROWAN_SAMPLES(less_op, {{{x({n, 3}), x({3}, 2)}}})
ROWAN_SAMPLES(less_equal_op, {{{x({n, 3}), x({3})}}})
ROWAN_SAMPLES(logical_and_op, {{{truth({n, 3}), truth({3})}}})
ROWAN_SAMPLES(logical_or_op, {{{truth({n, 3}), truth({3})}}})
ROWAN_SAMPLES(where_op, {{{truth({n, 1}), x({n, 3}), x({3}, 2)}}, {{truth({3}), x({n, 3}), x({n, 3}, 2)}}, {{truth({1, 1, 4}), x({2, n, 4}), x({}, 2)}}, {{truth({n, 1}), x({1, 3}), x({3}, 2)}}, {{truth({n}), x({n, 3}), x({n, 3})}, "where: condition.shape(0) is 6, expected 3", "condition.shape() is [6], expected [6, 3] or one that broadcasts with it"}})
ROWAN_SAMPLES(sum_op, {{{x({n, 3}), x({n, 3}, 2), x({n, 3}, 3)}}, {{x({n, 3}), sparse(n)}}, {{sparse(n), sparse(n, 2)}}, {{x({n, 3}), x({n, 3}), x({n, 2})}, "sum: x[2].shape(1) is 2, expected 3", "x[2].shape() is [6, 2], expected [6, 3]"}, {{sparse(n), sparse(n), sparse(n + 1)}, "sum: x[2].shape(0) is 7, expected 6", "x[2].shape() is [7, 3], expected [6, 3]"}, {{x({n, 3}), sparse(n), sparse(n + 1)}, "sum: x[2].shape(0) is 7, expected 6", "x[2].shape() is [7, 3], expected [6, 3]"}})

// ---- reductions and positions
ROWAN_SAMPLES(any_op, {{{truth({n, 3})}}})
ROWAN_SAMPLES(argmax_op, {{{x({n, 3})}}, {{x({2, some(n), 3})}, ArgmaxOptions{.axis = 1, .keep_dims = true}}, {{x({n})}, ArgmaxOptions{.axis = 1}, "axis = 1 is not in [-1, 1)"}})
ROWAN_SAMPLES(argmin_op, {{{x({n, 3})}}, {{x({2, some(n), 3})}, ArgmaxOptions{.axis = -2}}, {{x({n})}, ArgmaxOptions{.axis = -2}, "axis = -2 is not in [-1, 1)"}, {{x({0, 3})}, ArgmaxOptions{.axis = 0}, "", "x.shape() is [0, 3], expected at least one element for each result"}})
ROWAN_SAMPLES(argsort_op, {{{x({n, 3})}, ArgsortOptions{.descending = true}}, {{x({n, 3})}, ArgsortOptions{.axis = 0}}, {{x({n})}, ArgsortOptions{.axis = 1}, "axis = 1 is not in [-1, 1)"}})
ROWAN_SAMPLES(cumprod_op, {{{in(0.5, 1.5, {n, 3})}, CumprodOptions{.axis = 0, .exclusive = true}}, {{truth_values({n, 3})}, CumprodOptions{.axis = 0}}, {{truth_values({2, n, 3})}, CumprodOptions{.axis = 1, .exclusive = true, .reverse = true}}, {{x({n, 4})}, CumprodOptions{.reverse = true}}, {{x({n, 3})}, CumprodOptions{.axis = -3}, "axis = -3 is not in [-2, 2)"}})
ROWAN_SAMPLES(cumsum_op, {{{x({n, 3})}, CumsumOptions{.axis = 0, .exclusive = true}}, {{x({3, n})}}, {{x({n, 3})}, CumsumOptions{.reverse = true}}, {{x({2, n, 3})}, CumsumOptions{.axis = 1, .exclusive = true, .reverse = true}}, {{x({n, 3})}, CumsumOptions{.axis = -3}, "axis = -3 is not in [-2, 2)"}})
ROWAN_SAMPLES(reduce_max_op, {{{x({n, 3})}, ReduceOptions{.axes = {1}}}, {{x({2, 2, 1, 2, 1, 2, 2, 1})}, ReduceOptions{.axes = {2, 0}}}, {{x({some(n), 3, 2})}, ReduceOptions{.axes = {0, -1}, .keep_dims = true}}, {{x({n})}, ReduceOptions{.axes = {0, 1}}, "axes[1] = 1 is not in [-1, 1)"}, {{x({0, 2})}, "", "x.shape() is [0, 2], expected at least one element for each result"}})
ROWAN_SAMPLES(reduce_mean_op, {{{x({n, 3})}}, {{x({2, 2, 1, 2, 1, 2, 2, 1})}, ReduceOptions{.axes = {2, 0}}}, {{x({n, 3, 2})}, ReduceOptions{.axes = {1}}}, {{x({n, 3})}, ReduceOptions{.axes = {0, 0}}, "axes[1] = 0 is the same axis as axes[0]"}})
ROWAN_SAMPLES(reduce_min_op, {{{x({some(n), 3})}, ReduceOptions{.axes = {0}}}, {{x({n})}, ReduceOptions{.axes = {2}}, "axes[0] = 2 is not in [-1, 1)"}})
ROWAN_SAMPLES(reduce_prod_op, {{{in(0.9, 1.1, {n, 3})}, ReduceOptions{.axes = {1}}}, {{x({2, 2, 1, 2, 1, 2, 2, 1})}, ReduceOptions{.axes = {2, 0}}}, {{x({n, 3})}}, {{x({2, n, 3})}, ReduceOptions{.axes = {1}, .keep_dims = true}}, {{x({n})}, ReduceOptions{.axes = {2}}, "axes[0] = 2 is not in [-1, 1)"}})
ROWAN_SAMPLES(reduce_sum_op, {{{x({n, 3})}}, {{x({n, 3, 2})}, ReduceOptions{.axes = {-1, 0}, .keep_dims = true}}, {{x({n})}, ReduceOptions{.axes = {-2}}, "axes[0] = -2 is not in [-1, 1)"}})
ROWAN_SAMPLES(top_k_op, {{{x({n, 5})}, TopKOptions{.k = 3}}, {{x({2, n, 5})}, TopKOptions{.k = 5}}, {{x({n, 4})}}, {{x({n, 2})}, TopKOptions{.k = 3}, "k is 3, expected in [1, 2]"}})
ROWAN_SAMPLES(accuracy_op, {{{x({n, 4}), ids(4, n)}}, {{x({n, 4}), ids(4, n)}, AccuracyOptions{.k = 2}}, {{x({n, 4}), ids(4, n)}, AccuracyOptions{.k = 0}, "accuracy: k is 0, expected at least 1"}, {{x({n, 3}), ids(5, n)}, "", "label[2] = 4 is not in [0, 3)"}, {{x({n, 3}), ids(3, n + 1)}, "accuracy: label.shape(0) is 7, expected 6", "label.shape(0) is 7, expected 6, the number of rows"}, {{x({n}), ids(3, n)}, "accuracy: x rank is 1, expected 2"}})

// ---- products
ROWAN_SAMPLES(fc_op, {{{x({n, 4}), x({4, 3}, 2), x({3}, 3)}}, {{x({n, 4}), x({3, 3}), x({3})}, "fc: w.shape(0) is 3, expected 4", "w.shape(0) is 3, expected 4, the width of x"}, {{x({n, 4}), x({4, 3}), x({4})}, "fc: b.shape(0) is 4, expected 3", "b.shape() is [4], expected [3]"}})
ROWAN_SAMPLES(matmul_op, {{{x({n, 3}), x({3, 4}, 2)}}, {{x({n, 3}), x({4, 3}, 2)}, MatmulOptions{.transpose_y = true}}, {{x({n, 3}), x({n, 4}, 2)}, MatmulOptions{.transpose_x = true}}, {{x({2, n, 3}), x({2, 4, 3}, 2)}, MatmulOptions{.transpose_y = true}}, {{x({2, 1, 3, n}), x({3, 3, 2}, 2)}, MatmulOptions{.transpose_x = true}}, {{x({2, 3}), x({n, 4, 2}, 2)}, MatmulOptions{.transpose_x = true, .transpose_y = true}}, {{x({n, 3}), x({4, 3})}, "matmul: the inner dim of y is 4, expected 3", "y.shape(0) is 4, expected 3, the inner dim of x"}, {{x({n, 3}), x({3})}, "matmul: y rank is 1, expected at least 2"}, {{x({3, n, 2}), x({2, 2, 1})}, "matmul: y.shape(0) is 2, expected 3", "batch of y.shape() is [2], expected [3] or one that broadcasts with it"}})
ROWAN_SAMPLES(row_dot_op, {{{x({n, 3}), x({n, 3}, 2)}}, {{x({3, n}), x({3, n}, 2)}}, {{x({n, 17}), x({n, 17}, 2)}}, {{x({n, 3}), x({n, 4})}, "row_dot: y.shape(1) is 4, expected 3", "y.shape() is [6, 4], expected [6, 3]"}})
ROWAN_SAMPLES(dot_interaction_op, {{{x({n, 5, 3})}, DotInteractionOptions{.self_interaction = true}}, {{x({n, 10, 17})}}, {{x({n, 1, 2})}}, {{x({n, 0, 2})}, DotInteractionOptions{.self_interaction = true}}, {{x({n, 6})}, "dot_interaction: x rank is 2, expected 3", "x rank is 2, expected 3"}})
ROWAN_SAMPLES(cosine_similarity_op, {{{x({n, 3}), x({n, 3}, 2)}}, {{x({n, 17}), x({n, 17}, 2)}}, {{x({n, 3}), x({n, 3}, 2)}, CosineOptions{.epsilon = 0}, "epsilon is 0, expected a positive number"}, {{x({n, 3}), x({n, 4})}, "cosine_similarity: y.shape(1) is 4, expected 3", "y.shape() is [6, 4], expected [6, 3]"}})

// ---- norms
ROWAN_SAMPLES(softmax_op, {{{x({n, 3})}}, {{x({n, 18})}}, {{x({2, n, 4})}, SoftmaxOptions{.axis = 1}}, {{x({n, 3})}, SoftmaxOptions{.axis = 2}, "axis = 2 is not in [-2, 2)"}, {{x({})}, "softmax: x rank is 0, expected at least 2", "x rank is 0, expected at least 1"}})
ROWAN_SAMPLES(log_softmax_op, {{{x({n, 3})}}, {{x({n, 18})}}, {{x({2, n, 4})}, SoftmaxOptions{.axis = 1}}, {{x({n, 3})}, SoftmaxOptions{.axis = 2}, "axis = 2 is not in [-2, 2)"}})
ROWAN_SAMPLES(layer_norm_op, {{{x({n, 4}), x({4}, 2), x({4}, 3)}}, {{x({n, 3, 2}), x({3, 2}, 2), x({3, 2}, 3)}, LayerNormOptions{.begin_axis = 1, .epsilon = 0.5}}, {{x({11 * n, 5}), x({5}, 2), x({5}, 3)}}, {{x({n, 19}), x({19}, 2), x({19}, 3)}}, {{x({n, 4}), x({4}), x({4})}, LayerNormOptions{.begin_axis = 2}, "begin_axis is 2, expected in [1, 1] or [-1, -1]: axis 0 is that of rows"}, {{x({n}), x({n}), x({n})}, "layer_norm: x rank is 1, expected at least 2"}, {{x({n, 4}), x({3}), x({4})}, "layer_norm: scale.shape(0) is 3, expected 4", "scale.shape() is [3], expected [4], the dims of x from begin_axis on"}, {{x({n, 4}), x({4}), x({4})}, LayerNormOptions{.epsilon = -1}, "epsilon is -1, expected 0 or more"}})
ROWAN_SAMPLES(batch_norm_op, {{{x({n, 3}), x({3}, 2), x({3}, 3), held_fixed(x({3}, 4)), held_fixed(in(0.5, 2, {3})), list({7})}, BatchNormAttributes{.epsilon = 0.5}}, {{x({n, 3}), x({3}, 2), x({3}, 3), held_fixed(x({3}, 4)), held_fixed(in(0.5, 2, {3})), list({})}}, {{x({n, 3}), x({3}), x({3}), x({3}), x({3}), list({7})}, BatchNormAttributes{.momentum = 2}, "momentum is 2, expected in [0, 1]"}})

// ---- losses
ROWAN_SAMPLES(binary_cross_entropy_op, {{{in(0.1, 0.9, {n, 3}), held_fixed(truth_values({n, 3}))}, BinaryCrossEntropyOptions{.ignore_index = 1}}, {{in(0.1, 0.9, {n, 3}), held_fixed(in(0, 1, {n, 3}, 2))}, BinaryCrossEntropyOptions{.reduction = Reduction::none}}})
ROWAN_SAMPLES(binary_cross_entropy_with_epsilon_op, {{{in(0.1, 0.9, {n, 3}), held_fixed(in(0, 1, {n, 3}, 2))}}, {{x({n}), x({n})}, BinaryCrossEntropyWithEpsilonOptions{.epsilon = -1}, "epsilon is -1, expected at least 0"}})
ROWAN_SAMPLES(binary_cross_entropy_with_logits_op, {{{in(-3, 3, {n, 3}), held_fixed(in(0, 1, {n, 3}, 2))}, BinaryCrossEntropyOptions{.reduction = Reduction::sum, .pos_weight = 2.5}}, {{in(-3, 3, {n, 3}), held_fixed(in(0, 1, {n, 3}, 2))}, BinaryCrossEntropyOptions{.reduction = Reduction::sum}}, {{x({n}), x({n})}, BinaryCrossEntropyOptions{.pos_weight = -1}, "pos_weight is -1, expected at least 0"}, {{x({n}), x({n})}, BinaryCrossEntropyOptions{.pos_weight = INFINITY}, "pos_weight is inf, expected a finite number"}})
ROWAN_SAMPLES(cosine_embedding_op, {{{x({n}), held_fixed(signs(n))}, MarginOptions{.margin = 0.25}}, {{x({n}), held_fixed(signs(n))}, MarginOptions{.margin = NAN}, "margin is nan, expected a finite number"}})
ROWAN_SAMPLES(hinge_op, {{{in(-2, 2, {n, 3}), held_fixed(truth_values({n, 3}))}}, {{in(-2, 2, {n, 3}), held_fixed(truth_values({n, 3}))}, HingeOptions{.pos_weight = 3}}})
ROWAN_SAMPLES(huber_op, {{{in(-2, 2, {n, 3}), x({n, 3}, 2)}, HuberOptions{.delta = 0.5}}, {{x({n}), x({n})}, HuberOptions{.delta = 0}, "delta is 0, expected a positive number"}})
ROWAN_SAMPLES(kl_div_op, {{{x({n, 3}), held_fixed(shares({n, 3}, 2))}}})
ROWAN_SAMPLES(margin_ranking_op, {{{x({n}), held_fixed(signs(n))}, MarginOptions{.margin = 0.25}}, {{x({n}), held_fixed(signs(n))}, MarginOptions{.margin = NAN}, "margin is nan, expected a finite number"}})
ROWAN_SAMPLES(mse_op, {{{x({n, 3}), x({n, 3}, 2)}}, {{x({n, 3}), x({n, 3}, 2)}, LossOptions{.reduction = Reduction::sum}}, {{x({n, 3}), x({n, 3}, 2)}, LossOptions{.reduction = Reduction::none}}, {{x({n, 3}), x({n, 4})}, "mse: y.shape(1) is 4, expected 3", "y.shape() is [6, 4], expected [6, 3]"}})
ROWAN_SAMPLES(smooth_l1_op, {{{in(-2, 2, {n, 3}), x({n, 3}, 2)}, SmoothL1Options{.beta = 0.5}}, {{x({n}), x({n})}, SmoothL1Options{.beta = -1}, "beta is -1, expected at least 0"}})
/// Weights of rows, of which some are 0; and weights that are refused.
namespace sample {
inline Input row_weights(std::size_t n) {
    auto t = between(0.25, 4, {n}, 5);
    for (std::size_t i = 2; i < n; i += 5) t(i) = 0;
    return held_fixed(holder(LoDTensor<double>(std::move(t))));
}
inline Input bad_weights(std::size_t n, double bad) {
    auto t = between(0.25, 4, {n}, 5);
    if (n > 3) t(3) = t(n - 1) = bad;
    return holder(LoDTensor<double>(std::move(t)));
}
}  // namespace sample
ROWAN_SAMPLES(weighted_binary_cross_entropy_op, {{{in(0.1, 0.9, {n, 3}), held_fixed(truth_values({n, 3})), row_weights(n)}, BinaryCrossEntropyOptions{.ignore_index = 1, .pos_weight = 3}}, {{in(0.1, 0.9, {n, 3}), held_fixed(in(0, 1, {n, 3}, 2)), row_weights(n)}, BinaryCrossEntropyOptions{.reduction = Reduction::none}}})
ROWAN_SAMPLES(weighted_binary_cross_entropy_with_epsilon_op, {{{in(0.1, 0.9, {n, 3}), held_fixed(in(0, 1, {n, 3}, 2)), row_weights(n)}, BinaryCrossEntropyWithEpsilonOptions{.pos_weight = 2}}})
ROWAN_SAMPLES(weighted_binary_cross_entropy_with_logits_op, {{{in(-3, 3, {n, 3}, 1), held_fixed(in(0, 1, {n, 3}, 2)), row_weights(n)}, BinaryCrossEntropyOptions{.pos_weight = 0.25}}, {{in(-3, 3, {n}), held_fixed(in(0, 1, {n}, 2)), row_weights(n)}, BinaryCrossEntropyOptions{.reduction = Reduction::sum}}, {{x({n, 3}), x({n, 3}), bad_weights(n, NAN)}, "", "weights[3] is nan, expected in [0, 1e150]"}, {{x({n, 3}), x({n, 3}), row_weights(n)}, BinaryCrossEntropyOptions{.pos_weight = NAN}, "pos_weight is nan, expected a finite number"}})
ROWAN_SAMPLES(weighted_cosine_embedding_op, {{{x({n}), held_fixed(signs(n)), row_weights(n)}, MarginOptions{.margin = 0.25}}})
ROWAN_SAMPLES(weighted_hinge_op, {{{in(-2, 2, {n, 3}), held_fixed(truth_values({n, 3})), row_weights(n)}, HingeOptions{.pos_weight = 2}}})
ROWAN_SAMPLES(weighted_huber_op, {{{in(-2, 2, {n, 3}), x({n, 3}, 2), row_weights(n)}, HuberOptions{.delta = 0.5}}, {{x({n}), x({n}), row_weights(n)}, HuberOptions{.delta = 0}, "delta is 0, expected a positive number"}})
ROWAN_SAMPLES(weighted_kl_div_op, {{{x({n, 3}), held_fixed(shares({n, 3}, 2)), row_weights(n)}}})
ROWAN_SAMPLES(weighted_margin_ranking_op, {{{x({n}), held_fixed(signs(n)), row_weights(n)}, MarginOptions{.margin = 0.25}}})
ROWAN_SAMPLES(weighted_mse_op, {{{x({n, 3}, one_level(n)), x({n, 3}, one_level(n), 2), row_weights(n)}}, {{x({n, 3}), x({n, 3}, 2), row_weights(n)}, LossOptions{.reduction = Reduction::none}}, {{x({n, 3}), x({n, 3}), bad_weights(n, -1)}, "", "weights[3] is -1, expected in [0, 1e150]"}, {{x({n, 3}), x({n, 3}), bad_weights(n + 1, -1)}, "weighted_mse: weights.shape(0) is 7, expected 6", "weights.shape() is [7], expected [6], one for each row of x"}, {{x({n, 3}), x({n, 3}), x({n, 1})}, "weighted_mse: weights rank is 2, expected 1, a weight for each row of x", "weights.shape() is [6, 1], expected [6], one for each row of x"}, {{x({}), x({}), x({1})}, "weighted_mse: x rank is 0, expected at least 1", "x rank is 0, expected at least 1"}, {{x({n, 3}), x({n, 4}), row_weights(n)}, "weighted_mse: y.shape(1) is 4, expected 3", "y.shape() is [6, 4], expected [6, 3]"}})
ROWAN_SAMPLES(weighted_smooth_l1_op, {{{in(-2, 2, {n, 3}), x({n, 3}, 2), row_weights(n)}, SmoothL1Options{.beta = 0.5}}})
ROWAN_SAMPLES(cross_entropy_op, {{{x({n, 3}), ids(3, n)}, CrossEntropyOptions{.ignore_index = 1, .weights = {1, 2, 3}}}, {{x({n, 3}), ids(3, n)}, CrossEntropyOptions{.reduction = Reduction::sum}}, {{x({3, n}), ids(3, n)}, CrossEntropyOptions{.ignore_index = 1, .axis = 0, .weights = {1.5, 3, 0.25}}}, {{x({2, 3, n}), holder(LoDTensor<std::int64_t>(numbers_below(3, 2 * n).reshaped({2, n})))}, CrossEntropyOptions{.reduction = Reduction::none, .axis = 1}}, {{x({n, 3}), held_fixed(shares({n, 3}, 2))}}, {{x({n, 3}), ids(3, n)}, CrossEntropyOptions{.weights = {1, 2}}, "weights.size() is 2, expected 3, one for each class"}, {{x({n, 3}), ids(5, n)}, "", "label[2] = 4 is not in [0, 3)"}, {{x({n, 3}), list({0, 1, -1, 0, 1, 0})}, "", "label[2] = -1 is not in [0, 3)"}, {{x({n}), ids(3, n)}, "cross_entropy: x rank is 1, expected at least 2"}})
ROWAN_SAMPLES(cross_entropy_of_probabilities_op, {{{shares({n, 3}), ids(3, n)}, CrossEntropyOptions{.ignore_index = 1, .weights = {1, 2, 3}}}, {{shares({n, 3}), held_fixed(shares({n, 3}, 2))}, CrossEntropyOptions{.reduction = Reduction::sum}}, {{shares({n, 3}), ids(3, n)}, CrossEntropyOptions{.axis = 2}, "axis = 2 is not in [-2, 2)"}, {{shares({n, 2}), ids(3, n)}, "", "label[4] = 2 is not in [0, 2)"}, {{shares({n, 2}), list({0, 1, -1, 0, 1, 0})}, "", "label[2] = -1 is not in [0, 2)"}, {{shares({n, 3}), ids(3, n + 1)}, "cross_entropy_of_probabilities: label.shape(0) is 7, expected 6", "label.shape(0) is 7, expected 6, the number of rows"}, {{shares({n, 3}), shares({n, 2})}, "cross_entropy_of_probabilities: label.shape(1) is 2, expected 3", "label.shape() is [6, 2], expected [6, 3]"}, {{shares({n, 2}), shares({n, 2})}, CrossEntropyOptions{.weights = {1}}, "weights.size() is 1, expected 2, one for each class"}})
ROWAN_SAMPLES(linear_chain_crf_op, {{{x({n, 3}, two_levels(n)), x({5, 3}, 2), ids(3, n)}}, {{x({n, 1}, one_level(n)), x({3, 1}, 2), ids(1, n)}}, {{x({n, 9}, one_level(n)), x({11, 9}, 2), ids(9, n)}}, {{x({n, 3}, one_level(n)), x({3, 3}), ids(3, n)}, "crf: w.shape(0) is 3, expected 5", "transition.shape() is [3, 3], expected [5, 3]"}, {{x({n, 3}), x({5, 3}), ids(3, n)}, "crf: x.lod().levels() is 0, expected at least 1", "emission.lod().levels() is 0, expected at least 1"}, {{x({n, 3}, one_level(n)), x({5, 3}), ids(5, n)}, "", "label[2] = 4 is not in [0, 3)"}, {{x({n, 3}, one_level(n)), x({5, 3}), ids(3, n, Lod{{0, static_cast<std::int64_t>(n)}})}, "", "label.lod() is other levels, expected those of emission, or none"}, {{x({n, 3}, one_level(n)), x({5, 3}), ids(3, n, two_levels(n))}, "crf: label.lod().levels() is 2, expected 1", "label.lod() is other levels, expected those of emission, or none"}})
ROWAN_SAMPLES(crf_decoding_op, {{{x({n, 3}, one_level(n)), x({5, 3}, 2)}}, {{x({n, 3}, one_level(n)), x({3, 3})}, "crf: w.shape(0) is 3, expected 5", "transition.shape() is [3, 3], expected [5, 3]"}, {{x({n, 3}), x({5, 3})}, "crf: x.lod().levels() is 0, expected at least 1", "emission.lod().levels() is 0, expected at least 1"}})
ROWAN_SAMPLES(crf_matches_op, {{{x({n, 3}, one_level(n)), x({5, 3}, 2), ids(3, n)}}})

// ---- shapes
ROWAN_SAMPLES(concat_op, {{{x({n, 2}), x({n, 3}, 2)}, ConcatOptions{.axis = -1}}, {{x({n, 2}, one_level(n)), x({n, 2}, one_level(n), 2)}}, {{x({n}), x({n})}, ConcatOptions{.axis = 1}, "axis = 1 is not in [-1, 1)"}, {{x({n, 2}), x({n, 3})}, "concat: x[1].shape(1) is 3, expected 2", "x[1].shape(1) is 3, expected 2, that of x[0]"}, {{x({n, 2}), x({n})}, "concat: x[1] rank is 1, expected that of the first", "x[1] rank is 1, expected 2, that of x[0]"}})
ROWAN_SAMPLES(one_hot_op, {{{ids(4, n)}, OneHotOptions{.depth = 4}}, {{ids(4, n)}, OneHotOptions{.depth = -1}, "depth is -1, expected 0 or more"}, {{ids(5, n)}, OneHotOptions{.depth = 4}, "", "ids[2] = 4 is not in [0, 4)"}})
ROWAN_SAMPLES(reshape_op, {{{x({n, 3, 2})}, ReshapeOptions{.shape = {0, -1}}}, {{x({n, 3})}, ReshapeOptions{.shape = {-1, -1}}, "shape is [-1, -1], expected dims of 0 or more, and at most one -1"}, {{x({n, 3})}, ReshapeOptions{.shape = {4, -1}}, "shape is [4, -1], expected a shape for the elements of [6, 3]"}})
ROWAN_SAMPLES(shape_op, {{{x({n, 3})}}})
ROWAN_SAMPLES(split_op, {{{x({n, 6})}, split_op::attributes{.sections = {1, 2, 3}, .axis = 1}}, {{x({n, 3})}, split_op::attributes{.sections = {1}, .axis = 1}, "sum of sections is 1, expected 3"}, {{x({n, 3})}, split_op::attributes{.sections = {4, -1}, .axis = 1}, "sections[0] is 4, expected at most 3, what is left of the axis"}, {{x({n, 3})}, split_op::attributes{.sections = {2}, .axis = -3}, "axis = -3 is not in [-2, 2)"}})
ROWAN_SAMPLES(squeeze_op, {{{x({n, 1, 3, 1})}, SqueezeOptions{.axes = {-1}}}, {{x({n, 1, 3, 1})}}, {{x({n, 3})}, SqueezeOptions{.axes = {2}}, "axes[0] = 2 is not in [-2, 2)"}, {{x({n, 3})}, SqueezeOptions{.axes = {1}}, "squeeze: x.shape(1) is 3, expected 1"}})
ROWAN_SAMPLES(unsqueeze_op, {{{x({n, 3})}, SqueezeOptions{.axes = {0, -1}}}, {{x({n})}, SqueezeOptions{.axes = {2}}, "axes[0] = 2 is not in [-2, 2)"}})
ROWAN_SAMPLES(stack_op, {{{x({n, 3}), x({n, 3}, 2)}, StackOptions{.axis = -1}}, {{x({n, 3}), x({n, 3}, 2)}}, {{x({n})}, StackOptions{.axis = 2}, "axis = 2 is not in [-2, 2)"}, {{x({n, 3}), x({n + 1, 3})}, "stack: x[1].shape(0) is 7, expected 6", "x[1].shape() is [7, 3], expected [6, 3], that of x[0]"}, {{x({n, 3}), x({n})}, "stack: x[1] rank is 1, expected the rank of the other input", "x[1].shape() is [6], expected [6, 3], that of x[0]"}})
ROWAN_SAMPLES(transpose_op, {{{x({n, 3})}}, {{x({n, 3, 2})}, TransposeOptions{.perm = {1, 0, 2}}}, {{x({n, 3})}, TransposeOptions{.perm = {0, 0}}, "perm is [0, 0], expected each of the 2 axes of x once"}})

// ---- tables
ROWAN_SAMPLES(lookup_table_op, {{{x({7, 3}), ids(7, n)}, LookupOptions{.padding_id = 2}}, {{x({7, 3}), ids(7, n, one_level(n))}}, {{x({7, 3}), ids(9, n)}, LookupOptions{.unknown = 1}}, {{x({7, 3}), ids(7, n)}, LookupOptions{.padding_id = 7}, "padding_id = 7 is not in [0, 7)"}, {{x({7, 3}), ids(9, n)}, "", "ids[4] = 8 is not in [0, 7)"}, {{x({7, 3}), list({0, 1, -1, 7})}, "", "ids[2] = -1 is not in [0, 7)"}, {{x({}), ids(7, n)}, "lookup_table: w rank is 0, expected at least 1", "table rank is 0, expected at least 1"}})
ROWAN_SAMPLES(embedding_bag_op, {{{x({7, 3}), ids(7, n, one_level(n))}, BagOptions{.pool = Pooling::mean, .padding_id = 2}}, {{x({7, 3}), ids(7, n, two_levels(n))}, BagOptions{.pool = Pooling::max}}, {{x({7, 3}), ids(9, n, one_level(n))}, BagOptions{.pool = Pooling::sqrt, .unknown = 1}}, {{x({7, 3}), ids(7, n, one_level(n))}}, {{x({7, 3}), ids(7, n, one_level(n))}, BagOptions{.pool = Pooling::first}, "pool is 5, expected one of sum, mean, sqrt, max"}, {{x({7, 3}), ids(9, n, one_level(n))}, "", "ids[4] = 8 is not in [0, 7)"}, {{x({7, 3}), ids(7, n)}, "embedding_bag: ids.lod().levels() is 0, expected at least 1"}, {{x({}), ids(7, n, one_level(n))}, "embedding_bag: w rank is 0, expected at least 1", "table rank is 0, expected at least 1"}})
ROWAN_SAMPLES(weighted_embedding_bag_op, {{{x({7, 3}), ids(7, n, one_level(n)), in(0.5, 2, {n})}, BagOptions{.pool = Pooling::sqrt}}, {{x({7, 3}), ids(7, n, one_level(n)), x({n}, 2)}}, {{x({7, 3}), ids(7, n, one_level(n)), x({n}, 2)}, BagOptions{.pool = Pooling::max, .padding_id = 2}}, {{x({7, 3}), ids(7, n, one_level(n)), x({n}, 2)}, BagOptions{.pool = Pooling::mean}}, {{x({7, 3}), ids(7, n, one_level(n)), x({n + 1})}, "weighted_embedding_bag: weight.shape(0) is 7, expected 6", "weight.shape() is [7], expected [6]"}, {{x({7, 3}), ids(7, n, one_level(n)), x({n, 1})}, "weighted_embedding_bag: weight rank is 2, expected the rank of the other input", "weight.shape() is [6, 1], expected [6]"}})
ROWAN_SAMPLES(embedding_bags_op, {{{x({7, 3}), x({5, 2}, 2), bags(5, n)}, BagsOptions{.pool = Pooling::mean}}, {{x({7, 3}), bags(7, n)}}, {{x({7, 2, 2}), x({7, 1}, 2), x({9}, 3), bags(7, n, 3)}, BagsOptions{.pool = Pooling::max}}, {{x({7, 3}), x({5, 2}, 2), bags(5, n)}, BagsOptions{.pool = Pooling::sqrt}}, {{x({7, 3}), bags(7, n)}, BagsOptions{.pool = Pooling::last}, "pool is 6, expected one of sum, mean, sqrt, max"}, {{x({7, 3}), x({5, 2}), bags(9, n)}, "", "ids[4] = 8 is not in [0, 5)"}, {{x({7, 3}), x({5, 2}), ids(5, n)}, "embedding_bags: ids.lod().levels() is 0, expected 1", "ids.lod().levels() is 0, expected at least 1"}, {{x({7, 3}), ids(5, n, two_levels(n))}, "embedding_bags: ids.lod().levels() is 2, expected 1", "ids levels is 2, expected 1"}, {{x({7, 3}), x({}), bags(5, n)}, "embedding_bags: w[1] rank is 0, expected at least 1", "table rank is 0, expected at least 1"}})
ROWAN_SAMPLES(weighted_embedding_bags_op, {{{x({7, 3}), x({5, 2}, 2), bags(5, n), in(0.5, 2, {n}, 3)}, BagsOptions{.pool = Pooling::sqrt}}, {{x({7, 3}), bags(7, n, 1), x({n}, 2)}}, {{x({7, 2}), x({9}, 3), bags(7, n), x({n}, 2)}, BagsOptions{.pool = Pooling::max}}, {{x({7, 3}), x({5, 2}, 2), bags(5, n), in(0.5, 2, {n}, 3)}, BagsOptions{.pool = Pooling::mean}}, {{x({7, 3}), bags(7, n), x({n + 1})}, "weighted_embedding_bags: weight.shape(0) is 7, expected 6", "weight.shape() is [7], expected [6]"}, {{x({7, 3}), bags(7, n), x({n, 1})}, "weighted_embedding_bags: weight rank is 2, expected the rank of the other input", "weight.shape() is [6, 1], expected [6]"}})
ROWAN_SAMPLES(hash_rows_op, {{{bags(1000, n)}, HashRowsOptions{.heights = {7, 5}, .seed = 3}}, {{ids(1000, n)}, HashRowsOptions{.heights = {11}}}, {{ids(1000, n)}, "heights.size() is 0, expected 1 or more"}, {{ids(1000, n)}, HashRowsOptions{.heights = {3, 0}}, "heights[1] is 0, expected 1 or more"}, {{ids(1000, n)}, HashRowsOptions{.heights = {3, 4}}, "hash_rows: ids.lod().levels() is 0, expected 1", "ids levels is 0, expected 1"}})
ROWAN_SAMPLES(to_dense_op, {{{sparse(n)}}})

// ---- sequences
ROWAN_SAMPLES(drop_levels_op, {{{x({n, 3}, two_levels(n))}, DropLevelsOptions{.levels = 1}}, {{x({n, 3}, two_levels(n))}}, {{x({n, 3}, one_level(n))}, DropLevelsOptions{.levels = 2}, "drop_levels: levels is 2, expected in [0, 1], as x has 1 levels"}})
ROWAN_SAMPLES(edit_distance_op, {{{ids(5, n, one_level(n)), ids(4, n, one_level(n))}, EditDistanceOptions{.normalized = true}}, {{ids(5, n, one_level(n)), holder(LoDTensor<std::int64_t>(numbers_below(5, 2 * n).reshaped({n, 2}), one_level(n)))}, "edit_distance: y.row_size() is 2, expected 1"}, {{ids(5, n, one_level(n)), ids(5, n + 4, one_level(n + 4))}, "", "the number of sequences of y is 8, expected 4"}, {{ids(5, n), ids(5, n, one_level(n))}, "edit_distance: x.lod().levels() is 0, expected at least 1"}, {{ids(5, n, one_level(n)), ids(5, n, two_levels(n))}, "edit_distance: y.lod().levels() is 2, expected 1"}})
ROWAN_SAMPLES(expand_rows_op, {{{x({3}), held_fixed(x({n, 3}, one_level(n), 2))}}, {{x({4}), x({n, 3})}, "expand_rows: a dim of y is 3, expected 4", "row.shape() is [4], expected that of the rows of like, [6, 3]"}, {{x({3}), x({})}, "expand_rows: y rank is 0, expected one more than that of x", "like rank is 0, expected at least 1"}})
ROWAN_SAMPLES(interleave_rows_op, {{{branches(n), x({n / 2, 3}), x({n - n / 2, 3}, 2)}}})
ROWAN_SAMPLES(nonzero_rows_op, {{{branches(n), x({n, 3})}}, {{branches(n), x({n, 3})}, RowsWhereOptions{.value = 0}}, {{branches(n), x({n, 3})}, RowsWhereOptions{.value = 2}, "value is 2, expected 0 or 1"}})
ROWAN_SAMPLES(lod_from_offsets_op, {{{x({n, 3}), list(offsets(n))}}})
ROWAN_SAMPLES(lod_reset_op, {{{x({n, 3}), x({n}, two_levels(n))}}})
ROWAN_SAMPLES(pick_sequences_op, {{{x({n, 3}, two_levels(n)), list(n < 2 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{1, 0, 1})}}, {{x({n, 3}), ids(static_cast<std::int64_t>(n), n)}}, {{x({n, 3}, one_level(n)), list({2, 4})}, "", "ids[1] = 4 is not in [0, 4)"}, {{x({n, 3}), list({-1})}, "", "ids[0] = -1 is not in [0, 6)"}})
ROWAN_SAMPLES(reorder_op, {{{x({n, 3}, one_level(n)), x({n}, one_level(n))}}, {{x({n, 3}, one_level(n)), x({n}, one_level(n))}, ReorderOptions{.restore = true}}, {{x({n, 3}, two_levels(n)), x({n}, two_levels(n))}, ReorderOptions{.level = 0, .restore = true}}, {{x({n, 3}), x({n}, one_level(n))}, ReorderOptions{.level = 1}, "reorder: level = 1 is not in [0, 1)"}, {{x({n, 3}), x({n}, one_level(n))}, "", "x.size() is 6, expected 4, the number of sequences of y"}, {{x({n, 3}), x({n})}, "reorder: y.lod().levels() is 0, expected at least 1"}})
ROWAN_SAMPLES(shrink_op, {{{x({sequences(n), 3}), x({n}, one_level(n)), list({1})}}, {{x({n, 3}, one_level(n)), x({n}, one_level(n)), list({0})}}, {{x({sequences(n), 3}), x({n}, one_level(n)), list({3})}}, {{x({sequences(n), 3}), x({n}, one_level(n)), list({1})}, ShrinkOptions{.level = 1}, "shrink: level = 1 is not in [0, 1)"}, {{x({n, 3}), x({n}, one_level(n)), list({1})}, "", "x.size() is 6, expected in [2, 4], from the number of sequences of y with a step 1 to that of all"}, {{x({sequences(n), 3}), x({n}, one_level(n)), list({0, 1})}, "shrink: index.shape(0) is 2, expected 1", "index.size() is 2, expected 1"}, {{x({sequences(n), 3}), x({n}, one_level(n)), list({-1})}, "", "index = -1 is not in [0, 9223372036854775807)"}, {{x({sequences(n), 3}), x({n}), list({0})}, "shrink: y.lod().levels() is 0, expected at least 1"}})
ROWAN_SAMPLES(sequence_attention_op, {{{x({n, 4}, one_level(n)), x({n, 4}, one_level(n), 2), x({n, 6}, one_level(n), 3)}, SequenceAttentionOptions{.heads = 2, .causal = true}}, {{x({n, 4}, one_level(n)), x({n, 4}, one_level(n), 2), x({n, 3}, one_level(n), 3)}, SequenceAttentionOptions{.scale = 0.5}}, {{x({n, 4}, one_level(n)), x({n, 4}, one_level(n)), x({n, 4}, one_level(n))}, SequenceAttentionOptions{.heads = 3}, "sequence_attention: query.shape(1) is 4, expected a multiple of heads, 3"}, {{x({n, 4}), x({n, 4}, one_level(n)), x({n, 4}, one_level(n))}, "sequence_attention: query.lod().levels() is 0, expected at least 1"}, {{x({n, 4}, one_level(n)), x({n, 3}, one_level(n)), x({n, 4}, one_level(n))}, "sequence_attention: key is 3, expected 4", "key.shape() is [6, 3], expected [6, 4]"}})
ROWAN_SAMPLES(sequence_concat_op, {{{x({n, 3}, two_levels(n)), x({n, 3}, two_levels(n), 2)}}, {{x({n, 3}, two_levels(n)), x({n, 3}, two_levels(n), 2)}, SequenceConcatOptions{.level = 0}}, {{x({n}, one_level(n))}, SequenceConcatOptions{.level = 1}, "sequence_concat: level = 1 is not in [0, 1)"}, {{x({n}, one_level(n)), x({n}, one_level(n)), x({n + 4}, one_level(n + 4))}, "", "x[2].lod().sequences(0) is 8, expected 4, as in x[0]"}, {{x({n}, one_level(n)), x({n}, one_level(n)), x({n}, two_levels(n))}, "sequence_concat: x[2].lod().levels() is 2, expected 1", "x[2].lod().levels() is 2, expected 1, as in x[0]"}, {{x({n}, one_level(n)), x({n})}, "sequence_concat: x[1].lod().levels() is 0, expected 1", "x[1].lod().levels() is 0, expected 1, as in x[0]"}, {{x({n, 3}, one_level(n)), x({n, 2}, one_level(n))}, "sequence_concat: x[1].shape(1) is 2, expected 3", "x[1].shape() is [6, 2], expected [6, 3]"}})
ROWAN_SAMPLES(sequence_context_op, {{{x({n, 3}, one_level(n))}, SequenceContextOptions{.start = -1, .length = 3, .pad_value = 2}}, {{x({n}, two_levels(n))}, SequenceContextOptions{.start = -3, .length = 7}}, {{x({n, 2}, one_level(n))}, SequenceContextOptions{.start = 1, .length = 2}}, {{x({n, 2}, one_level(n))}, SequenceContextOptions{.start = -4, .length = 2}}, {{x({n}, one_level(n))}, SequenceContextOptions{.length = 0}, "sequence_context: length is 0, expected in [1, 2^31)"}, {{x({n, 2})}, SequenceContextOptions{.length = 2}, "sequence_context: x.lod().levels() is 0, expected at least 1"}})
ROWAN_SAMPLES(padded_sequence_context_op, {{{x({n, 3}, one_level(n)), x({2, 3}, 2)}, SequenceContextOptions{.start = -1, .length = 3}}, {{x({n, 2}, two_levels(n)), x({6, 2}, 2)}, SequenceContextOptions{.start = -3, .length = 7}}, {{x({n, 2}, one_level(n)), x({2, 2}, 2)}, SequenceContextOptions{.start = 1, .length = 2}}, {{x({n, 2}, one_level(n)), x({1, 2})}, SequenceContextOptions{.start = -1, .length = 3}, "sequence_context: padding.shape(0) is 1, expected 2", "padding.shape(0) is 1, expected 2"}})
ROWAN_SAMPLES(sequence_erase_op, {{{ids(5, n, one_level(n))}, SequenceEraseOptions{.tokens = {0, 2}}}, {{holder(LoDTensor<std::int64_t>(numbers_below(5, 2 * n).reshaped({n, 2}), one_level(n)))}, "sequence_erase: x.row_size() is 2, expected 1"}, {{ids(5, n)}, "sequence_erase: x.lod().levels() is 0, expected at least 1"}})
ROWAN_SAMPLES(sequence_expand_op, {{{x({sequences(n), 3}), x({n}, one_level(n))}}, {{x({sequences(sequences(n)), 3}), x({n}, two_levels(n))}, SequenceExpandOptions{.level = 0}}, {{x({n}), x({n}, one_level(n))}, SequenceExpandOptions{.level = 1}, "sequence_expand: level = 1 is not in [0, 1)"}, {{x({n, 3}), x({n}, one_level(n))}, "", "x.size() is 6, expected 4, the number of sequences of level 0"}, {{x({n}), x({n})}, "sequence_expand: y.lod().levels() is 0, expected at least 1", "lod.levels() is 0, expected at least 1"}, {{x({sequences(n), 3}, one_level(sequences(n))), x({n}, one_level(n))}, "", "x.size() is 3, expected 4, the number of sequences of level 0: x has 1 level, so its 3 sequences count, not its 4 rows: use drop_levels"}})
ROWAN_SAMPLES(sequence_mask_op, {{{lengths(n)}}, {{lengths(n)}, SequenceMaskOptions{.max_length = 2}}, {{list({1, -1, 2})}, "", "lengths[1] = -1 is not in [0, 9223372036854775807)"}})
ROWAN_SAMPLES(sequence_pad_op, {{{x({n, 3}, two_levels(n))}, SequencePadOptions{.pad_value = 2, .length = 4}}, {{x({n, 2}, one_level(n))}, SequencePadOptions{.pad_values = {1, 2}}}, {{x({n, 2}, one_level(n))}, SequencePadOptions{.pad_values = {1}}, "pad_values.size() is 1, expected 2, one for each column"}, {{x({n, 2})}, "sequence_pad: x.lod().levels() is 0, expected at least 1"}, {{x({n, 2}, one_level(n))}, SequencePadOptions{.length = 1}, "", "lengths[0] is 1, expected at least 3, the longest sequence of the level"}})
ROWAN_SAMPLES(sequence_pool_op, {{{x({n, 3}, two_levels(n))}, SequencePoolOptions{.pool = Pooling::sqrt, .pad_value = 0.5}}, {{x({n, 3}, one_level(n))}, SequencePoolOptions{.pool = Pooling::max}}, {{x({n, 3}, one_level(n))}, SequencePoolOptions{.pool = Pooling::min}}, {{x({n}, one_level(n))}, SequencePoolOptions{.pool = Pooling::mean}}, {{x({n, 3}, one_level(n))}, SequencePoolOptions{.pool = Pooling::first}}, {{x({n, 3}, one_level(n))}, SequencePoolOptions{.pool = Pooling::last}}, {{x({n, 3}, one_level(n))}}, {{x({n, 3})}, "sequence_pool: x.lod().levels() is 0, expected at least 1"}})
ROWAN_SAMPLES(sequence_reshape_op, {{{x({n, 6}, one_level(n))}, SequenceReshapeOptions{.width = 2}}, {{x({n, 6}, one_level(n))}, SequenceReshapeOptions{.width = 0}, "sequence_reshape: width is 0, expected 1 or more"}, {{x({n, 6})}, SequenceReshapeOptions{.width = 2}, "sequence_reshape: x.lod().levels() is 0, expected at least 1"}, {{x({n, 2}, one_level(n))}, SequenceReshapeOptions{.width = 3}, "", "elements of sequence 0 is 4, expected a multiple of 3"}})
ROWAN_SAMPLES(sequence_reverse_op, {{{x({n, 3}, two_levels(n))}}, {{x({n, 3})}, "sequence_reverse: x.lod().levels() is 0, expected at least 1"}})
ROWAN_SAMPLES(sequence_scatter_op, {{{x({sequences(n), 4}), ids(4, n, one_level(n)), x({n}, 2)}}, {{x({sequences(n), 4, 2}, one_level(sequences(n))), ids(4, n, one_level(n)), x({n, 2}, 2)}}, {{x({n, 4}), ids(4, n, one_level(n)), x({n})}, "", "x.shape(0) is 6, expected 4, the number of sequences of ids"}, {{x({sequences(n), 4}), ids(5, n, one_level(n)), x({n})}, "", "ids[2] = 4 is not in [0, 4)"}, {{x({sequences(n), 4}), ids(4, n, one_level(n)), x({n + 1})}, "sequence_scatter: updates.shape(0) is 7, expected 6"}, {{x({sequences(n)}), ids(4, n, one_level(n)), x({n})}, "sequence_scatter: x rank is 1, expected at least 2"}, {{x({sequences(n), 4}), ids(4, n), x({n})}, "sequence_scatter: ids.lod().levels() is 0, expected at least 1"}, {{x({sequences(n), 4}), ids(4, n, one_level(n)), x({n, 1})}, "sequence_scatter: updates rank is 2, expected the rank of the other input", "updates.shape() is [6, 1], expected [6]"}})
ROWAN_SAMPLES(sequence_slice_op, {{{x({n, 3}, one_level(n)), lengths(n, 0), lengths(n)}}, {{x({n, 3}, two_levels(n)), lengths(n), lengths(n, 0)}}, {{x({n, 3}, one_level(n)), list({0, -1, 0, 0}), list({1, 0, 1, 1})}, "", "offset[1] = -1 is not in [0, 1)"}, {{x({n, 3}, one_level(n)), list({0, 0, 3, 0}), list({1, 0, 3, 1})}, "", "length[2] = 3 is not in [0, 1)"}, {{x({n, 3}, one_level(n)), list({2, 0, 0, 0}), list({1, 0, 1, 1})}, "", "length[0] = 1 is not in [0, 1)"}, {{x({n, 3}, one_level(n)), list({0, 0, 0, 0}), list({1, 0, -1, 1})}, "", "length[2] = -1 is not in [0, 4)"}, {{x({n, 3}, one_level(n)), list({0, 0}), list({0, 0, 0, 0})}, "sequence_slice: length.shape(0) is 4, expected 2", "offset.size() is 2, expected 4, the number of sequences"}, {{x({n, 3}, one_level(n)), list({0, 0, 0, 0}), list({0, 0})}, "sequence_slice: length.shape(0) is 2, expected 4", "length.size() is 2, expected 4, the number of sequences"}})
ROWAN_SAMPLES(sequence_softmax_op, {{{x({n, 3}, one_level(n))}}, {{x({n}, two_levels(n))}}, {{x({n, 3})}, "sequence_softmax: x.lod().levels() is 0, expected at least 1"}})
ROWAN_SAMPLES(sequence_top_k_mean_op, {{{x({n, 3}, two_levels(n))}, SequenceTopKMeanOptions{.ks = {2, 1}}}, {{x({n, 2, 2}, one_level(n))}, SequenceTopKMeanOptions{.ks = {2, 1, 5}}}, {{x({n, 3}, one_level(n))}, SequenceTopKMeanOptions{.ks = {2, -1}}, "sequence_top_k_mean: ks[1] is -1, expected 1 or more"}, {{x({n, 3})}, SequenceTopKMeanOptions{.ks = {1}}, "sequence_top_k_mean: x.lod().levels() is 0, expected at least 1"}, {{x({n, 3}, one_level(n))}, "sequence_top_k_mean: ks.size() is 0, expected at least 1"}})
ROWAN_SAMPLES(sequence_unpad_op, {{{x({sequences(n), 3, 2}), lengths(n)}}, {{x({n, 3}, one_level(n)), ids(4, n)}}, {{x({4, 3, 2}), list({2, 0, 4, 1})}, "", "padded.shape(1) is 3, expected at least 4, the length of sequence 2 of level 0"}, {{x({4, 3, 2}), list({2, 0, -1, 1})}, "", "lod[0][2] = -1 is negative, expected a length"}, {{x({4, 3, 2}), list({2, 0, 1})}, "sequence_unpad: length.shape(0) is 3, expected 4", "padded.shape(0) is 4, expected 3"}, {{x({4}), list({1, 1, 1, 1})}, "sequence_unpad: x rank is 1, expected at least 2", "padded rank is 1, expected at least 2"}})
ROWAN_SAMPLES(beam_search_op, {{{ids(9, n, one_level(n)), x({sequences(n), 4}, one_level(sequences(n))), x({sequences(n)}, 2)}, BeamSearchOptions{.beam_size = 2, .end_id = 3}}, {{ids(9, n, one_level(n)), x({sequences(n), 4}, one_level(sequences(n))), x({sequences(n)}, 2)}, BeamSearchOptions{.beam_size = 0}, "beam_size is 0, expected 1 or more"}})
ROWAN_SAMPLES(beam_search_decode_op, {{{ids(9, n, one_level(n)), x({sequences(n)}, one_level(sequences(n)))}}})

// ---- steps of recurrent nets
ROWAN_SAMPLES(gru_unit_op, {{{x({up_to(45'000, n), 6}), x({up_to(45'000, n), 2}, 2), x({2, 6}, 3), x({6}, 4)}}, {{x({n, 12}), x({n, 4}, 2), x({4, 12}, 3), x({12}, 4)}}, {{x({n, 4}), x({n, 2}), x({2, 6}), x({6})}, "cell: x.shape(1) is 4, expected 6", "x.shape(1) is 4, expected 6, the gates times the width of h_prev"}})
ROWAN_SAMPLES(lstm_unit_op, {{{x({up_to(34'000, n), 8}), x({up_to(34'000, n), 2}, 2), x({up_to(34'000, n), 2}, 3), x({2, 8}, 4), x({8}, 5)}}, {{x({n, 16}), x({n, 4}, 2), x({n, 4}, 3), x({4, 16}, 4), x({16}, 5)}}, {{x({n, 6}), x({n, 2}), x({n, 2}), x({2, 8}), x({8})}, "cell: x.shape(1) is 6, expected 8", "x.shape(1) is 6, expected 8, the gates times the width of h_prev"}})

// ---- optimizers
ROWAN_SAMPLES(sgd_op, {{{x({n, 3}), x({n, 3}, 2)}}, {{x({n, 3}), sparse(n)}}, {{x({n, 3}), x({n, 3})}, SgdOptions{.learning_rate = NAN}, "", "learning_rate is nan, expected a finite number"}, {{x({n, 3}), sparse(n + 1)}, "optimizer: the height of a state or the gradient is 7, expected 6", "param.shape(0) is 6, expected 7"}, {{x({n, 4}), sparse(n)}, "optimizer: grad.shape(1) is 3, expected 4", "param.shape() is [6, 4], expected [6, 3]"}, {{x({n, 3}), x({n + 1, 3})}, "optimizer: the height of a state or the gradient is 7, expected 6", "param.shape(0) is 6, expected 7"}})
ROWAN_SAMPLES(momentum_op, {{{x({n, 3}), x({n, 3}, 2), x({n, 3}, 3)}}, {{x({n, 3}), x({n, 3}, 2), sparse(n)}}, {{x({n, 3}), x({n, 3}), sparse(n)}, MomentumOptions{.momentum = NAN}, "", "momentum is nan, expected a finite number"}, {{x({n, 3}), x({n, 3}), sparse(n)}, MomentumOptions{.weight_decay = INFINITY}, "", "weight_decay is inf, expected a finite number"}, {{x({n, 3}), x({n + 1, 3}), sparse(n)}, "optimizer: the height of a state or the gradient is 7, expected 6", "velocity.shape() is [7, 3], expected [6, 3], the shape of param"}})
ROWAN_SAMPLES(adagrad_op, {{{x({n, 3}), in(0, 1, {n, 3}), x({n, 3}, 3)}}, {{x({n, 3}), in(0, 1, {n, 3}), sparse(n)}}, {{x({n, 3}), x({n, 3}), sparse(n)}, AdaGradOptions{.learning_rate = NAN}, "", "learning_rate is nan, expected a finite number"}, {{x({n, 3}), x({n, 3}), sparse(n)}, AdaGradOptions{.epsilon = -1}, "", "epsilon is -1, expected 0 or more"}, {{x({n, 3}), x({n, 3}), sparse(n)}, AdaGradOptions{.epsilon = INFINITY}, "", "epsilon is inf, expected a finite number"}, {{x({n, 3}), x({n, 4}), sparse(n)}, "", "moment.shape() is [6, 4], expected [6, 3], the shape of param"}, {{x({n, 3}), x({n, 3}), x({n + 1, 3})}, "optimizer: the height of a state or the gradient is 7, expected 6", "param.shape(0) is 6, expected 7"}})
ROWAN_SAMPLES(rowwise_adagrad_op, {{{x({n, 3}), in(0, 1, {n}), x({n, 3}, 3)}}, {{x({n, 3}), in(0, 1, {n}), sparse(n)}}, {{x({n, 3}), x({n, 3}), sparse(n)}, "", "moment rank is 2, expected 1: one number per row"}, {{x({n, 3}), x({n}), sparse(n)}, AdaGradOptions{.epsilon = -1}, "", "epsilon is -1, expected 0 or more"}})
ROWAN_SAMPLES(adam_op, {{{x({n, 3}), x({n, 3}, 2), in(0, 1, {n, 3}), x({n, 3}, 3)}}, {{x({n, 3}), x({n, 3}, 2), in(0, 1, {n, 3}), sparse(n)}}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, AdamOptions{.beta1 = 1}, "", "beta1 is 1, expected a number in [0, 1)"}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, AdamOptions{.beta2 = -0.1}, "", "beta2 is -0.1, expected a number in [0, 1)"}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, AdamOptions{.epsilon = -1}, "", "epsilon is -1, expected 0 or more"}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, AdamOptions{.weight_decay = INFINITY}, "", "weight_decay is inf, expected a finite number"}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, AdamOptions{.step = 0}, "", "step is 0, expected 1 or more"}, {{x({n, 3}), x({n, 3}), x({n, 4}), sparse(n)}, "", "moment2.shape() is [6, 4], expected [6, 3], the shape of param"}})
ROWAN_SAMPLES(adamax_op, {{{x({n, 3}), x({n, 3}, 2), in(0.1, 1, {n, 3}), x({n, 3}, 3)}}, {{x({n, 3}), x({n, 3}, 2), in(0.1, 1, {n, 3}), sparse(n)}}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, AdamaxOptions{.beta1 = NAN}, "", "beta1 is nan, expected a number in [0, 1)"}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, AdamaxOptions{.step = 0}, "", "step is 0, expected 1 or more"}, {{x({n, 3}), x({n, 3}), x({n, 4}), sparse(n)}, "", "norm.shape() is [6, 4], expected [6, 3], the shape of param"}})
ROWAN_SAMPLES(adadelta_op, {{{x({n, 3}), in(0, 1, {n, 3}), in(0, 1, {n, 3}, 2), x({n, 3}, 3)}}, {{x({n, 3}), in(0, 1, {n, 3}), in(0, 1, {n, 3}, 2), sparse(n)}}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, AdadeltaOptions{.rho = 1}, "", "rho is 1, expected a number in [0, 1)"}, {{x({n, 3}), x({n + 1, 3}), x({n, 3}), sparse(n)}, "optimizer: the height of a state or the gradient is 7, expected 6", "mean_square.shape() is [7, 3], expected [6, 3], the shape of param"}})
ROWAN_SAMPLES(lamb_op, {{{x({n, 3}), x({n, 3}, 2), in(0, 1, {n, 3}), x({n, 3}, 3)}}, {{x({n, 3}), x({n, 3}, 2), in(0, 1, {n, 3}), sparse(n)}}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, LambOptions{.weight_decay = INFINITY}, "", "weight_decay is inf, expected a finite number"}, {{x({n, 3}), x({n + 1, 3}), x({n, 3}), sparse(n)}, "optimizer: the height of a state or the gradient is 7, expected 6", "moment.shape() is [7, 3], expected [6, 3], the shape of param"}, {{x({n, 3}), x({n, 3}), x({n, 3}), x({n + 1, 3})}, "optimizer: the height of a state or the gradient is 7, expected 6", "param.shape(0) is 6, expected 7"}})
ROWAN_SAMPLES(rmsprop_op, {{{x({n, 3}), in(0, 1, {n, 3}), x({n, 3}, 2), x({n, 3}, 3)}}, {{x({n, 3}), in(0, 1, {n, 3}), x({n, 3}, 2), sparse(n)}}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, RmsPropOptions{.rho = 1}, "", "rho is 1, expected a number in [0, 1)"}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, RmsPropOptions{.epsilon = -1}, "", "epsilon is -1, expected 0 or more"}, {{x({n, 3}), x({n, 3}), x({n + 1, 3}), sparse(n)}, "optimizer: the height of a state or the gradient is 7, expected 6", "velocity.shape() is [7, 3], expected [6, 3], the shape of param"}})
ROWAN_SAMPLES(ftrl_op, {{{x({n, 3}), in(0.1, 1, {n, 3}), x({n, 3}, 2), x({n, 3}, 3)}}, {{x({n, 3}), in(0.1, 1, {n, 3}), x({n, 3}, 2), sparse(n)}}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, FtrlOptions{.learning_rate = 0}, "", "learning_rate is 0, expected a number other than 0"}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n)}, FtrlOptions{.lr_power = 1}, "", "lr_power is 1, expected a number in [-1, 0]"}, {{x({n, 3}), x({n, 3}), x({n, 3}), sparse(n + 1)}, "optimizer: the height of a state or the gradient is 7, expected 6", "param.shape(0) is 6, expected 7"}})
ROWAN_SAMPLES(moving_average_op, {{{x({n, 3}), x({n, 3}, 2)}}})
ROWAN_SAMPLES(clip_by_norm_op, {{{x({n, 3})}, ClipByNormOptions{.max_norm = 0.5}}, {{sparse(n)}, ClipByNormOptions{.max_norm = 0.5}}, {{x({n})}, ClipByNormOptions{.max_norm = -1}, "max_norm is -1, expected 0 or more"}, {{sparse(n)}, ClipByNormOptions{.max_norm = NAN}, "max_norm is nan, expected a finite number"}, {{x({})}, "", "x rank is 0, expected at least 1"}})
ROWAN_SAMPLES(clip_by_global_norm_op, {{{x({n, 3}), sparse(n)}, ClipByNormOptions{.max_norm = 0.5}}, {{x({n})}, ClipByNormOptions{.max_norm = -1}, "max_norm is -1, expected 0 or more"}, {{x({n}), sparse(n)}, ClipByNormOptions{.max_norm = INFINITY}, "max_norm is inf, expected a finite number"}, {{x({n, 3}), x({}), sparse(n)}, "", "x[1] rank is 0, expected at least 1"}})

#undef ROWAN_SAMPLES

}  // namespace test
