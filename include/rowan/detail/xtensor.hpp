// rowan/detail/xtensor.hpp: the parts of xtensor that a container needs, where each version keeps them.
#pragma once

#if __has_include(<xtensor/containers/xcontainer.hpp>)
#include <xtensor/containers/xcontainer.hpp>
#include <xtensor/core/xsemantic.hpp>
#elif __has_include(<xtensor/xcontainer.hpp>)
#include <xtensor/xcontainer.hpp>
#include <xtensor/xsemantic.hpp>
#else
#error "rowan needs xtensor 0.24 or newer (Debian: xtensor-dev)"
#endif
