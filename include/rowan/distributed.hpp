// rowan/distributed.hpp: training and tables on several ranks.
#pragma once

#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/remote_error.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/threads.hpp>
#include <rowan/distributed/together.hpp>
