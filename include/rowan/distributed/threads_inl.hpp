// rowan/distributed/threads_inl.hpp: the functions of threads.hpp.
#pragma once

#include <rowan/distributed/threads.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/distributed/detail/long_wait.hpp>
#include <rowan/distributed/remote_error.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// errors   Error if the sizes differ
inline void copy_bytes(std::span<std::byte const> from, std::span<std::byte> to) {
    if (from.size() != to.size()) throw Error("ranks disagree about the number of bytes that one sends to the other");
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace detail

struct Threads::World {
    std::chrono::milliseconds patience{};
    std::mutex mutex;  // of all that follows, and of what Shared says
    std::condition_variable changed;
    std::vector<detail::Expected> expected;  // by rank
    std::vector<std::string_view> calls;     // in which ranks wait; else empty
    std::string error;                       // what has broken the groups
    int error_rank = -1;
    bool late = false;  // whether it is that this rank has not come
};

struct Threads::Lock : std::unique_lock<std::mutex> {
    using std::unique_lock<std::mutex>::unique_lock;
};

struct Threads::Shared {
    int number(int rank) const { return first + rank * step; }  // among all ranks

    std::shared_ptr<World> world;
    int first = 0, step = 1, size = 0;
    // What each rank brings to the operation that all are in.
    std::vector<std::span<std::byte const>> in;
    std::vector<std::span<std::size_t const>> counts;
    std::vector<std::shared_ptr<Shared>> nodes, places;  // of all ranks, if these have several nodes

    // With the mutex of the world:
    std::string_view op;  // of the first that has arrived
    int op_rank = 0, arrived = 0, ended_rank = -1;
    unsigned phase = 0;
};

ROWAN_CALLED_FUNCTION std::shared_ptr<Threads::Shared> Threads::all_ranks(int ranks, std::chrono::milliseconds patience,
                                                                          int per_node) {
    auto const world = std::make_shared<World>();
    world->patience = patience;
    world->expected.resize(static_cast<std::size_t>(ranks));
    world->calls.resize(world->expected.size());
    auto const group = [&](int first, int step, int size) {
        auto shared = std::make_shared<Shared>();
        shared->world = world;
        shared->first = first;
        shared->step = step;
        shared->size = size;
        shared->in.resize(static_cast<std::size_t>(size));
        shared->counts.resize(shared->in.size());
        return shared;
    };
    auto all = group(0, 1, ranks);
    if (per_node == 0 || per_node >= ranks) return all;
    for (int first = 0; first < ranks; first += per_node)
        all->nodes.push_back(group(first, 1, std::min(per_node, ranks - first)));
    for (int place = 0; place < per_node; ++place)
        all->places.push_back(group(place, per_node, (ranks - place - 1) / per_node + 1));
    return all;
}

ROWAN_CALLED_FUNCTION std::optional<Nodes<Threads>> Threads::nodes() const {
    if (shared_->nodes.empty()) return {};
    int const per_node = shared_->nodes[0]->size, node = rank_ / per_node, place = rank_ % per_node;
    std::vector<int> begins;
    for (auto const& n : shared_->nodes) begins.push_back(n->first);
    begins.push_back(size());
    return Nodes<Threads>{Threads(shared_->nodes[static_cast<std::size_t>(node)], place),
                          Threads(shared_->places[static_cast<std::size_t>(place)], node), std::move(begins)};
}

ROWAN_CALLED_FUNCTION void Threads::run(int ranks, std::function<void(Threads const&)> const& f,
                                        std::chrono::milliseconds patience, int per_node) {
    if (ranks < 1) throw ValueError("ranks", ranks, "1 or more");
    if (per_node < 0) throw ValueError("per_node", per_node, "0 or more");
    auto const shared = all_ranks(ranks, patience, per_node);
    auto const& world = shared->world;
    std::exception_ptr first, any;  // of the rank that broke the group; of any rank
    auto const rank = [&](int r) {
        std::exception_ptr error;
        std::string text;
        try {
            f(Threads(shared, r));
        } catch (std::exception const& e) {
            error = std::current_exception();
            text = e.what();
        } catch (...) {
            error = std::current_exception();
            text = "an exception that is not a std::exception";
        }
        std::scoped_lock const lock(world->mutex);
        if (!any) any = error;
        if (error && (world->error_rank < 0 || (world->error_rank == r && !first))) {
            world->error_rank = r;
            if (!world->late) world->error = text;
            first = error;
        }
        auto const ended = [&](Shared& group) {
            if (group.ended_rank < 0) group.ended_rank = r;
        };
        ended(*shared);
        if (!shared->nodes.empty()) {
            ended(*shared->nodes[static_cast<std::size_t>(r / per_node)]);
            ended(*shared->places[static_cast<std::size_t>(r % per_node)]);
        }
        world->changed.notify_all();
    };
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r) threads.emplace_back(rank, r);
    for (auto& t : threads) t.join();
    if (any) std::rethrow_exception(first ? first : any);
}

