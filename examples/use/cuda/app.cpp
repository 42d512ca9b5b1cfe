// The file for the host. It uses a Thrust of its own: the toolkit's, on OpenMP.
#include <rowan/sparse.hpp>
#include <rowan/thrust.hpp>

#include <thrust/system/omp/execution_policy.h>

#include <iostream>

rowan::SelectedRows<float> merged_by_gpu(rowan::SelectedRows<float> const& grad);  // in device.cu

int main() {
    rowan::SelectedRows<float> const grad(4, {3, 1, 3}, {{1, 2}, {3, 4}, {10, 20}});
    auto const merged = rowan::merge(grad);
    auto const by_thrust = to_host(rowan::merge(to_device<rowan::ThrustDevice<thrust::omp::tag>>(grad)));
    std::cout << (by_thrust.value() == merged.value() ? "the host merges\n" : "other bits by Thrust\n");
    try {
        std::cout << (merged_by_gpu(grad).value() == merged.value() ? "the GPU merges\n" : "other bits on the GPU\n");
    } catch (rowan::CudaError const& e) {
        std::cout << "CudaError: " << e.what() << '\n';
    }
}
