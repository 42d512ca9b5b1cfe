// rowan/train/trainer_inl.hpp: definitions of rowan/train/trainer.hpp.
#pragma once

#include <rowan/train/trainer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/train/detail/any_trainer.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace rowan::inline v0::detail {

struct HeldTrainer {
    std::optional<AnyTrainer> trainer;
};

ROWAN_CALLED_FUNCTION void destroy(HeldTrainer* trainer) noexcept { delete trainer; }

ROWAN_CALLED_FUNCTION Owner<HeldTrainer> make_trainer(Variable& cost, CostType const& type, DeviceExec const& exec,
                                                      Ranks const* ranks, MakeSettings const& settings) {
    Owner<HeldTrainer> held;
    auto const options = before_agreement(ranks, TrainCall::trainer, [&] {
        held = Owner<HeldTrainer>(new HeldTrainer);
        return settings();
    });
    held->trainer.emplace(cost, type, exec, options);
    return held;
}

ROWAN_CALLED_FUNCTION double make_step(HeldTrainer& held, std::span<Feeds const> batches) {
    return held.trainer->step(batches, nullptr);
}

ROWAN_CALLED_FUNCTION Parameters parameters_of(HeldTrainer const& held) {
    return held.trainer->parameters(Saving::alone);
}

ROWAN_CALLED_FUNCTION std::int64_t steps_of(HeldTrainer const& held) noexcept { return held.trainer->steps(); }

}  // namespace rowan::inline v0::detail

#endif
