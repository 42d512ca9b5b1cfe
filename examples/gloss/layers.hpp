// gloss/layers.hpp: the bag classifier on the processor: mean of rows, fully connected layer, softmax, and gradients.
#pragma once

#include <rowan/sparse.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gloss {

using rowan::Tensor;

/// Copies a tensor from host to device, and from device to host. On the processor they return the argument.
inline Tensor<float> on_device(rowan::Cpu, Tensor<float> x) { return x; }
inline Tensor<float>& on_host(Tensor<float>& x) { return x; }
inline Tensor<float> const& on_host(Tensor<float> const& x) { return x; }

inline Tensor<float> zeros_like(rowan::Cpu, Tensor<float> const& x) { return Tensor<float>::zeros(x.shape()); }

/// The rows of a table. Reuses the memory of `out` if it suffices.
inline void rows_of(rowan::Cpu cpu, Tensor<float> const& table, std::span<std::int32_t const> ids, Tensor<float>& out) {
    out.resize({ids.size(), table.row_size()});
    rowan::gather_into(cpu, table, ids, out);
}

/// Row i of `out` becomes the mean of the rows offsets[i] up to offsets[i + 1] of `in`, zeros where there are none.
inline void mean_of_rows(rowan::Cpu, Tensor<float> const& in, std::span<std::size_t const> offsets, Tensor<float>& out) {
    std::size_t const width = in.row_size();
    out.resize({offsets.size() - 1, width});
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        float* const sum = out.data() + i * width;
        std::fill_n(sum, width, 0.0f);
        for (std::size_t k = offsets[i]; k < offsets[i + 1]; ++k) {
            float const* const row = in.data() + k * width;
            for (std::size_t d = 0; d < width; ++d) sum[d] += row[d];
        }
        float const factor = 1.0f / static_cast<float>(std::max<std::size_t>(offsets[i + 1] - offsets[i], 1));
        for (std::size_t d = 0; d < width; ++d) sum[d] *= factor;
    }
}

/// The gradient of mean_of_rows: each of the rows gets its share of row i of `grad_out`.
inline void mean_of_rows_grad(rowan::Cpu, Tensor<float> const&, Tensor<float> const& grad_out,
                              std::span<std::size_t const> offsets, Tensor<float>& grad_in) {
    std::size_t const width = grad_out.row_size();
    grad_in.resize({offsets.back(), width});
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        float const* const grad = grad_out.data() + i * width;
        float const factor = 1.0f / static_cast<float>(std::max<std::size_t>(offsets[i + 1] - offsets[i], 1));
        for (std::size_t k = offsets[i]; k < offsets[i + 1]; ++k) {
            float* const row = grad_in.data() + k * width;
            for (std::size_t d = 0; d < width; ++d) row[d] = factor * grad[d];
        }
    }
}

/// out[rows, columns] += a * b[depth, columns], where a(i, k) = a[i * row_step + k * depth_step], so that `a` can be
/// transposed. Always sums in the same order, four products at a time, in loops that compilers vectorize.
inline void add_product(std::size_t depth, float const* a, std::size_t row_step, std::size_t depth_step, float const* b,
                        Tensor<float>& out) {
    std::size_t const columns = out.row_size();
    for (std::size_t i = 0; i < out.shape(0); ++i) {
        float* const sum = out.data() + i * columns;
        auto const factor = [&](std::size_t k) { return a[i * row_step + k * depth_step]; };
        std::size_t k = 0;
        for (; k + 4 <= depth; k += 4) {
            float const a0 = factor(k), a1 = factor(k + 1), a2 = factor(k + 2), a3 = factor(k + 3);
            float const* const b0 = b + k * columns;
            float const* const b1 = b0 + columns;
            float const* const b2 = b1 + columns;
            float const* const b3 = b2 + columns;
            for (std::size_t j = 0; j < columns; ++j) {
                sum[j] += (a0 * b0[j] + a1 * b1[j]) + (a2 * b2[j] + a3 * b3[j]);
            }
        }
        for (; k < depth; ++k) {
            for (std::size_t j = 0; j < columns; ++j) sum[j] += factor(k) * b[k * columns + j];
        }
    }
}

/// A fully connected layer: out = in * weightᵀ + bias for in [n, inputs], weight [outputs, inputs], bias [outputs].
inline void fc(rowan::Cpu, Tensor<float> const& in, Tensor<float> const& weight, Tensor<float> const& bias,
               Tensor<float>& out) {
    std::size_t const outputs = weight.shape(0);
    std::size_t const inputs = weight.row_size();
    auto transposed = Tensor<float>::from_shape({inputs, outputs});
    for (std::size_t c = 0; c < outputs; ++c) {
        for (std::size_t d = 0; d < inputs; ++d) transposed.data()[d * outputs + c] = weight.data()[c * inputs + d];
    }
    out.resize({in.shape(0), outputs});
    for (std::size_t i = 0; i < in.shape(0); ++i) std::copy_n(bias.data(), outputs, out.row(i).data());
    add_product(inputs, in.data(), inputs, 1, transposed.data(), out);
}

/// The gradients of fc: grad_in = grad_out * weight, grad_weight = grad_outᵀ * in, grad_bias = sum of grad_out rows.
inline void fc_grad(rowan::Cpu, Tensor<float> const& in, Tensor<float> const& weight, Tensor<float> const& grad_out,
                    Tensor<float>& grad_in, Tensor<float>& grad_weight, Tensor<float>& grad_bias) {
    std::size_t const n = in.shape(0);
    std::size_t const outputs = weight.shape(0);
    grad_in.resize({n, weight.row_size()});
    grad_weight.resize({outputs, weight.row_size()});
    grad_bias.resize({outputs});
    grad_in.fill(0.0f);
    grad_weight.fill(0.0f);
    grad_bias.fill(0.0f);
    add_product(outputs, grad_out.data(), outputs, 1, weight.data(), grad_in);
    add_product(n, grad_out.data(), 1, outputs, in.data(), grad_weight);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < outputs; ++c) grad_bias.data()[c] += grad_out.data()[i * outputs + c];
    }
}

/// Turns a row of scores into probabilities, in place.
inline void softmax(std::span<float> scores) {
    float const largest = *std::max_element(scores.begin(), scores.end());
    float sum = 0.0f;
    for (float& score : scores) {
        score = std::exp(score - largest);
        sum += score;
    }
    for (float& score : scores) score /= sum;
}

/// Turns rows of scores into the gradient of their mean softmax cross entropy; returns that loss, summed over the rows.
inline double softmax_cross_entropy_grad(rowan::Cpu, Tensor<float>& scores, std::span<std::int32_t const> labels) {
    double loss = 0.0;
    float const share = 1.0f / static_cast<float>(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        std::span<float> const row = scores.row(i);
        softmax(row);
        float& right = row[static_cast<std::size_t>(labels[i])];
        loss -= std::log(std::max(static_cast<double>(right), 1e-30));
        right -= 1.0f;
        for (float& p : row) p *= share;
    }
    return loss;
}

}  // namespace gloss
