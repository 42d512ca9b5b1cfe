// rowan/io.hpp: models in files.
#pragma once

#include <rowan/io/model.hpp>
