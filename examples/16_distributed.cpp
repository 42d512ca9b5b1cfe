// Training on several ranks: what it prints has the same bits for any number of them.
//     16_distributed 3                      3 ranks that are threads
//     mpirun -np 2 16_distributed           built with -DWITH_MPI and linked with rowan::mpi
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
    bool const prints = comm.rank() == 0;

    // A step is 8 batches, its parts; each rank runs some of them.
    Scope scope;
    ScopeGuard const guard(scope);
    auto word = layer::data<std::int64_t>("word", {UNK}), odd = layer::data<std::int64_t>("odd", {UNK});
    auto scores = layer::fc(layer::embedding(word, {.height = 1000, .width = 8}), {.output_size = 2});
    double cost = 0;
    auto learned = train(layer::reduce_mean(layer::softmax_with_cross_entropy(scores, odd)), batches, {
        .optimizer = layer::AdaGrad{.learning_rate = 0.1},
        .comm = comm,
        .parts = 8,
        .epochs = 3,
        .on_batch = [&](BatchReport r) { cost = r.cost; },
    });
    if (prints) std::printf("%lld steps, the last cost is %.6f\n", static_cast<long long>(learned.steps), cost);

    // A table of which each rank has some rows: a lookup, its gradient, and a step of AdaGrad where the rows are.
    Partition const partition{.height = 100'000, .ranks = comm.size()};
    ShardedTable<float, Cpu, Comm> table(comm, partition, 4, [](std::int64_t row, std::span<float> values) {
        for (float& v : values) v = static_cast<float>(row);
    });
    auto moment = Tensor<float>::zeros(table.local().shape());
    std::vector<std::int64_t> const ids{5, 99'999, 5};
    typename ShardedTable<float, Cpu, Comm>::Lookup lookup;
    auto const rows = table.gather(Cpu{}, ids, lookup);
    adagrad(table.local(), moment, table.exchange(Cpu{}, lookup, rows), {.learning_rate = 1});
    auto const after = table.gather(Cpu{}, ids, lookup);
    if (prints) std::printf("row 5 was %g and is %g\n", static_cast<double>(rows(0, 0)), static_cast<double>(after(0, 0)));
}

int main(int argc, char** argv) {
#ifdef WITH_MPI
    return run_mpi(argc, argv, [](Mpi const& comm) { return work(comm), 0; });
#else
    Threads::run(argc > 1 ? std::atoi(argv[1]) : 1, [](Threads const& comm) { work(comm); });
#endif
}
