// rowan/train/keyed.hpp: layer::Keyed, the kind of tables whose rows belong to keys.
#pragma once
#include <rowan/rowan.hpp>
