// rowan/distributed.hpp: training and tables on several ranks.
#pragma once

#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/dense_allreduce.hpp>
#include <rowan/distributed/infer.hpp>
#include <rowan/distributed/pending.hpp>
#include <rowan/distributed/plan.hpp>
#include <rowan/distributed/remote_error.hpp>
#include <rowan/distributed/row_allreduce.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/sharded_keyed_table.hpp>
#include <rowan/distributed/sharded_table.hpp>
#include <rowan/distributed/shared_rows.hpp>
#include <rowan/distributed/table_to_place.hpp>
#include <rowan/distributed/threads.hpp>
#include <rowan/distributed/together.hpp>
#include <rowan/distributed/train.hpp>
