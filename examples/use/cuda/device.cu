// The file for the GPU. The two files exchange tensors in host memory.
#include <rowan/sparse.hpp>
#include <rowan/thrust.hpp>
#include <rowan/thrust/cuda.hpp>

rowan::SelectedRows<float> merged_by_gpu(rowan::SelectedRows<float> const& grad) {
    return to_host(rowan::merge(to_device<rowan::Cuda>(grad)));
}
