// tests/cuda/nccl.cu: the sums over the ranks of NCCL, here one GPU.
#include <rowan/distributed.hpp>
#include <rowan/distributed/nccl.cuh>

#include "catch.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

using rowan::Cpu, rowan::Nccl, rowan::SelectedRows, rowan::Tensor;

TEST_CASE("the sums over one rank of NCCL have the bits of one process", "[cuda]") {
    ncclComm_t world{};
    REQUIRE(ncclCommInitAll(&world, 1, nullptr) == ncclSuccess);
    {
        Nccl const comm(world);
        CHECK(comm.rank() == 0);
        CHECK(comm.size() == 1);
        std::vector<SelectedRows<float>> const parts{{4, {1, 2, 1}, {{1, 2}, {3, 4}, {5, 6}}}, {4, {3}, {{7, 8}}}};
        CHECK(row_allreduce(Cpu{1}, comm, parts) == sum_of_parts(Cpu{1}, parts));
        CHECK(dense_allreduce(Cpu{1}, comm, Tensor<float>{1, 2}) == Tensor<float>{1, 2});
        comm.barrier();

        std::array<std::byte, 3> const in{std::byte{1}, std::byte{2}, std::byte{3}};
        std::array<std::byte, 3> out{};
        comm.alltoall(in, out);
        CHECK(out == in);
    }
    CHECK(ncclCommDestroy(world) == ncclSuccess);
}