ROWAN_CALLED_FUNCTION int Threads::size() const noexcept { return shared_->size; }

ROWAN_CALLED_FUNCTION void Threads::sum(std::span<std::int64_t> words) const {
    std::vector<std::uint64_t> total(words.size());
    meet("sum", std::as_bytes(words), {}, [&] {
        for (auto const from : shared_->in) {
            if (from.size() != words.size_bytes()) throw Error("sum: the ranks' sizes differ");
            for (std::size_t i = 0; i < total.size(); ++i) {
                std::uint64_t term = 0;  // a vector would need memory, which may fail here on one rank alone
                std::memcpy(&term, from.data() + i * sizeof term, sizeof term);
                total[i] += term;
            }
        }
    });
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::int64_t>(total[i]);
}

ROWAN_CALLED_FUNCTION void Threads::allgather(std::span<std::byte const> in, std::span<std::byte> out) const {
    meet("allgather", in, {}, [&] {
        std::size_t to = 0;
        for (auto const from : shared_->in) {
            if (out.size() - to < from.size()) throw Error("allgather: the ranks' sizes differ");
            detail::copy_bytes(from, out.subspan(to, in.size()));
            to += in.size();
        }
    });
}

ROWAN_CALLED_FUNCTION void Threads::alltoall(std::span<std::byte const> in, std::span<std::byte> out) const {
    std::size_t const each = in.size() / shared_->in.size();
    meet("alltoall", in, {}, [&] {
        std::size_t to = 0;
        for (auto const from : shared_->in) {
            if (from.size() != in.size()) throw Error("alltoall: the ranks' sizes differ");
            detail::copy_bytes(from.subspan(static_cast<std::size_t>(rank_) * each, each), out.subspan(to, each));
            to += each;
        }
    });
}

ROWAN_CALLED_FUNCTION detail::Done Threads::alltoallv(std::size_t unit, std::span<std::byte const> in,
                                                      std::span<std::size_t const> counts, std::span<std::byte> out,
                                                      std::span<std::size_t const> out_counts) const {
    meet("alltoallv", in, counts, [&] {
        std::size_t to = 0;
        for (std::size_t r = 0; r < out_counts.size(); ++r) {
            auto const theirs = shared_->counts[r];
            std::size_t const begin = std::accumulate(theirs.begin(), theirs.begin() + rank_, std::size_t{0});
            std::size_t const count = theirs[static_cast<std::size_t>(rank_)];
            detail::copy_bytes(shared_->in[r].subspan(begin * unit, count * unit),
                               out.subspan(to, out_counts[r] * unit));
            to += out_counts[r] * unit;
        }
    });
    return {};
}

ROWAN_CALLED_FUNCTION detail::Done Threads::allgatherv(std::size_t unit, std::span<std::byte const> in,
                                                       std::span<std::byte> out,
                                                       std::span<std::size_t const> counts) const {
    meet("allgatherv", in, {}, [&] {
        std::size_t to = 0;
        for (std::size_t r = 0; r < counts.size(); ++r) {
            detail::copy_bytes(shared_->in[r], out.subspan(to, counts[r] * unit));
            to += counts[r] * unit;
        }
    });
    return {};
}

ROWAN_CALLED_FUNCTION void Threads::barrier() const {
    meet("barrier", {}, {}, [] {});
}

ROWAN_CALLED_FUNCTION void Threads::abort(std::string_view text) const {
    std::scoped_lock const lock(shared_->world->mutex);
    fail(std::string(text));
}

ROWAN_CALLED_FUNCTION void Threads::meet(std::string_view op, std::span<std::byte const> in,
                                         std::span<std::size_t const> counts, std::function<void()> const& f) const {
    shared_->in[static_cast<std::size_t>(rank_)] = in;
    shared_->counts[static_cast<std::size_t>(rank_)] = counts;
    arrive(op);
    std::exception_ptr error;
    try {
        f();
    } catch (...) {
        error = std::current_exception();
    }
    leave();  // in any case: the others may still read what this rank has brought
    if (error) std::rethrow_exception(error);
}

