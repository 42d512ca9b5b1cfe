// rowan/thrust/sequence/sequence_erase.hpp: sequence_erase on a device.
#pragma once

#include <rowan/sequence/sequence_erase.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/on_device.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Writes 1 for each element that is kept, otherwise 0.
template <class T>
struct MarkStaying {
    T const* x;
    std::int64_t const* erased;  // sorted
    std::size_t count;
    std::int64_t* marks;

    ROWAN_HD void operator()(std::size_t k) const {
        auto const token = static_cast<std::int64_t>(dtype<T>::widen(x[k]));
        std::size_t begin = 0, n = count;
        while (n > 0) {
            std::size_t const half = n / 2;
            if (erased[begin + half] < token) {
                begin += half + 1;
                n -= half + 1;
            } else {
                n = half;
            }
        }
        marks[k] = begin == count || erased[begin] != token;
    }
};

/// Where sequence s begins in the result; ends[k] is the number of kept elements in [0, k].
struct ErasedStart {
    std::int64_t const* offsets;
    std::int64_t const* ends;
    std::int64_t* starts;
    ROWAN_HD void operator()(std::size_t s) const { starts[s] = offsets[s] == 0 ? 0 : ends[offsets[s] - 1]; }
};

template <class T>
struct KeepStaying {
    T const* x;
    std::int64_t const* ends;
    T* to;
    ROWAN_HD void operator()(std::size_t k) const {
        std::int64_t const before = k == 0 ? 0 : ends[k - 1];
        if (ends[k] != before) to[before] = x[k];
    }
};

template <class System>
struct SequenceErasure<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static Tensor<T, Exec> run(Exec const& exec, std::span<std::int64_t const> offsets, Tensor<T, Exec> const& x,
                               std::vector<std::int64_t> const& erased, std::vector<std::int64_t>& starts) {
        std::size_t const n = x.size();
        auto shape = x.shape();
        if (n == 0) return Tensor<T, Exec>::from_shape(exec, shape);
        OnDevice<std::int64_t, Exec> const tokens(exec, erased), begins(exec, offsets);
        OnDevice<std::int64_t, Exec> const ends(exec, n), made(exec, starts.size());
        launch_always(exec, n, MarkStaying<T>{x.data(), tokens.data(), erased.size(), ends.data()});
        ThrustSystem<System>::inclusive_scan(exec, n, ends.data());
        launch_always(exec, starts.size(), ErasedStart{begins.data(), ends.data(), made.data()});
        read_back(exec, {{starts.data(), made.data(), starts.size() * sizeof(std::int64_t)}});
        shape[0] = static_cast<std::size_t>(starts.back());
        auto result = Tensor<T, Exec>::from_shape(exec, shape);
        launch(exec, n, KeepStaying<T>{x.data(), ends.data(), result.data()});
        return result;
    }
};

}  // namespace rowan::inline v0::detail
