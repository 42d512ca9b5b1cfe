// rowan/op/elementwise/activation_options.hpp: the settings of activation functions.
#pragma once

#include <rowan/op/fields.hpp>

namespace rowan::inline v0 {

/// The settings of relu6.
struct Relu6Options {
    double threshold = 6;  ///< the largest result

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"threshold", &Relu6Options::threshold});
    }
};

/// The settings of hardtanh.
struct HardtanhOptions {
    double min = 0;   ///< the smallest result
    double max = 24;  ///< the largest result

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"min", &HardtanhOptions::min}, field{"max", &HardtanhOptions::max});
    }
};

/// The settings of leaky_relu.
struct LeakyReluOptions {
    double alpha = 0.01;  ///< slope where x < 0

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"alpha", &LeakyReluOptions::alpha});
    }
};

/// The settings of elu.
struct EluOptions {
    double alpha = 1;  ///< minus the limit for x to -infinity

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"alpha", &EluOptions::alpha});
    }
};

/// The settings of gelu.
struct GeluOptions {
    bool approximate = false;  ///< the formula with tanh instead of the normal distribution

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"approximate", &GeluOptions::approximate});
    }
};

/// The settings of swish.
struct SwishOptions {
    double beta = 1;  ///< factor of x in the logistic function

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"beta", &SwishOptions::beta});
    }
};

/// The settings of softplus.
struct SoftplusOptions {
    double beta = 1;  ///< sharpness of the bend, above 0

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"beta", &SoftplusOptions::beta});
    }
};

/// The settings of hard_sigmoid.
struct HardSigmoidOptions {
    double slope = 0.2;   ///< slope between 0 and 1; PyTorch has 1/6
    double offset = 0.5;  ///< result at 0

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"slope", &HardSigmoidOptions::slope}, field{"offset", &HardSigmoidOptions::offset});
    }
};

/// The settings of hard_swish.
struct HardSwishOptions {
    double threshold = 6;  ///< upper limit of x + offset
    double scale = 6;      ///< divisor, not 0
    double offset = 3;     ///< added to x

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"threshold", &HardSwishOptions::threshold}, field{"scale", &HardSwishOptions::scale},
                     field{"offset", &HardSwishOptions::offset});
    }
};

/// The settings of stanh.
struct StanhOptions {
    double scale_a = 0.67;    ///< factor of x
    double scale_b = 1.7159;  ///< factor of the result, not 0

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"scale_a", &StanhOptions::scale_a}, field{"scale_b", &StanhOptions::scale_b});
    }
};

/// The settings of thresholded_relu.
struct ThresholdedReluOptions {
    double threshold = 1;  ///< smaller or equal elements become 0

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"threshold", &ThresholdedReluOptions::threshold});
    }
};

}  // namespace rowan::inline v0