ROWAN_CALLED_FUNCTION void Threads::arrive(std::string_view op) const {
    auto& world = *shared_->world;
    Lock lock(world.mutex);
    if (world.error_rank >= 0) throw_error();
    if (shared_->arrived == 0) {
        shared_->op = op;
        shared_->op_rank = rank_;
    } else if (shared_->op != op) {
        fail(std::string("rank ")
                 .append(std::to_string(shared_->number(rank_)))
                 .append(" calls ")
                 .append(op)
                 .append(" where rank ")
                 .append(std::to_string(shared_->number(shared_->op_rank)))
                 .append(" calls ")
                 .append(shared_->op));
    }
    unsigned const phase = shared_->phase;
    if (++shared_->arrived == shared_->size) {
        shared_->arrived = 0;
        ++shared_->phase;
        world.changed.notify_all();
        return;
    }
    wait(lock, op, phase);
    if (shared_->phase != phase) return;
    if (world.error_rank < 0) {
        world.error_rank = shared_->ended_rank;
        world.error = std::string("has ended, where others call ").append(op);
        world.changed.notify_all();
    }
    throw_error();
}

ROWAN_CALLED_FUNCTION void Threads::wait(Lock& lock, std::string_view op, unsigned phase) const {
    using Clock = std::chrono::steady_clock;
    auto& world = *shared_->world;
    auto const me = static_cast<std::size_t>(shared_->number(rank_));
    auto const& expected = world.expected[me];
    auto const begin = Clock::now(),
               end = begin + (expected.patience.count() == 0 ? world.patience : expected.patience);
    auto const period = std::chrono::milliseconds(detail::report_waits_after.load());
    world.calls[me] = op;
    for (auto report_at = begin + period;;) {
        bool const woken = world.changed.wait_until(lock, std::min(report_at, end), [&] {
            return shared_->phase != phase || world.error_rank >= 0 || shared_->ended_rank >= 0;
        });
        auto const now = Clock::now();
        if (woken) break;
        if (now < std::min(report_at, end)) continue;
        std::vector<int> members;
        for (int r = 0; r < shared_->size; ++r) members.push_back(shared_->number(r));
        auto const late = detail::late_ranks(members, static_cast<int>(world.calls.size()),
                                             [&](int r) { return !world.calls[static_cast<std::size_t>(r)].empty(); });
        auto text = detail::late_text(late, expected.text(op), now - begin);
        if (now >= report_at) {
            report(text);
            report_at = now + period;
        }
        if (now >= end) {
            world.late = true;
            world.error_rank = late.empty() ? static_cast<int>(me) : late[0];
            world.error = std::move(text);
            world.changed.notify_all();
            break;
        }
    }
    world.calls[me] = {};
}

ROWAN_CALLED_FUNCTION void Threads::report(std::string const& text) const {
    auto const& world = *shared_->world;
    auto const first =
        std::ranges::find_if(world.calls, [](std::string_view call) { return !call.empty(); }) - world.calls.begin();
    if (first != shared_->number(rank_)) return;  // one line for all
    std::vector<std::string> in;
    for (std::size_t r = 0; r < world.calls.size(); ++r)
        in.emplace_back(world.calls[r].empty() ? std::string_view() : world.expected[r].text(world.calls[r]));
    detail::print_wait(text, in);
}

ROWAN_CALLED_FUNCTION void Threads::expect(std::string_view what, std::chrono::milliseconds patience) const {
    auto& world = *shared_->world;
    std::scoped_lock const lock(world.mutex);
    world.expected[static_cast<std::size_t>(shared_->number(rank_))].set(what, patience);
}

ROWAN_CALLED_FUNCTION void Threads::leave() const noexcept {
    auto& world = *shared_->world;
    std::unique_lock lock(world.mutex);
    unsigned const phase = shared_->phase;
    if (++shared_->arrived == shared_->size) {
        shared_->arrived = 0;
        ++shared_->phase;
        world.changed.notify_all();
    } else {
        world.changed.wait(lock, [&] { return shared_->phase != phase; });
    }
}

ROWAN_CALLED_FUNCTION void Threads::throw_error() const {
    auto const& world = *shared_->world;
    if (world.late) throw RemoteError::late(world.error_rank, world.error);
    if (world.error_rank == shared_->number(rank_)) throw Error(world.error);
    throw RemoteError(world.error_rank, world.error);
}

ROWAN_CALLED_FUNCTION void Threads::fail(std::string const& text) const {
    auto& world = *shared_->world;
    if (world.error_rank < 0) {
        world.error_rank = shared_->number(rank_);
        world.error = text;
        world.changed.notify_all();
    }
    throw Error(text);
}

}  // namespace rowan::inline v0

#endif
