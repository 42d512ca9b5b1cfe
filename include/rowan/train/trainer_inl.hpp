// rowan/train/trainer_inl.hpp: definitions of rowan/train/trainer.hpp.
#pragma once

#include <rowan/train/trainer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/train/detail/any_trainer.hpp>

#include <memory>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void EndTrainer::operator()(AnyTrainer* trainer) const noexcept { delete trainer; }

ROWAN_CALLED_FUNCTION std::unique_ptr<AnyTrainer, EndTrainer> make_trainer(Variable& cost, CostType const& type,
                                                                           DeviceExec const& exec,
                                                                           TrainSettings const& settings) {
    return std::unique_ptr<AnyTrainer, EndTrainer>(new AnyTrainer(cost, type, exec, settings));
}

ROWAN_CALLED_FUNCTION double make_step(AnyTrainer& trainer, std::span<Feeds const> batches) {
    return trainer.step(batches, nullptr);
}

ROWAN_CALLED_FUNCTION Parameters parameters_of(AnyTrainer const& trainer) { return trainer.parameters(); }

ROWAN_CALLED_FUNCTION std::int64_t steps_of(AnyTrainer const& trainer) noexcept { return trainer.steps(); }

}  // namespace rowan::inline v0::detail

#endif
