// rowan/thrust/op/matmul.hpp: matrix products on devices that use host memory. cublas.hpp has those on Cuda.
#pragma once

#include <rowan/op/matrix/matmul.hpp>
#include <rowan/thrust/detail/elementwise.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

template <class System>
struct Products<ThrustDevice<System>> {
    static_assert(in_host_memory<System>,
                  "rowan: products of matrices on Cuda need #include <rowan/thrust/cublas.hpp>, and cuBLAS");

    template <class T>
    static void multiply(ThrustDevice<System> const& exec, std::size_t m, std::size_t n, std::size_t k, Factor<T> a,
                         Factor<T> b, T* out, bool add) {
        if (!ThrustSystem<System>::failed_call(exec)->any()) detail::multiply<T>(Cpu{}, m, n, k, a, b, out, add);
    }
};

}  // namespace rowan::inline v0::detail
