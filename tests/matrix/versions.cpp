// tests/matrix/versions.cpp: says which versions of the libraries the other tests of this program were compiled with.
#include <rowan/io.hpp>
#include <rowan/rowan.hpp>

#include "catch.hpp"

#include <cstdio>

TEST_CASE("versions", "[matrix]") {
    std::printf("versions: xtensor %d.%d.%d, xsimd %d.%d.%d, Catch2 %d.%d.%d, nanopb in %s (%s), OpenMP %s\n", XTENSOR_VERSION_MAJOR,
                XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH, XSIMD_VERSION_MAJOR, XSIMD_VERSION_MINOR, XSIMD_VERSION_PATCH,
                CATCH_VERSION_MAJOR, CATCH_VERSION_MINOR, CATCH_VERSION_PATCH,
#if __has_include(<nanopb/pb.h>)
                "<nanopb/pb.h>",
#else
                "<pb.h>",
#endif
                NANOPB_VERSION,
#ifdef _OPENMP
                "yes"
#else
                "no"
#endif
    );
}
