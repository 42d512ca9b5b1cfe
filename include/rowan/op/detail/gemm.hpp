// rowan/op/detail/gemm.hpp: matrix products of float or double with the widest instructions of the processor.
#pragma once

#include <rowan/op/detail/factor.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// out [m, n] = a [m, k] · b [k, n], or += if `add`, on one thread. Rows of out are next_out elements apart.
template <class S>
void multiply_serial(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out,
                     std::size_t next_out, bool add);

}  // namespace rowan::inline v0::detail

#include <rowan/op/detail/gemm_inl.hpp>
