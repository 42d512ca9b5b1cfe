// rowan/op/detail/softmax_formulas.hpp: the formulas of softmax, its logarithm, their losses and gradients.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>

namespace rowan::inline v0::detail {

/// most = max(a, most); a NaN in `most` remains, other NaNs are ignored.
struct take_larger {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& a, V& most) const {
        most = choose(a > most, a, most);
    }
};

/// x - greatest - log_total
struct log_share {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& greatest, V const& log_total) const {
        return V(x - greatest) - log_total;
    }
};

/// g - exp(y) · total, the gradient of a row whose log_softmax is y, from the sum of its gradients
struct log_softmax_slope {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& y, V const& g, V const& total) const {
        return g - product(exponential_of_negative(y), total);
    }
};

/// label · -log(softmax(x)), or 0 where the label is 0, from the maximum of the row and log of the sum of exponentials
struct soft_label_loss {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& label, V const& greatest, V const& log_total) const {
        V const zero = constant<V>(0.0), loss = product(label, V(log_total - (x - greatest)));
        return choose(label > zero, loss, choose(label < zero, loss, label));
    }
};

/// label · log(x), or 0 where the label is 0
struct weighed_logarithm {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& label) const {
        V const zero = constant<V>(0.0);
        if constexpr (is_batch<V>) {
            V const term = product(label, logarithm(x));
            return choose(label > zero, term, choose(label < zero, term, label));
        } else {  // an own type's log may have no value at 0
            return label > zero || label < zero ? product(label, logarithm(x)) : label;
        }
    }
};

/// (p · total - label) · g, the gradient of a row of logits
struct soft_label_slope {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& p, V const& label, V const& total, V const& g) const {
        return product(V(product(p, total) - label), g);
    }
};

}  // namespace rowan::inline v0::detail
