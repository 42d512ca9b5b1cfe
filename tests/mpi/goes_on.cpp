// tests/mpi/goes_on.cpp FOLDER VICTIM MICROSECONDS: trains with saves in FOLDER, and prints a hash of the result. One rank is killed after some time.
#include <rowan/distributed/mpi.hpp>
#include <rowan/distributed/train.hpp>
#include <rowan/distributed/train_checkpoint.hpp>
#include <rowan/train/optimizers.hpp>

#include "distributed/sharded_nets.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

int main(int argc, char** argv) {
    using namespace rowan;
    return run_mpi(argc, argv, [&](Mpi const& comm) {
        if (argc != 4) return 2;
        if (std::atoi(argv[2]) == comm.rank()) {
            std::thread([time = std::chrono::microseconds(std::atoi(argv[3])), file = std::string(argv[1]) + ".killed"] {
                std::this_thread::sleep_for(time);
                std::fclose(std::fopen(file.c_str(), "w"));
                ::kill(::getpid(), SIGKILL);
            }).detach();
        }
        sharded::Net1 const net(true);
        auto const read = [](std::int64_t epoch) { return sharded::batches(8 * (epoch % 4), 8 * (epoch % 4 + 1)); };
        auto const learned = train(net.cost, read,
                                   {.optimizer = layer::Adam{}, .comm = comm, .parts = 3, .epochs = 100,
                                    .checkpoint = train_checkpoint(comm, {.folder = argv[1], .every = 7}), .exec = {1}});
        sharded::Hash const own = sharded::hash_of(learned);
        std::vector<sharded::Hash> all(static_cast<std::size_t>(comm.size()));
        comm.allgather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
        auto const sum = sharded::together(all);
        if (comm.rank() == 0) std::printf("hash %llx %llx\n", static_cast<unsigned long long>(sum.rows), static_cast<unsigned long long>(sum.others));
        return 0;
    });
}
