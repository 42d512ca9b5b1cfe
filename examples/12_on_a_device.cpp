// The same program on host and device: only the device type differs. The device here is Thrust's OpenMP system, in the
// memory of the host. In a file that nvcc compiles, with rowan/thrust/cuda.hpp and rowan/thrust/cublas.hpp,
// `learn<rowan::Cuda>()` runs on a GPU.
//
//     x  0 0   0 1   1 0   1 1     in the memory of the host  --train-->  parameters in the memory of the device
//     y   0     1     1     0                                 --infer-->  answers there, to_host(answers) here
#include <rowan/own_operator.hpp>
#include <rowan/rowan.hpp>
#include <rowan/thrust.hpp>

#include <thrust/system/omp/execution_policy.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace layer = rowan::layer;
using rowan::Feeds, rowan::Tensor, rowan::UNK;

// XOR of two switches. A batch is in the memory of the host, on whichever device the net runs.
std::vector<Feeds> batches(std::int64_t) {
    return {{{"x", Tensor<float>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}}, {"y", Tensor<float>{{0}, {1}, {1}, {0}}}}};
}

template <class Device>
rowan::Parameters learn() {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const x = layer::data<float, Device>("x", {UNK, 2});
    auto const y = layer::fc(layer::tanh(layer::fc(x, {.output_size = 8})), {.output_size = 1});
    auto const cost = layer::mse(y, layer::data<float, Device>("y", {UNK, 1}));
    auto parameters = rowan::train(cost, batches, {.optimizer = layer::AdaGrad{.learning_rate = 0.1}, .epochs = 500});

    for (float const a : to_host(rowan::infer(y, batches(0)[0], parameters).value())) std::printf("%ld ", std::lround(a));
    std::printf("\n");
    return parameters;
}

int main() {
    auto const here = learn<rowan::Cpu>();
    using Device = rowan::ThrustDevice<thrust::omp::tag>;
    auto const there = learn<Device>();

    bool same = true;
    for (auto const& parameter : here) {
        auto const& name = parameter.first;
        if (name.find('@') == name.npos) same = same && to_host(there.get<float, Device>(name)) == here.get<float>(name);
    }
    std::printf(same ? "the same bits\n" : "other bits\n");
}
