// rowan/train.hpp: training and inference: trainers, predictors, optimizers of nets, schedules and metrics.
#pragma once

#include <rowan/train/auc.hpp>
#include <rowan/train/calibration.hpp>
#include <rowan/train/comm.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/early_stop.hpp>
#include <rowan/train/entity_f1.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/gradient_clip.hpp>
#include <rowan/train/group_auc.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/loaded_model.hpp>
#include <rowan/train/moving_average.hpp>
#include <rowan/train/normalized_entropy.hpp>
#include <rowan/train/optimizer.hpp>
#include <rowan/train/optimizers.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/parts.hpp>
#include <rowan/train/precision_recall.hpp>
#include <rowan/train/predictor.hpp>
#include <rowan/train/prefetch.hpp>
#include <rowan/train/schedule.hpp>
#include <rowan/train/train.hpp>
#include <rowan/train/train_checkpoint.hpp>
#include <rowan/train/train_options.hpp>
#include <rowan/train/trainer.hpp>
