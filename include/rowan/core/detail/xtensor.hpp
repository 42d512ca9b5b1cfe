// rowan/core/detail/xtensor.hpp: the parts of xtensor that a container needs, where each version keeps them.
#pragma once

#include <rowan/core/detail/config.hpp>

#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/core/xtensor_config.hpp>
#elif __has_include(<xtensor/xtensor_config.hpp>)
#include <xtensor/xtensor_config.hpp>
#else
#error "rowan needs xtensor 0.24 or newer (Debian: libxtensor-dev)"
#endif
#if XTENSOR_VERSION_MAJOR == 0 && XTENSOR_VERSION_MINOR < 24
#error "rowan needs xtensor 0.24 or newer: this one is too old"
#endif

#if __has_include(<xtensor/containers/xcontainer.hpp>)
#include <xtensor/containers/xcontainer.hpp>
#include <xtensor/core/xsemantic.hpp>
#else
#include <xtensor/xstorage.hpp>

// Before 0.26, two of xtensor's specializations fit a svector where a template's defaults count, as they do from clang 19 on.
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
