// rowan/train/detail/train_call.hpp: TrainCall, what ranks that train together agree on.
#pragma once

#include <rowan/version.hpp>

#include <cstdint>

namespace rowan::inline v0::detail {

/// The agreements of a training: of ranks, all come to the same one.
enum class TrainCall : std::int32_t {
    train,
    go_on,
    trainer,
    keys,
    fetch,
    step,
    check,
    calls,
    save,
    epoch_end,
    end,
};

}  // namespace rowan::inline v0::detail
