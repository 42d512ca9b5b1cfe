// tests/bench/mpi/allreduce.cpp: row_allreduce beside an allgather of all rows and a merge, as Horovod does it, and
// dense_allreduce beside MPI_Allreduce: in turns, with the bytes that a rank sends beside those of the model. Then the
// costs of the routes for 2 to 4,096 ranks, from what was measured, and what Route::automatic chooses.
//
//     mpirun -np 2 rowan_bench_mpi [--lookups N] [--width N] [--rounds N] [--per-node N] [--alpha US] [--beta NS] [--tiny]
//
// --per-node makes nodes of so many ranks. --alpha and --beta replace the measured microseconds of a message and
// nanoseconds of a byte in the costs.
#include <rowan/distributed/dense_allreduce.hpp>
#include <rowan/distributed/detail/route_model.hpp>
#include <rowan/distributed/mpi.hpp>
#include <rowan/distributed/row_allreduce.hpp>
#include <rowan/sparse/add.hpp>
#include <rowan/sparse/merge.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace rowan;

constexpr std::int64_t height = std::int64_t{1} << 20;
constexpr Cpu exec{1};

/// Mpi, with a count of the bytes that this rank sends to others.
class Counted {
public:
    explicit Counted(Mpi const& mpi) : mpi_(mpi) {}
    int rank() const { return mpi_.rank(); }
    int size() const { return mpi_.size(); }
    void sum(std::span<std::int64_t> words) const { mpi_.sum(words); }
    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const {
        *bytes += in.size() * others();
        mpi_.allgather(in, out);
    }
    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const {
        *bytes += in.size() / (others() + 1) * others();
        mpi_.alltoall(in, out);
    }
    auto alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts,
                   std::span<std::byte> out, std::span<std::size_t const> out_counts) const {
        *bytes += in.size() - counts[static_cast<std::size_t>(rank())] * unit;
        return mpi_.alltoallv(unit, in, counts, out, out_counts);
    }
    auto allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                    std::span<std::size_t const> counts) const {
        *bytes += in.size() * others();
        return mpi_.allgatherv(unit, in, out, counts);
    }
    void barrier() const { mpi_.barrier(); }
    void abort(std::string_view text) const { mpi_.abort(text); }
    std::optional<Nodes<Counted>> nodes() const {
        auto all = mpi_.nodes();
        if (!all) return {};
        return Nodes<Counted>{Counted(all->node, bytes), Counted(all->across, bytes), std::move(all->begins)};
    }

    std::shared_ptr<std::size_t> bytes = std::make_shared<std::size_t>(0);

private:
    Counted(Mpi const& mpi, std::shared_ptr<std::size_t> to) : bytes(std::move(to)), mpi_(mpi) {}
    std::size_t others() const { return static_cast<std::size_t>(size() - 1); }
    Mpi mpi_;
};

struct Options {
    std::size_t lookups = std::size_t{1} << 16, width = 64, rounds = 21;
    double alpha = 0, beta = 0;
    int per_node = 0;
    bool tiny = false;
};

Options parse(int argc, char** argv) {
    Options o;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        auto const next = [&] {
            if (++i == argc) throw std::invalid_argument(std::string(word).append(": a number is missing"));
            return std::stod(argv[i]);
        };
        if (word == "--tiny") {
            o.lookups = 512;
            o.width = 8;
            o.rounds = 2;
            o.tiny = true;
        } else if (word == "--lookups") {
            o.lookups = static_cast<std::size_t>(next());
        } else if (word == "--width") {
            o.width = static_cast<std::size_t>(next());
        } else if (word == "--rounds") {
            o.rounds = static_cast<std::size_t>(next());
        } else if (word == "--per-node") {
            o.per_node = static_cast<int>(next());
        } else if (word == "--alpha") {
            o.alpha = next();
        } else if (word == "--beta") {
            o.beta = next();
        } else {
            throw std::invalid_argument(std::string(word).append(": unknown"));
        }
    }
    return o;
}

/// Ids whose logarithm is uniform, spread over the table.
SelectedRows<float> gradient(Options const& o, int rank) {
    std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
    std::uniform_real_distribution<double> uniform(0, std::log(static_cast<double>(height)));
    std::vector<std::int64_t> ids;
    for (std::size_t i = 0; i < o.lookups; ++i) {
        auto const k = std::min(static_cast<std::int64_t>(std::exp(uniform(random))), height);
        ids.push_back(k * 0x9E3779B1 % height);
    }
    auto value = Tensor<float>::from_shape({o.lookups, o.width});
    for (float& x : value) x = static_cast<float>(random() % 4096) * 0x1p-12F - 0.5F;
    return {height, ids, std::move(value)};
}

