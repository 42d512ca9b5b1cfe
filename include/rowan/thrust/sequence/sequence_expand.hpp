// rowan/thrust/sequence/sequence_expand.hpp: sequence_expand on a device.
#pragma once

#include <rowan/sequence/sequence_expand.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/sequence/detail/row_copies.hpp>
#include <rowan/thrust/sequence/detail/sequence_sums.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

/// The row of x that is copied to row i of the result.
struct ExpandedRow {
    std::int64_t const* starts;  // of the instances, in the result
    std::int64_t const* rows;    // of the instances, in x
    std::size_t instances;

    ROWAN_HD std::int64_t operator()(std::size_t i) const {
        std::size_t const k = find_block(starts, instances, i);
        return rows[k] + (static_cast<std::int64_t>(i) - starts[k]) % (rows[k + 1] - rows[k]);
    }
};

template <class System>
struct SequenceExpansion<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void expand(Exec const& exec, Expansion const& e, std::size_t width, T const* rows, T* out) {
        std::vector<std::int64_t> numbers = e.starts;
        numbers.insert(numbers.end(), e.rows.begin(), e.rows.end());
        OnDevice<std::int64_t, Exec> const uploaded(exec, numbers);
        copy_device_rows(exec, static_cast<std::size_t>(e.starts.back()), width * sizeof(T), rows, out,
                         ExpandedRow{uploaded.data(), uploaded.data() + e.starts.size(), e.starts.size() - 1},
                         SameRow{});
    }

    template <class T>
    static void grad(Exec const& exec, Expansion const& e, std::size_t width, T const* out_grad, T* x_grad) {
        SumTree tree;
        for (std::size_t i = 0; i + 1 < e.rows.size(); ++i) {
            auto const length = static_cast<std::int64_t>(e.length(i));
            for (std::int64_t r = 0; r < length; ++r)
                tree.add(static_cast<std::size_t>(e.rows[i] + r), e.starts[i] + r, length, e.repeats(i));
        }
        tree.run(exec, width, AddRows<T>{out_grad, width, nullptr}, StoreTotal<T>{x_grad, width, zero<T>()},
                 in_chunks(width, out_grad, static_cast<T const*>(x_grad)));
    }
};

}  // namespace rowan::inline v0::detail
