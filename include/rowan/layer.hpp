// rowan/layer.hpp: layers that make nets, training and inference.
#pragma once

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/infer.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/lstm_unit.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/rnn_program.hpp>
#include <rowan/layer/sequence_pool.hpp>
#include <rowan/layer/train.hpp>
#include <rowan/layer/var.hpp>
