// tests/own_optimizer.hpp: signSGD with momentum, as a user of the library declares it.
#pragma once

#include <rowan/sparse/lane_rule.hpp>
#include <rowan/sparse/optimizer.hpp>

#include <string_view>

namespace mine {

struct signum_options {
    double learning_rate = 0.01, momentum = 0.9;
    ROWAN_OPTIONS(signum_options, learning_rate, momentum)
};

struct signum_formula {
    signum_options options;
    ROWAN_FORMULA void operator()(V const& g, V& p, V& m) const {
        namespace lane = rowan::lane;
        m = lane::product(lane::constant<V>(options.momentum), m) + g;
        V const zero = lane::constant<V>(0), step = lane::constant<V>(options.learning_rate);
        p = p - lane::choose(m > zero, step, lane::choose(m < zero, V(zero - step), zero));
    }
};

struct signum {
    using options = signum_options;
    using states = rowan::state_list<rowan::slot::moment>;
    static constexpr std::string_view name = "signum";
    template <class... P>
    static rowan::LaneRule<signum_formula> rule(signum_options const& o) {
        if (!(o.momentum < 1)) throw rowan::ValueError("momentum", o.momentum, "less than 1");
        return {{o}};
    }
};
inline constexpr rowan::Optimizer<signum> signum_step;

}  // namespace mine
