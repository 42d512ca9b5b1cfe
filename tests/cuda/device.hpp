// tests/cuda/device.hpp: what tests that need a GPU ask first.
#pragma once

#include <cuda_runtime_api.h>

#include "catch.hpp"

#include <iostream>

namespace test {

/// Is there a GPU? Where there is none, the test case that asks counts as skipped.
inline bool has_device() {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
    std::cout << "SKIPPED " << Catch::getResultCapture().getCurrentTestName() << ": no CUDA device\n";
    return false;
}

}  // namespace test
