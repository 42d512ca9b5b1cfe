// rowan/own_operator.hpp: what a net needs of an operator, an element type or a device that the compiled library does not know.
#pragma once

// With the compiled library, other headers declare operators, and it has their kernels for float and double on the host.
// A net with others includes this header, too: operators of one's own, one's own element types and 16-bit ones, Thrust
// devices. Header-only, all headers have these functions, and this one adds nothing.
#include <rowan/core/detail/config.hpp>

#if ROWAN_DECLARES_OPERATORS
#include <rowan/graph/detail/held_values.hpp>
#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/op.hpp>
#include <rowan/train/detail/deferred_op.hpp>
#include <rowan/train/detail/gradient_sums.hpp>
#include <rowan/train/detail/make_clip.hpp>
#include <rowan/train/detail/make_update.hpp>
#include <rowan/train/detail/train_settings.hpp>
#endif

#define ROWAN_HAS_OWN_OPERATORS
#if ROWAN_DECLARES_OPERATORS && defined(ROWAN_READS_PROGRAMS)
#include <rowan/io/detail/load_net.hpp>  // of a program that reads files
#endif
