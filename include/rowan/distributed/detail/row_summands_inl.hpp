// rowan/distributed/detail/row_summands_inl.hpp: the functions of row_summands.hpp.
#pragma once

#include <rowan/distributed/detail/row_summands.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/distributed/detail/row_reduction.hpp>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::shared_ptr<RowReduction> begin_row_reduction(std::unique_ptr<ProcessGroup const> group,
                                                                        Cpu exec, std::unique_ptr<RowSummands> source,
                                                                        RowReduceOptions options,
                                                                        std::vector<std::int64_t> splits) {
    std::shared_ptr<RowReduction> begun;
    after_agreement(*group, [&] {  // the last memory that is needed before ranks agree
        begun = std::make_shared<RowReduction>(std::move(group), exec, std::move(source), options, std::move(splits));
    });
    begun->start();
    return begun;
}

ROWAN_CALLED_FUNCTION void finish_row_reduction(RowReduction& reduction, RowTarget& to) { reduction.finish(to); }

}  // namespace rowan::inline v0::detail

#endif
