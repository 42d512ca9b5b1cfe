// tests/optimizers.hpp: all optimizers with one signature, for common tests.
#pragma once

#include <rowan/sparse.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
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

/// Calls f(declaration, name, options) for each optimizer.
template <class F>
void each_optimizer(F const& f) {
    namespace optim = rowan::optim;
    auto const of = [&]<class O>(O o, typename O::options const& options = {}) { f(o, std::string(O::name), options); };
    of(optim::sgd{}, {.learning_rate = 0.5});
    of(optim::adagrad{});
    of(optim::rowwise_adagrad{});
    of(optim::momentum{});
    of(optim::adam{});
    of(optim::adamax{});
    of(optim::adadelta{});
    of(optim::lamb{}, {.weight_decay = 0});
    of(optim::rmsprop{});
    f(optim::centered_rmsprop{}, std::string("centered rmsprop"), rowan::RmsPropOptions{});
    of(optim::ftrl{});
}

inline std::vector<std::string> state_names(rowan::state_list<>) { return {}; }
template <class... State>
std::vector<std::string> state_names(rowan::state_list<State...>) {
    return {std::string(State::name)...};
}

inline std::vector<Optimizer> optimizers() {
    std::vector<Optimizer> all;
    each_optimizer([&]<class O>(O, std::string const& name, typename O::options const& options) {
        auto const with = []<std::size_t... i>(std::index_sequence<i...>, States& s, auto const& f) { f(s[i]...); };
        using Numbers = std::make_index_sequence<O::states::size>;
        auto const step = [=](rowan::Cpu e, auto& p, States& s, auto const& g) {
            with(Numbers{}, s, [&](auto&... state) { rowan::Optimizer<O>{}(e, p, state..., g, options); });
        };
        auto const planned = [=](rowan::Cpu e, auto const& plan, auto& p, States& s, auto const& v) {
            with(Numbers{}, s, [&](auto&... state) { rowan::Optimizer<O>{}(e, plan, p, state..., v, options); });
        };
        all.push_back({name, state_names(typename O::states{}), name == "rowwise_adagrad", step, step, planned});
    });
    return all;
}

/// Zeros of the shapes that `optimizer` keeps for `param`.
inline States states_for(Optimizer const& optimizer, rowan::Tensor<float> const& param) {
    auto shape = param.shape();
    if (optimizer.state_per_row) shape.resize(1);
    return {rowan::Tensor<float>::zeros(shape), rowan::Tensor<float>::zeros(shape), rowan::Tensor<float>::zeros(shape)};
}

}  // namespace test
