// tests/bench/walk/step.cpp: two steps of a net of one fc. Prints the addresses of the functions that the second one
// enters: g++ -finstrument-functions calls __cyg_profile_func_enter at the entry of each.
#include <rowan/layer.hpp>
#include <rowan/train.hpp>

#include <cstdio>
#include <set>

namespace {

bool armed = false;
std::set<void*> entered;

}  // namespace

extern "C" {
[[gnu::no_instrument_function]] void __cyg_profile_func_enter(void* function, void*) {
    if (armed) entered.insert(function);
}
[[gnu::no_instrument_function]] void __cyg_profile_func_exit(void*, void*) {}
}

int main() {
    namespace layer = rowan::layer;
    using rowan::Tensor, rowan::UNK;
    auto const predict = layer::fc(layer::data("x", {UNK, 2}), {.output_size = 1});
    auto const cost = layer::mse(predict, layer::data("y", {UNK, 1}));
    rowan::Trainer trainer(cost, {.optimizer = layer::Sgd{.learning_rate = 0.1}, .exec = {.threads = 1}});
    rowan::Feeds const batch{{"x", Tensor<float>{{1, 2}, {3, 4}}}, {"y", Tensor<float>{{1}, {2}}}};
    trainer.step(batch);
    armed = true;
    trainer.step(batch);
    armed = false;
    for (void* const function : entered) std::printf("%p\n", function);
}
