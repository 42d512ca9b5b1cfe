// tests/matrix/versions.cpp: prints the versions of the libraries that this program was compiled with. Calls functions
// that the examples do not use.
#include <rowan/io.hpp>
#include <rowan/rowan.hpp>

#include "catch.hpp"

#include <cstdio>

TEST_CASE("versions", "[matrix]") {
    std::printf("versions: xtensor %d.%d.%d, Catch2 %d.%d.%d, nanopb in %s (%s), OpenMP %s\n", XTENSOR_VERSION_MAJOR,
                XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH,
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

TEST_CASE("a table and padding", "[matrix]") {
    rowan::SelectedRows<float> const grad(3, {2, 0, 2}, rowan::Tensor<float>{{1, 1}, {3, 4}, {2, 3}});
    auto sums = rowan::Tensor<float>::zeros({3, 2});
    rowan::scatter_add(sums, grad);
    CHECK((sums == rowan::Tensor<float>{{3, 4}, {0, 0}, {3, 4}}));
    auto table = rowan::Tensor<float>::zeros({3, 2});
    auto moment = rowan::Tensor<float>::zeros({3, 2});
    rowan::adagrad(table, moment, grad, {.learning_rate = 0.5, .epsilon = 0});
    CHECK((table == rowan::Tensor<float>{{-0.5F, -0.5F}, {0, 0}, {-0.5F, -0.5F}}));
    rowan::Lod const lod{{0, 2, 3}};
    auto const padded = rowan::to_padded(rowan::LoDTensor<float>(sums.share(), lod));
    CHECK((rowan::from_padded(padded.value, lod).value() == sums));
}
