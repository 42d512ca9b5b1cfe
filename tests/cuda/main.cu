// tests/cuda/main.cu: runs the tests if there is a GPU, otherwise prints that they are skipped.
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include <cuda_runtime_api.h>

#include <iostream>
#include <string_view>

int main(int count, char** arguments) {
    int devices = 0;
    bool const some = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    bool const lists = count > 1 && std::string_view(arguments[1]).starts_with("--list");
    if (!some && !lists) {
        std::cout << "SKIPPED " << (count > 1 ? arguments[1] : "all") << ": no CUDA device\n";
        return 0;
    }
    return Catch::Session().run(count, arguments);
}
