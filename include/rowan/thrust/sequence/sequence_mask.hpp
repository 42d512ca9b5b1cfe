// rowan/thrust/sequence/sequence_mask.hpp: sequence_mask on a device.
#pragma once

#include <rowan/sequence/sequence_mask.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/detail/on_device.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

template <class I>
struct MarkPlace {
    I const* lengths;
    FastDivmod width;
    bool* mask;
    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = width.quotient(k);
        mask[k] = static_cast<std::int64_t>(k - i * width.by) < static_cast<std::int64_t>(lengths[i]);
    }
};

template <class System>
class MaskedLengths<ThrustDevice<System>> {
public:
    using Exec = ThrustDevice<System>;

    MaskedLengths(Exec const& exec, Ids<Exec> const& lengths)
        : lengths_(lengths), checked_(exec, "lengths", lengths, longest_sequence) {}

    std::size_t longest(Exec const& exec) const {
        HostIds<Exec> const on_host(exec, lengths_);
        MaskedLengths<Cpu> const masked(Cpu{}, on_host);
        return masked.longest(Cpu{});
    }

    void mark(Exec const& exec, std::size_t width, bool* mask) const {
        check_on_device(exec, checked_);
        if (width == 0) return;
        checked_.visit([&]<class I>(I const* list) {
            launch(exec, lengths_.size() * width, MarkPlace<I>{list, FastDivmod(width), mask});
        });
    }

private:
    Ids<Exec> const& lengths_;
    DeviceIds<System> checked_;
};

}  // namespace rowan::inline v0::detail