/// The number of sums in which the contributions of a rank travel by owner: to a row that lower ranks have, each one by
/// itself until a block of 64 begins, then the blocks, then the rest as one.
double pieces(Options const& o, int rank) {
    std::unordered_map<std::int64_t, std::size_t> before, mine;
    for (int r = 0; r <= rank; ++r) {
        for (std::int64_t const row : gradient(o, r).rows()) ++(r < rank ? before : mine)[row];
    }
    std::size_t sum = 0;
    for (auto const& [row, n] : mine) {
        std::size_t const alone = std::min(n, (64 - before[row] % 64) % 64);
        sum += alone + (n - alone + 63) / 64;
    }
    return static_cast<double>(sum);
}

/// What Horovod does: all ids and all rows to all, and then a merge.
SelectedRows<float> gathered(SelectedRows<float> const& g, int size) {
    int const mine = static_cast<int>(g.rows().size()), width = static_cast<int>(g.row_size());
    std::vector<int> rows(static_cast<std::size_t>(size)), row_at, values, value_at;
    MPI_Allgather(&mine, 1, MPI_INT, rows.data(), 1, MPI_INT, MPI_COMM_WORLD);
    int all = 0;
    for (int const n : rows) {
        row_at.push_back(all);
        values.push_back(n * width);
        value_at.push_back(all * width);
        all += n;
    }
    std::vector<std::int64_t> ids(static_cast<std::size_t>(all));
    auto value = Tensor<float>::from_shape({ids.size(), g.row_size()});
    MPI_Allgatherv(g.rows().data(), mine, MPI_INT64_T, ids.data(), rows.data(), row_at.data(), MPI_INT64_T,
                   MPI_COMM_WORLD);
    MPI_Allgatherv(g.value().data(), mine * width, MPI_FLOAT, value.data(), values.data(), value_at.data(), MPI_FLOAT,
                   MPI_COMM_WORLD);
    return merge(exec, SelectedRows<float>(height, ids, std::move(value)));
}

double most(double x) {
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return x;
}
double mean(double x, int size) {
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return x / size;
}

struct Method {
    std::string name;
    std::function<void()> run;
    double model;  // bytes that this rank sends; 0: none
    std::vector<double> ms{};
    std::size_t bytes = 0;

    double least() const { return *std::ranges::min_element(ms); }
    double median() const {
        auto sorted = ms;
        std::ranges::sort(sorted);
        return sorted[sorted.size() / 2];
    }
};

