// tests/bench/cuda/main.cu: times algorithms on rows and sequences, layers and a copy of memory on a GPU, by CUDA's events.
// Prints a line of JSON for each case; `--tiny` is a quick test. Without a GPU it says so and exits with 77.
#include "clock.hpp"

#include <string_view>

int main(int count, char** arguments) {
    using namespace bench;
    bool const tiny = count > 1 && std::string_view(arguments[1]) == "--tiny";
    Gpu exec;
    std::string card = "the host";
#ifdef __CUDACC__
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("no CUDA device");
        return 77;
    }
    cudaStreamCreate(&exec.stream);
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    card = properties.name;
#endif
    double copy = 0;
    {
        auto const from = numbers(exec, {tiny ? std::size_t{1} << 16 : std::size_t{1} << 29}, 0, 1);
        auto to = Tensor<float>::from_shape(exec, from.shape());
        std::size_t const bytes = from.size() * sizeof(float);
        double const ms = Clock(exec, 4)([&](std::size_t) { copy_bytes(exec, to.data(), from.data(), bytes); });
        copy = 2.0 * static_cast<double>(bytes) / ms * 1e-6;
    }
    std::printf("{\"card\": \"%s\", \"copy_gbs\": %.1f}\n", card.c_str(), copy);
    Report const report(copy);
    rows(exec, report, tiny);
    sequences(exec, report, tiny);
    layers(exec, report, tiny);
}
