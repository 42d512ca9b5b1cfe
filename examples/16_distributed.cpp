// Training on several ranks prints the same for any number: 16_distributed 3, or mpirun -np 2 16_distributed with -DWITH_MPI.
//     a step   batch 0  1  2  3  4  5  6  7      a table   row 0 … 63   64 … 127   128 … 191   192 … 255   …
//     on rank        0  0  1  1  1  2  2  2      on rank            0          1           2           0   …
#include <rowan/distributed/train.hpp>
#include <rowan/rowan.hpp>
#ifdef WITH_MPI
#include <rowan/distributed/mpi.hpp>
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

using namespace rowan;

std::vector<Feeds> batches(std::int64_t epoch) {
    std::minstd_rand random(static_cast<unsigned>(epoch + 1));  // the same numbers on every machine
    std::vector<Feeds> all;
    for (int b = 0; b < 64; ++b) {
        std::vector<std::int64_t> word, odd;
        for (int i = 0; i < 20 + b % 5; ++i) odd.push_back(word.emplace_back(random() % 1000) % 2);
        all.push_back({{"word", word}, {"odd", odd}});
    }
    return all;
}

template <communicator Comm>
void work(Comm const& comm) {
    Scope scope;
    ScopeGuard const guard(scope);
    auto word = layer::data<std::int64_t>("word", {UNK}), odd = layer::data<std::int64_t>("odd", {UNK});
    auto scores = layer::fc(layer::embedding(word, {.height = 1000, .width = 8, .sharded = true}), {.output_size = 2});
    auto cost = layer::reduce_mean(layer::cross_entropy(scores, odd));
    double last = 0;
    auto learned = train(cost, batches, {.optimizer = layer::AdaGrad{.learning_rate = 0.1}, .comm = comm, .parts = 8, .epochs = 3,
                                         .on_batch = [&](BatchReport r) { last = r.cost; }});
    if (comm.rank() == 0) std::printf("%lld steps, the last cost is %.6f\n", static_cast<long long>(learned.steps), last);

    ShardedTable<float, Cpu, Comm> table(comm, {.height = 100'000, .ranks = comm.size()}, 4, [](std::int64_t row, std::span<float> values) {
        for (float& v : values) v = static_cast<float>(row);  // the first values of a row, on the rank that has it
    });
    typename ShardedTable<float, Cpu, Comm>::Lookup lookup;
    std::vector<std::int64_t> const ids{5, 99'999, 5};  // each rank has ids of its own, or none
    auto const rows = table.gather(Cpu{}, ids, lookup);
    auto moment = Tensor<float>::zeros(table.local().shape());
    adagrad(table.local(), moment, table.gradient(Cpu{}, lookup, rows), {.learning_rate = 1});  // rows: as their gradient
    auto const after = table.gather(Cpu{}, ids, lookup);
    if (comm.rank() == 0) std::printf("row 5 was %g and is %g\n", static_cast<double>(rows(0, 0)), static_cast<double>(after(0, 0)));
}

int main(int argc, char** argv) {
#ifdef WITH_MPI
    return run_mpi(argc, argv, [](Mpi const& comm) { return work(comm), 0; });
#else
    Threads::run(argc > 1 ? std::atoi(argv[1]) : 1, [](Threads const& comm) { work(comm); });
#endif
}