/// Milliseconds until the last rank has ended.
double timed(std::function<void()> const& f) {
    MPI_Barrier(MPI_COMM_WORLD);
    auto const start = std::chrono::steady_clock::now();
    f();
    return most(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
}

/// Milliseconds in which each rank sends bytes to the next one.
double message(int rank, int size, std::size_t bytes, int times) {
    std::vector<std::byte> out(bytes), in(bytes);
    int const n = static_cast<int>(bytes), to = (rank + 1) % size, from = (rank + size - 1) % size;
    double least = 1e9;
    for (int k = 0; k < 5; ++k) {
        double const ms = timed([&] {
            for (int i = 0; i < times; ++i)
                MPI_Sendrecv(out.data(), n, MPI_BYTE, to, 0, in.data(), n, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        });
        least = std::min(least, ms / times);
    }
    return least;
}

/// The expected number of distinct ids of `draws` lookups.
double distinct(double draws) {
    double sum = 0;
    double const whole = std::log(static_cast<double>(height));
    for (std::int64_t k = 1, step = 1; k < height; k += step, step = 1 + k / 256)  // ids from k on, in groups
        sum -=
            static_cast<double>(std::min(step, height - k)) *
            std::expm1(-draws * std::log1p(1 / (static_cast<double>(k) + static_cast<double>(step - 1) / 2)) / whole);
    return sum;
}

/// Costs of the two routes, from the least times. alpha: ms of a message; beta: ms of a byte that travels; gamma: of
/// one that is summed.
struct Model {
    double alpha, beta, gamma, merge, u, row;

    static double small(double ranks) { return std::ceil(std::log2(ranks)); }  // messages of an allgather of numbers
    static double gather_messages(double p) { return 2 * (p - 1) + small(p); }
    static double owner_messages(double p) { return 4 * (p - 1) + 4 * small(p); }
    static Route choice(double p, double per_node, double u, double all, double row) {
        auto const whole = [](double x) { return static_cast<std::size_t>(x); };
        double const bytes = p * u * row;
        return detail::fastest_route({whole(p), whole(p / per_node), whole(per_node), whole(bytes), whole(bytes),
                                      whole(bytes), whole(all * row)});
    }
    double gather_bytes(double p) const { return (p - 1) * u * row; }
    double owner_bytes(double p, double all) const { return (p - 1) / p * (u + all) * row; }
    double gather(double p) const {
        return merge + gather_messages(p) * alpha + gather_bytes(p) * beta + p * u * row * gamma;
    }
    double owner(double p, double all) const {
        return merge + owner_messages(p) * alpha + owner_bytes(p, all) * beta + (u + all / 2) * row * gamma;
    }
};

void print(Model const& model, double lookups) {
    std::printf("\n%6s %9s | %8s %9s %9s | %8s %9s %9s | %s\n", "ranks", "distinct", "messages", "MB", "gather ms",
                "messages", "MB", "owner ms", "gather/owner");
    for (int ranks = 2; ranks <= 4096; ranks *= 2) {
        double const p = ranks, all = distinct(p * lookups);
        std::printf("%6d %9.0f | %8.0f %9.2f %9.2f | %8.0f %9.2f %9.2f | %.2f\n", ranks, all, Model::gather_messages(p),
                    model.gather_bytes(p) / 1e6, model.gather(p), Model::owner_messages(p),
                    model.owner_bytes(p, all) / 1e6, model.owner(p, all), model.gather(p) / model.owner(p, all));
    }
    // Below so many lookups of a rank, gather is faster.
    std::printf("\nlookups of a rank from which on\n%6s %15s %15s %15s\n", "ranks", "owner is faster",
                "owner is chosen", "node, of nodes of 8");
    for (int ranks = 2; ranks <= 4096; ranks *= 2) {
        double const p = ranks;
        std::array<double, 3> from{};
        for (double n = 1; n <= 1 << 22; n *= 1.25) {
            Model m = model;
            m.u = distinct(n);
            m.merge = 0;
            double const all = distinct(p * n), guess = std::min(0.75 * p * m.u, static_cast<double>(height));
            if (from[0] == 0 && m.owner(p, all) < m.gather(p)) from[0] = n;
            if (from[1] == 0 && Model::choice(p, p, m.u, guess, m.row) == Route::owner) from[1] = n;
            if (ranks > 8 && from[2] == 0 && Model::choice(p, 8, m.u, guess, m.row) == Route::node) from[2] = n;
        }
        std::printf("%6d", ranks);
        for (double const n : from) n == 0 ? std::printf(" %15s", "none") : std::printf(" %15.0f", n);
        std::printf("\n");
    }
}

int bench(Mpi const& mpi, Options const& o) {
    Counted const comm(mpi);
    int const size = comm.size();
    double const p = size, f = (p - 1) / p;
    auto const g = gradient(o, comm.rank());
    auto const want = gathered(g, size);
    auto const bits = [](SelectedRows<float> const& s) {
        return std::as_bytes(std::span(s.value().data(), s.value().size()));
    };
    double const id = sizeof(std::int64_t), row = static_cast<double>(o.width) * sizeof(float),
                 n = static_cast<double>(o.lookups), u = static_cast<double>(merge(exec, g).rows().size()),
                 v = pieces(o, comm.rank()), all = static_cast<double>(want.rows().size());
    auto dense = Tensor<float>::full({o.tiny ? 1000U : 1U << 22}, 0.5F);
    auto reduced = Tensor<float>::from_shape(dense.shape());

    // Within the node to the places; between nodes, with keys, to the owners; and the sums back.
    double by_node = f * (u + all) * (row + id);
    if (auto const nodes = comm.nodes()) {
        double const q = nodes->node.size(), m = static_cast<double>(nodes->begins.size() - 1);
        auto of_node = g;
        for (int r = 0; r < size; ++r) {
            if (r / nodes->node.size() == comm.rank() / nodes->node.size())
                of_node = merge(exec, add(of_node, gradient(o, r)));
        }
        by_node = (q - 1) / q * (u + all) * (row + id) +
                  (m - 1) / m / q * (static_cast<double>(of_node.rows().size()) * (row + 2 * id) + all * (row + id));
    }
    *comm.bytes = 0;
    std::vector<Method> methods;
    auto const rows = [&](char const* name, SumOrder order, Route route, double model) {
        methods.push_back({name, [&, order, route] { row_allreduce(exec, comm, g, {order, route}); }, model});
    };
    methods.push_back({"unmerged allgather, merge", [&] { gathered(g, size); }, 0});
    rows("row_allreduce, parts", SumOrder::parts, Route::automatic, 0);
    rows("  gather", SumOrder::parts, Route::gather, (p - 1) * u * (row + id));
    rows("  owner", SumOrder::parts, Route::owner, f * (u + all) * (row + id));
    rows("row_allreduce, contributions", SumOrder::contributions, Route::automatic, 0);
    rows("  gather", SumOrder::contributions, Route::gather, (p - 1) * n * (row + id));
    rows("  owner", SumOrder::contributions, Route::owner,
         f * (v * (row + 2 * id) + u * 3 * id) + f * all * (row + id));
    rows("row_allreduce, parts, node", SumOrder::parts, Route::node, by_node);
    rows("row_allreduce, contributions, node", SumOrder::contributions, Route::node, 0);
    methods.push_back({"MPI_Allreduce",
                       [&] {
                           MPI_Allreduce(dense.data(), reduced.data(), static_cast<int>(dense.size()), MPI_FLOAT,
                                         MPI_SUM, MPI_COMM_WORLD);
                       },
                       0});
    methods.push_back({"dense_allreduce", [&] { dense_allreduce(exec, comm, dense); },
                       2 * f * static_cast<double>(dense.size()) * sizeof(float)});

    for (auto const route : {Route::gather, Route::owner, Route::node}) {
        if (!std::ranges::equal(bits(row_allreduce(exec, comm, g, {SumOrder::contributions, route})), bits(want)))
            throw std::runtime_error("other bits than the merge of all");
    }
    std::vector<double> merges;
    for (std::size_t k = 0; k <= o.rounds; ++k) {
        for (auto& m : methods) {
            *comm.bytes = 0;
            double const ms = timed(m.run);
            m.bytes = *comm.bytes;
            if (k != 0) m.ms.push_back(ms);  // the first round warms up
        }
        merges.push_back(timed([&] { merge(exec, g); }));
    }
    bool right = true;
    if (comm.rank() == 0)
        std::printf(
            "%d ranks, %zu lookups of %zu floats on each, %.0f distinct on rank 0, %.0f in all\n%-34s %8s %8s %8s %9s "
            "%s\n",
            size, o.lookups, o.width, u, all, "", "median", "least", "ratio", "MB sent", "of the model");
    for (auto const& m : methods) {
        auto const& base =
            methods[m.name.find("llreduce") == std::string::npos || m.name.starts_with("row") ? 0 : methods.size() - 2];
        double const sent = mean(static_cast<double>(m.bytes), size), model = mean(m.model, size);
        if (comm.rank() == 0) {
            std::printf("%-34s %8.3f %8.3f %8.2f", m.name.c_str(), m.median(), m.least(), m.median() / base.median());
            if (sent != 0) std::printf(" %9.3f", sent / 1e6);
            if (model != 0) std::printf(" %.3f", sent / model);
            std::printf("\n");
        }
        right = right && (model == 0 || o.tiny || std::abs(sent / model - 1) < 0.05);
    }
    double const own_merge = *std::ranges::min_element(merges);
    double const alpha = message(comm.rank(), size, 8, o.tiny ? 10 : 1000);
    std::size_t const large = o.tiny ? 1 << 16 : 1 << 23;
    double const beta = message(comm.rank(), size, large, 3) / static_cast<double>(large);
    Model model{alpha, beta, 0, own_merge, mean(u, size), row + id};
    if (size > 1) model.gamma = std::max(0.0, methods[2].least() - model.gather(p)) / (p * model.u * model.row);
    if (comm.rank() == 0) {
        std::printf(
            "\nmerge %.3f ms; alpha %.2f us, beta %.3f ns, gamma %.3f ns; owner measured %.2f ms, by the model %.2f "
            "ms\n",
            own_merge, model.alpha * 1e3, model.beta * 1e6, model.gamma * 1e6, methods[3].least(), model.owner(p, all));
        if (o.alpha != 0) model.alpha = o.alpha * 1e-3;
        if (o.beta != 0) model.beta = o.beta * 1e-6;
        print(model, n);
        if (!right) std::printf("a rank sends more or less than 5%% beside the model\n");
    }
    return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_mpi(argc, argv, [&](Mpi const&) {
        auto const o = parse(argc, argv);
        return bench(Mpi(MPI_COMM_WORLD, o.per_node), o);
    });
}
