// tests/optimizers.hpp: all optimizers with one signature, for common tests.
#pragma once

#include <rowan/sparse.hpp>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace test {

using States = std::array<rowan::Tensor<float>, 3>;

struct Optimizer {
    std::string name;
    std::vector<std::string> state;  // their names in errors
    bool state_per_row = false;      // of shape [height], not param's
    std::function<void(rowan::Cpu, rowan::Tensor<float>&, States&, rowan::SelectedRows<float> const&)> sparse;
    std::function<void(rowan::Cpu, rowan::Tensor<float>&, States&, rowan::Tensor<float> const&)> dense;
    std::function<void(rowan::Cpu, rowan::RowPlan<> const&, rowan::Tensor<float>&, States&, rowan::Tensor<float> const&)> planned;
};

inline std::vector<Optimizer> optimizers() {
    std::vector<Optimizer> all;
    auto const add = [&](char const* name, std::vector<std::string> state, auto step, auto planned) {
        all.push_back({name, std::move(state), std::string(name) == "rowwise_adagrad", step, step, planned});
    };
    using rowan::Cpu;
    add("sgd", {}, [](Cpu e, auto& p, States&, auto const& g) { rowan::sgd(e, p, g, 0.5); },
        [](Cpu e, auto const& plan, auto& p, States&, auto const& v) { rowan::sgd(e, plan, p, v, 0.5); });
    add("adagrad", {"moment"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::adagrad(e, p, s[0], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::adagrad(e, plan, p, s[0], v); });
    add("rowwise_adagrad", {"moment"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::rowwise_adagrad(e, p, s[0], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::rowwise_adagrad(e, plan, p, s[0], v); });
    add("momentum", {"velocity"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::momentum(e, p, s[0], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::momentum(e, plan, p, s[0], v); });
    add("adam", {"moment1", "moment2"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::adam(e, p, s[0], s[1], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::adam(e, plan, p, s[0], s[1], v); });
    add("adamax", {"moment", "norm"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::adamax(e, p, s[0], s[1], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::adamax(e, plan, p, s[0], s[1], v); });
    add("adadelta", {"mean_square", "mean_step"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::adadelta(e, p, s[0], s[1], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::adadelta(e, plan, p, s[0], s[1], v); });
    add("lamb", {"moment1", "moment2"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::lamb(e, p, s[0], s[1], g, {.weight_decay = 0}); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::lamb(e, plan, p, s[0], s[1], v, {.weight_decay = 0}); });
    add("rmsprop", {"mean_square", "velocity"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::rmsprop(e, p, s[0], s[1], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::rmsprop(e, plan, p, s[0], s[1], v); });
    add("centered rmsprop", {"mean_square", "mean_grad", "velocity"},
        [](Cpu e, auto& p, States& s, auto const& g) { rowan::rmsprop(e, p, s[0], s[1], s[2], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::rmsprop(e, plan, p, s[0], s[1], s[2], v); });
    add("ftrl", {"squared", "linear"}, [](Cpu e, auto& p, States& s, auto const& g) { rowan::ftrl(e, p, s[0], s[1], g); },
        [](Cpu e, auto const& plan, auto& p, States& s, auto const& v) { rowan::ftrl(e, plan, p, s[0], s[1], v); });
    return all;
}

/// Zeros of the shapes that `optimizer` keeps for `param`.
inline States states_for(Optimizer const& optimizer, rowan::Tensor<float> const& param) {
    auto shape = param.shape();
    if (optimizer.state_per_row) shape.resize(1);
    return {rowan::Tensor<float>::zeros(shape), rowan::Tensor<float>::zeros(shape), rowan::Tensor<float>::zeros(shape)};
}

}  // namespace test
