// rowan/op/detail/softmax_formulas.hpp: the formulas of softmax, its logarithm, their losses and gradients.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>

#include <string_view>

namespace rowan::inline v0::detail {

/// most = max(a, most); a NaN in `most` remains, other NaNs are ignored.
struct take_larger {
    ROWAN_FORMULA void operator()(V const& a, V& most) const { most = larger(a, most); }
};

/// The rule of softmax: what a row's result is, from exp(x - greatest) and their sum, and the gradient of x, from the
/// result y, that of the result, and the sum of `term`.
struct softmax_rule {
    template <class T>
    static constexpr void check_type() {
        static_assert(floating_element<T>, "rowan::softmax: x must have a floating-point type: convert it");
    }

    /// What the sum of the exponentials is made into, once for a row.
    ROWAN_FORMULA static V norm(V const& total) { return total; }
    ROWAN_FORMULA static V result(V const&, V const& e, V const&, V const& norm) { return quotient(e, norm); }
    ROWAN_FORMULA static V term(V const& y, V const& g) { return product(y, g); }
    ROWAN_FORMULA static V slope(V const& y, V const& g, V const& sum) { return softmax_slope{}(y, g, sum); }
};

/// The rule of log_softmax.
struct log_softmax_rule {
    template <class T>
    static constexpr void check_type() {
        static_assert(floating_element<T>, "rowan::log_softmax: x must have a floating-point type: convert it");
    }

    ROWAN_FORMULA static V norm(V const& total) { return logarithm(total); }
    ROWAN_FORMULA static V result(V const& x, V const&, V const& greatest, V const& norm) {
        return V(x - greatest) - norm;
    }
    ROWAN_FORMULA static V term(V const&, V const& g) { return g; }
    ROWAN_FORMULA static V slope(V const& y, V const& g, V const& sum) {
        return g - product(exponential_of_negative(y), sum);
    }
};

/// label · -log(softmax(x)), or 0 where the label is 0, from the maximum of the row and log of the sum of exponentials
struct soft_label_loss {
    ROWAN_FORMULA V operator()(V const& x, V const& label, V const& greatest, V const& log_total) const {
        V const zero = constant<V>(0.0), loss = product(label, V(log_total - (x - greatest)));
        return choose(label > zero, loss, choose(label < zero, loss, label));
    }
};

/// label · log(x), or 0 where the label is 0
struct weighed_logarithm {
    ROWAN_FORMULA V operator()(V const& x, V const& label) const {
        V const zero = constant<V>(0.0);
        if constexpr (is_register<V>) {
            V const term = product(label, logarithm(x));
            return choose(label > zero, term, choose(label < zero, term, label));
        } else {  // an own type's log may have no value at 0
            return label > zero || label < zero ? product(label, logarithm(x)) : label;
        }
    }
};

/// (p · total - label) · g, the gradient of a row of logits
struct soft_label_slope {
    ROWAN_FORMULA V operator()(V const& p, V const& label, V const& total, V const& g) const {
        return product(V(product(p, total) - label), g);
    }
};

}  // namespace rowan::inline v0::detail
