// tests/mpi/main.cpp: runs Catch2's cases on all ranks of mpirun.
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include "distributed/on_ranks.hpp"

#include <string_view>

namespace {

rowan::Mpi const* all_ranks = nullptr;

}  // namespace

rowan::Mpi const& test::world() { return *all_ranks; }

int main(int count, char** arguments) {
    return rowan::run_mpi(count, arguments, [&](rowan::Mpi const& comm) {
        all_ranks = &comm;
        return Catch::Session().run(count, arguments);
    });
}
