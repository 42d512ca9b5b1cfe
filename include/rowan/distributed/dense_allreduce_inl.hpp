// rowan/distributed/dense_allreduce_inl.hpp: the functions of dense_allreduce.hpp.
#pragma once

#include <rowan/distributed/dense_allreduce.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/distributed/detail/dense_exchange.hpp>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::shared_ptr<DenseReduction> begin_dense_reduction(
    std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
    std::function<std::vector<DensePieces>(Notice&, NamedValues&)> const& parts) {
    std::shared_ptr<DenseReduction> begun;
    after_agreement(*group, [&] {  // the last memory that is needed before ranks agree
        begun = std::make_shared<DenseReduction>(std::move(group), exec, type);
    });
    begun->start(parts);
    return begun;
}

ROWAN_CALLED_FUNCTION void finish_dense_reduction(DenseReduction& reduction,
                                                  std::function<std::span<std::byte>()> const& make) {
    reduction.finish(make);
}

}  // namespace rowan::inline v0::detail

#endif
