// tests/mpi/failures.cpp CASE: what can go wrong on some ranks. failures.sh runs it.
#include <rowan/core/bfloat16.hpp>
#include <rowan/distributed/dense_allreduce.hpp>
#include <rowan/distributed/mpi.hpp>
#include <rowan/distributed/row_allreduce.hpp>
#include <rowan/distributed/together.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

using namespace rowan;

namespace {

SelectedRows<float> gradient(std::int64_t height) { return {height, {1, 2, 1}, {{1, 2}, {3, 4}, {5, 6}}}; }

void works(Mpi const& comm) {
    auto const sum = row_allreduce(Cpu{1}, comm, gradient(4));
    if (sum.value()(0, 0) != 6.0F * static_cast<float>(comm.size())) throw Error("a wrong sum");
}

/// Whether f throws on every rank.
template <class F>
void fails(Mpi const& comm, F const& f) {
    try {
        f();
    } catch (std::exception const&) {
        return works(comm);
    }
    throw Error("nothing was thrown");
}

/// Errors that all ranks get, after which work goes on.
void recoverable(Mpi const& comm) {
    bool const odd = comm.rank() % 2 == 1;
    fails(comm, [&] { row_allreduce(Cpu{1}, comm, gradient(odd ? 5 : 4)); });
    fails(comm, [&] {
        odd ? void(row_allreduce(Cpu{1}, comm, gradient(4))) : void(dense_allreduce(Cpu{1}, comm, Tensor<float>{1, 2}));
    });
    fails(comm, [&] {
        SelectedRows<bfloat16> const other(4, {1}, Tensor<bfloat16>::full({1, 2}, bfloat16(1.0F)));
        odd ? void(row_allreduce(Cpu{1}, comm, gradient(4))) : void(row_allreduce(Cpu{1}, comm, other));
    });
    fails(comm, [&] { row_allreduce(Cpu{1}, comm, std::vector<SelectedRows<float>>(odd ? 0 : 1, gradient(4))); });
    fails(comm, [&] {
        together(comm, [&] { SelectedRows<float>(4, {odd ? 9 : 3}, {{1, 2}}); });
        row_allreduce(Cpu{1}, comm, gradient(4));
    });
    fails(comm, [&] { dense_allreduce(Cpu{1}, comm, Tensor<float>::zeros({odd ? 3U : 2U})); });
    fails(comm, [&] {
        together(comm, [&] {
            if (odd) throw std::runtime_error("of another library");
        });
    });
}

/// More than 2 GiB from rank 0 to rank 1.
void large(Mpi const& comm) {
    static constexpr std::size_t mebibyte = std::size_t{1} << 20, n = 2200;
    auto const mark = [](std::size_t i) { return static_cast<std::uint8_t>(i * 7 % 251); };
    bool const first = comm.rank() == 0;
    auto const memory = [](std::size_t bytes) { return Tensor<std::uint8_t>::from_shape({bytes}); };  // not initialised
    auto out = memory(first ? n * mebibyte : 0), in = memory(first ? 0 : n * mebibyte);
    for (std::size_t i = 0; first && i < n; ++i) out.data()[i * mebibyte] = mark(i);
    std::vector<std::size_t> const send{0, first ? n : 0}, receive{first ? 0 : n, 0};
    auto const bytes = [](auto& t) { return std::as_writable_bytes(std::span(t.data(), t.size())); };
    comm.alltoallv(mebibyte, bytes(out), send, bytes(in), receive).wait();
    for (std::size_t i = 0; !first && i < n; ++i) {
        if (in.data()[i * mebibyte] != mark(i)) throw Error("a wrong byte");
    }
}

/// The last rank comes two seconds late, for which the others wait a second.
void late(Mpi const& comm, bool in_exchange) {
    comm.expect("step 17's fetch", std::chrono::seconds(1));
    if (comm.rank() == comm.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    if (!in_exchange) return works(comm);
    std::vector<std::size_t> const one(static_cast<std::size_t>(comm.size()), 1);
    std::vector<std::byte> out(one.size()), in(one.size());
    comm.alltoallv(1, out, one, in, one).wait();
}

/// The same, in which each rank catches what it gets, also the late one, and asks again.
void caught(Mpi const& comm) {
    try {
        late(comm, false);
    } catch (RemoteError const& e) {
        auto const refused = [](auto const& call) {
            try {
                call();
                return false;
            } catch (RemoteError const&) {
                return true;
            }
        };
        std::int64_t word = 0;
        bool const all = refused([&] { comm.barrier(); }) && refused([&] { comm.sum({&word, 1}); }) &&
                         refused([&] { static_cast<void>(comm.duplicate()); }) &&
                         refused([&] { static_cast<void>(comm.nodes()); }) && refused([&] { works(comm); });
        bool const named = e.rank() == comm.size() - 1 &&
                           std::string_view(e.what()).starts_with("rank 2 has not come to step 17's fetch for 1 s");
        if (all && named) std::printf("rank %d is refused\n", comm.rank());
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::seconds(2));  // until all have said so
        throw;
    }
}

}  // namespace

int main(int argc, char** argv) {
    return run_mpi(argc, argv, [&](Mpi const& comm) {
        std::string_view const what = argc > 1 ? argv[1] : "";
        bool const last = comm.rank() == comm.size() - 1;
        works(comm);
        if (what == "recoverable") {
            recoverable(comm);
        } else if (what == "large") {
            large(comm);
        } else if (what == "late" || what == "late_exchange") {
            late(comm, what == "late_exchange");
        } else if (what == "caught") {
            caught(comm);
        } else if (what == "slow") {
            detail::report_waits_after = 500;
            comm.expect("step 17's fetch", {});
            if (last) std::this_thread::sleep_for(std::chrono::milliseconds(1800));
        } else if (what == "leaves" && last) {
            throw IndexError("rows", 1, 9, 4);
        } else if (what == "returns" && last) {
            return 0;
        } else if (what == "memory" && last) {
            detail::after_agreement(detail::GroupOf<Mpi>(comm), []() -> void { throw std::bad_alloc(); });
        } else if (what == "killed" && last) {
            static_cast<void>(std::raise(SIGKILL));
        }
        works(comm);
        if (comm.rank() == 0) std::puts("all good");
        return 0;
    });
}
