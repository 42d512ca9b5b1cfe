// rowan/op/table/weighted_bag.hpp: the former header of embedding_bag with weights, which a later version removes.
#pragma once

#include <rowan/op/table/lookup_bag.hpp>
