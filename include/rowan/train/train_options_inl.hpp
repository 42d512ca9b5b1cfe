// rowan/train/train_options_inl.hpp: what options bring to a training.
#pragma once

#include <rowan/train/train_options.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/train/detail/any_trainer.hpp>
#endif
