// clicks/mlp.hpp: Mlp, fully connected layers whose parameters lie in one flat tensor with those of others.
#pragma once

#include <rowan/rowan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace clicks {

using rowan::Cpu;
using Floats = rowan::Tensor<float>;

/// Layers of these sizes, with relu after each, but after the last only if it says so. One tensor with all parameters
/// of a model makes its optimizer, its sum over ranks and its file one call each.
class Mlp {
public:
    /// The parameters of an Mlp of sizes {n, m, ...} are those from `begin` on.
    Mlp(std::vector<std::size_t> const& sizes, bool relu_at_end, std::size_t begin) : relu_at_end_(relu_at_end), end_(begin) {
        for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
            layers_.push_back({sizes[i], sizes[i + 1], end_});
            end_ += (sizes[i] + 1) * sizes[i + 1];
        }
    }
    std::size_t end() const { return end_; }

    /// Draws weights as Glorot and Bengio: Understanding the difficulty of training deep feedforward neural networks,
    /// 2010, formula 16. Biases are 0.
    void initialize(Floats& parameters, std::uint64_t seed) const {
        for (auto const& layer : layers_) {
            auto const bound = std::sqrt(6.0f / static_cast<float>(layer.in + layer.out));
            for (std::size_t i = layer.begin; i < layer.bias(); ++i)
                parameters(i) = bound * (static_cast<float>(rowan::hash_key(std::uint64_t{i}, seed) >> 40) * 0x1p-23f - 1.0f);
            std::fill_n(parameters.data() + layer.bias(), layer.out, 0.0f);
        }
    }

    /// x [n, in] and what each layer makes of what is before it; the last is the result.
    std::vector<Floats> run(Cpu exec, Floats const& parameters, Floats const& x) const {
        std::vector<Floats> values;
        values.push_back(x.share());
        for (auto const& layer : layers_) {
            auto y = rowan::fc(exec, values.back(), layer.weight(parameters), layer.bias(parameters));
            values.push_back(has_relu(layer) ? rowan::relu(exec, y) : std::move(y));
        }
        return values;
    }

    /// Writes the gradients of the parameters, and returns that of x, from the values of run and the result's gradient.
    Floats backward(Cpu exec, Floats const& parameters, std::span<Floats const> values, Floats grad, Floats& parameters_grad) const {
        for (std::size_t i = layers_.size(); i-- != 0;) {
            auto const& layer = layers_[i];
            auto const &x = values[i], &y = values[i + 1];
            if (has_relu(layer)) std::tie(grad) = rowan::gradients<rowan::relu_op>(exec, std::tie(y), std::tie(y), std::tie(grad));
            auto const weight = layer.weight(parameters), bias = layer.bias(parameters);
            auto [x_grad, weight_grad, bias_grad] = rowan::gradients<rowan::fc_op>(exec, std::tie(x, weight, bias), std::tie(y), std::tie(grad));
            std::ranges::copy(weight_grad, parameters_grad.data() + layer.begin);
            std::ranges::copy(bias_grad, parameters_grad.data() + layer.bias());
            grad = std::move(x_grad);
        }
        return grad;
    }

private:
    struct Layer {
        std::size_t in, out, begin;

        std::size_t bias() const { return begin + in * out; }
        Floats weight(Floats const& parameters) const { return parameters.slice(begin, bias()).reshaped({in, out}); }
        Floats bias(Floats const& parameters) const { return parameters.slice(bias(), bias() + out); }
    };
    bool has_relu(Layer const& layer) const { return relu_at_end_ || &layer != &layers_.back(); }

    std::vector<Layer> layers_;
    bool relu_at_end_;
    std::size_t end_;
};

}  // namespace clicks
