// rowan/layer/initializer.hpp: Initializer, the initialization of a parameter: uniform, normal, Xavier, Kaiming, ….
#pragma once

#include <rowan/op/var_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <numbers>

namespace rowan::inline v0::layer {

// Of a parameter with the dims [d_1, …, d_k, a, b], as of a matrix [a, b] in fc (in PyTorch it is transposed):
//     inputs = d_1 · … · d_k · a;  outputs = d_1 · … · d_k · b
// Of a vector [b], both are b.

/// Uniform in [low, high).
struct Uniform {
    double low = 0;   ///< lower bound
    double high = 0;  ///< upper bound
};

/// Normal, with mean and standard deviation.
struct Normal {
    double mean = 0;    ///< mean
    double stddev = 1;  ///< standard deviation
};

/// All elements are `value`.
struct Constant {
    double value = 0;  ///< of every element
};

/// Uniform within ±gain · √(6 / (inputs + outputs)). Glorot and Bengio 2010, Understanding the difficulty of training
/// deep feedforward neural networks, equation 16.
struct XavierUniform {
    double gain = 1;  ///< factor of all values
};

/// Normal with the standard deviation gain · √(2 / (inputs + outputs)). Glorot and Bengio 2010, equation 12.
struct XavierNormal {
    double gain = 1;  ///< factor of all values
};

/// Uniform within ±gain · √(3 / inputs): as KaimingNormal, with the same variance.
struct KaimingUniform {
    double gain = std::numbers::sqrt2;  ///< factor of all values; √2 is for relu
};

/// Normal with the standard deviation gain / √inputs. He et al. 2015, Delving deep into rectifiers, equation 10.
struct KaimingNormal {
    double gain = std::numbers::sqrt2;  ///< factor of all values; √2 is for relu
};

/// The first values of a parameter: one of the above, or {low, high} for Uniform. They depend on the seed, the position
/// and the dims only, so they are the same for any number of threads, on all devices and platforms. Normal ones are those
/// of Box and Muller 1958.
class Initializer {
public:
    Initializer() = default;  ///< zeros
    /// Uniform in [low, high).
    Initializer(double low, double high) : a_(low), b_(high) {}
    Initializer(Uniform const& u) : a_(u.low), b_(u.high) {}                                   ///< Uniform
    Initializer(Normal const& n) : normal_(true), a_(n.mean), b_(n.stddev) {}                  ///< Normal
    Initializer(Constant const& c) : a_(c.value), b_(c.value) {}                               ///< Constant
    Initializer(XavierUniform const& x) : scale_(Scale::both), a_(-x.gain), b_(x.gain) {}      ///< XavierUniform
    Initializer(XavierNormal const& x) : normal_(true), scale_(Scale::both), b_(x.gain) {}     ///< XavierNormal
    Initializer(KaimingUniform const& k) : scale_(Scale::inputs), a_(-k.gain), b_(k.gain) {}   ///< KaimingUniform
    Initializer(KaimingNormal const& k) : normal_(true), scale_(Scale::inputs), b_(k.gain) {}  ///< KaimingNormal

    /// This initializer with the bounds, or the deviation, of a parameter of these dims.
    /// errors   ValueError if a number is not finite or a standard deviation is negative
    /// cost     O(rank)
    Initializer of(Dims const& dims) const;

    /// Whether it is one of Xavier or Kaiming.
    bool depends_on_dims() const noexcept { return scale_ != Scale::none; }

    /// Element i of a parameter. Of Xavier and Kaiming, call `of` first.
    /// errors   none
    /// cost     O(1)
    double at(std::uint64_t seed, std::size_t i) const;

private:
    enum class Scale : std::uint8_t { none, both, inputs };

    bool normal_ = false;
    Scale scale_ = Scale::none;
    double a_ = 0, b_ = 0;  // the bounds, or mean and standard deviation
};

}  // namespace rowan::inline v0::layer

#include <rowan/layer/initializer_inl.hpp>
