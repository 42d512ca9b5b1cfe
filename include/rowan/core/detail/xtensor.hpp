// rowan/core/detail/xtensor.hpp: the xtensor headers that a container needs, by version of xtensor.
#pragma once

#include <rowan/core/detail/config.hpp>

#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/core/xtensor_config.hpp>
#elif __has_include(<xtensor/xtensor_config.hpp>)
#include <xtensor/xtensor_config.hpp>
#else
ROWAN_ERROR(rowan needs xtensor ROWAN_MIN_XTENSOR or newer (Debian: libxtensor-dev));
#endif
static_assert(XTENSOR_VERSION_MAJOR + XTENSOR_VERSION_MINOR / 100.0 >= ROWAN_MIN_XTENSOR,
              "rowan needs xtensor " ROWAN_STRING(ROWAN_MIN_XTENSOR) " or newer: this one is too old");

#if __has_include(<xtensor/containers/xcontainer.hpp>)
#include <xtensor/containers/xcontainer.hpp>
#include <xtensor/core/xsemantic.hpp>
#else
#include <xtensor/xstorage.hpp>

// Before xtensor 0.26, two specializations of rebind_container match a svector if default arguments of template
// template arguments are considered, as in clang 19 and newer.
#if defined(__clang__) && defined(__cpp_template_template_args)
namespace xt {
template <class X, class T, std::size_t N>
struct rebind_container<X, svector<T, N, std::allocator<T>, true>> {
    using type = svector<X, N, std::allocator<X>, true>;
};
}  // namespace xt
#endif

#include <xtensor/xcontainer.hpp>
#include <xtensor/xsemantic.hpp>
#endif
