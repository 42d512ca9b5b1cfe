// rowan/layer/fc.hpp: layer::fc, a fully connected layer with its own parameters.
#pragma once

#include <rowan/layer/parameter.hpp>
#include <rowan/op/matrix/declared.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace rowan::inline v0::layer {

/// The first values of a bias, or false for none.
class Bias {
public:
    Bias() = default;  ///< zeros
    /// Uniform in [low, high).
    Bias(double low, double high) : first_(low, high) {}
    /// The first values.
    template <std::convertible_to<Initializer> F>
    Bias(F const& first) : first_(first) {}
    /// false for no bias, true for zeros.
    template <std::same_as<bool> B>
    Bias(B exists) : exists_(exists) {}

    bool exists() const noexcept { return exists_; }                     ///< whether there is a bias
    Initializer const& initializer() const& noexcept { return first_; }  ///< its first values
    Initializer initializer() && { return std::move(first_); }

private:
    Initializer first_ = {};
    bool exists_ = true;
};

/// The settings of layer::fc.
struct FcOptions {
    std::int64_t output_size = 0;            ///< 0: the width of the input
    std::optional<Initializer> weight = {};  ///< initial weights, e.g. layer::KaimingNormal{}; default XavierUniform{}
    Bias bias = {};                          ///< initial bias, or false for none; default zeros
    std::string name = {};                   ///< if not empty, the parameters are name.w_0 and name.b_0
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// The widths of the input and the output of a layer::fc.
struct FcSizes {
    std::int64_t width, size;
    bool later;  ///< whether the width is inferred later
};
/// errors   as layer::fc
ROWAN_IF_CALLED FcSizes fc_sizes(Variable& x, layer::FcOptions const& options);

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// x · w + b
/// shapes   x [n, width] -> [n, output_size], with the levels of x
/// errors   ShapeError if x is not a matrix, or its width is unknown, except in the step of an RnnProgram, where the
///          width is inferred later if output_size is given; ValueError if output_size is negative or the first values
///          have a number that is not finite; GraphError if the outermost scope already has these names
/// cost     as rowan::fc, or without a bias as rowan::matmul, when the net runs; two parameters in the net, or one
template <class T, class Device>
Var<T, Device> fc(Var<T, Device> const& x, FcOptions const& options = {}) {
    auto const [width, size, later] = rowan::detail::fc_sizes(*x, options);
    rowan::detail::LayerRollback added;
    auto const name = [&](char const* slot) { return rowan::detail::parameter_name(options.name, slot); };
    Initializer const first = options.weight.value_or(XavierUniform{});
    auto const w = [&, width = width, size = size, later = later] {
        if (!later) return parameter<T, Device>({width, size}, first, name("w_0"));
        Variable& v =
            rowan::detail::outermost_scope().new_var(name("w_0"), tensor_spec<T>({UNK, size}), Role::parameter);
        v.set_width = [size, first](Variable& self, std::int64_t known) {
            begin_with<T, Device>(self, {known, size}, first);
        };
        return Var<T, Device>(v);
    }();
    auto const y = options.bias.exists()
                       ? apply<fc_op>({}, x, w, parameter<T, Device>({size}, options.bias.initializer(), name("b_0")))
                       : apply<matmul_op>({}, x, w);
    added.keep();
    return y;
}

// Mistakes, which do not compile.
template <class T, class Device, class... O>
requires(sizeof...(O) != 0 && !(std::convertible_to<O, FcOptions> && ...)) auto fc(Var<T, Device> const& x,
                                                                                   O const&...) {
    static_assert(sizeof...(O) == 0, "rowan::layer::fc: options have names: layer::fc(x, {.output_size = 10})");
    return x;
}
template <rowan::detail::no_var X>
auto fc(X const& x, FcOptions const& = {}) {
    rowan::detail::check_vars<X>();
    return x;
}

ROWAN_TEMPLATE(Var<float> fc(Var<float> const&, FcOptions const&))
ROWAN_TEMPLATE(Var<double> fc(Var<double> const&, FcOptions const&))

}  // namespace rowan::inline v0::layer

#include <rowan/layer/fc_inl.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/matrix/matmul.hpp>
#endif
