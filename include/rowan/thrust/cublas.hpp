// rowan/thrust/cublas.hpp: matrix products on Cuda, computed by cuBLAS.
#pragma once

#include <rowan/thrust/cuda.hpp>
#include <rowan/thrust/op/matmul.hpp>

#if !__has_include(<cublas_v2.h>)
#error "rowan/thrust/cublas.hpp needs cuBLAS, which comes with the CUDA toolkit"
#endif
#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// errors   CudaError with the name of the status
inline void check_cublas(cublasStatus_t status, char const* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw CudaError({call, ": ", cublasGetStatusName(status)});
}

/// One cuBLAS handle per device and stream; one mutex serialises all calls. Default math mode: no TF32 unless the
/// process environment enables it.
class CublasHandles {
public:
    template <class F>
    static void with(Cuda const& exec, F const& f) {
        static CublasHandles all;
        std::lock_guard const guard(all.mutex_);
        cublasHandle_t& handle = all.handles_[{ThrustSystem<::thrust::cuda::tag>::here(), exec.stream}];
        if (handle == nullptr) handle = make(exec);
        f(handle);
    }

private:
    static cublasHandle_t make(Cuda const& exec) {
        cublasHandle_t handle = nullptr;
        check_cublas(cublasCreate(&handle), "cublasCreate");
        try {
            check_cublas(cublasSetStream(handle, exec.stream), "cublasSetStream");
            check_cublas(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
        } catch (...) {
            cublasDestroy(handle);
            throw;
        }
        return handle;
    }

    std::mutex mutex_;
    // never destroyed: at program exit CUDA may be shut down already
    std::map<std::pair<int, cudaStream_t>, cublasHandle_t> handles_;
};

/// Computes one element of a product, for element types that cuBLAS does not support and for k == 0.
template <class T>
struct ProductElement {
    Factor<T> a, b;
    T* out;
    std::size_t k;
    FastDivmod columns;
    bool add;

    ROWAN_HD void operator()(std::size_t at) const {
        using S = sum_t<T>;
        std::size_t const i = columns.quotient(at), j = at - i * columns.by;
        S sum = add ? load<S>(out + at) : constant<S>(0.0);
        for (std::size_t l = 0; l < k; ++l) {
            T const* const x = a.transposed ? a.data + l * a.columns + i : a.data + i * a.columns + l;
            T const* const y = b.transposed ? b.data + j * b.columns + l : b.data + l * b.columns + j;
            sum = plus(sum, product(load<S>(x), load<S>(y)));
        }
        store(sum, out + at);
    }
};

template <>
struct Products<Cuda> {
    template <class T>
    static void multiply(Cuda const& exec, std::size_t m, std::size_t n, std::size_t k, Factor<T> a, Factor<T> b,
                         T* out, bool add) {
        constexpr bool half = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>;
        if (m == 0 || n == 0) return;
        if constexpr (is_machine_float<T> || half) {
            // cuBLAS is column-major and sees the row-major matrices transposed: outᵀ = bᵀ · aᵀ
            auto const call = [&](auto const& alpha, auto const& beta, auto const& gemm) {
                auto const op = [](Factor<T> const& f) { return f.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
                auto const number = [](std::size_t x) { return static_cast<std::int64_t>(x); };
                CublasHandles::with(exec, [&](cublasHandle_t handle) {
                    check_cublas(gemm(handle, op(b), op(a), number(n), number(m), number(k), &alpha, b.data,
                                      number(b.columns), a.data, number(a.columns), &beta, out, number(n)),
                                 "cublasGemm");
                });
            };
            if (k == 0) {
                launch(exec, m * n, ProductElement<T>{a, b, out, k, FastDivmod(n), add});
            } else if constexpr (std::is_same_v<T, float>) {
                call(1.0F, add ? 1.0F : 0.0F, cublasSgemm_64);
            } else if constexpr (std::is_same_v<T, double>) {
                call(1.0, add ? 1.0 : 0.0, cublasDgemm_64);
            } else {
                constexpr auto type = std::is_same_v<T, bfloat16> ? CUDA_R_16BF : CUDA_R_16F;
                call(1.0F, add ? 1.0F : 0.0F,
                     [](cublasHandle_t handle, cublasOperation_t op_b, cublasOperation_t op_a, std::int64_t rows,
                        std::int64_t columns, std::int64_t inner, float const* alpha, T const* x, std::int64_t next_x,
                        T const* y, std::int64_t next_y, float const* beta, T* to, std::int64_t next_to) {
                         return cublasGemmEx_64(handle, op_b, op_a, rows, columns, inner, alpha, x, type, next_x, y,
                                                type, next_y, beta, to, type, next_to, CUBLAS_COMPUTE_32F,
                                                CUBLAS_GEMM_DEFAULT);
                     });
            }
        } else {
            launch(exec, m * n, ProductElement<T>{a, b, out, k, FastDivmod(n), add});
        }
    }
};

}  // namespace rowan::inline v0::detail
