// rowan/io/keyed_in_file.hpp: layer::KeyedInFile, the kind of tables whose rows belong to keys and are in a file.
#pragma once
#include <rowan/rowan.hpp>
