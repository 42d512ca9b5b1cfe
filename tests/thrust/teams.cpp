// tests/thrust/teams.cpp: teams of 16 threads, which are half a warp on a GPU; here threads of the host, whose shuffles go through memory.
#include "devices.hpp"

#include <rowan/op/norm/log_softmax.hpp>
#include <rowan/op/norm/softmax.hpp>
#include <rowan/op/loss/cross_entropy.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/squared_norm.hpp>
#include <rowan/thrust/detail/teams.hpp>
#include <rowan/thrust/op.hpp>
#include <rowan/thrust/sparse/rowwise_adagrad.hpp>
#include <rowan/thrust/sparse/squared_norm.hpp>

#include <thrust/system/cpp/execution_policy.h>

#include <array>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace test_teams {

/// The threads of a team exchange numbers here.
struct Exchange {
    std::barrier<> all{16};
    std::array<std::array<std::byte, 32>, 16> slots;
};

struct HostShuffle {
    Exchange& exchange;
    std::size_t lane;

    template <class S>
    S operator()(S const& x, std::size_t lanes) const {
        std::memcpy(exchange.slots[lane].data(), &x, sizeof x);
        meet();
        S other;
        std::memcpy(&other, exchange.slots[lane ^ lanes].data(), sizeof other);
        meet();
        return other;
    }
    void meet() const { exchange.all.arrive_and_wait(); }
};

using Lane = rowan::detail::TeamLane<HostShuffle>;

/// Calls f(k, team) for k in [0, n) in the 16 threads of a team.
template <class F>
void in_team(std::size_t n, F const& f) {
    Exchange exchange;
    std::vector<std::jthread> threads;
    for (std::size_t lane = 0; lane < 16; ++lane)
        threads.emplace_back([&, lane] {
            for (std::size_t k = 0; k < n; ++k) f(k, Lane{lane, {exchange, lane}});
        });
}

struct lanes {};  // a Thrust system that has teams

}  // namespace test_teams

namespace rowan::inline v0 {

template <>
struct ThrustDevice<test_teams::lanes> : ThrustDevice<thrust::cpp::tag> {};

namespace detail {

template <>
struct ThrustSystem<test_teams::lanes> : ThrustSystem<thrust::cpp::tag> {
    template <class F>
    static void for_each_team(ThrustDevice<test_teams::lanes> const&, std::size_t n, F const& f) {
        test_teams::in_team(n, f);
    }
};

}  // namespace detail

}  // namespace rowan::inline v0

namespace test_teams {

using device::filled, device::positive, device::same_bits, device::Shape;
using rowan::detail::add_lanes, rowan::detail::interleaved_sum, rowan::detail::take_larger, rowan::detail::TeamOfOne;
using rowan::Cpu, rowan::Tensor, rowan::to_device;
using Teams = rowan::ThrustDevice<lanes>;

namespace {

/// Depends on the order of its arguments.
struct in_order {
    template <class S>
    ROWAN_HD void operator()(S const& from, S& to) const {
        to = static_cast<S>(to * S(3) + from);
    }
};

/// A number that is not as large as whole words.
struct odd {
    std::uint8_t x[5];

    ROWAN_HD explicit odd(std::size_t i = 0) : x{} {
        for (auto& byte : x) byte = static_cast<std::uint8_t>(++i);
    }
    bool operator==(odd const&) const = default;
};
struct fold_odd {
    ROWAN_HD void operator()(odd const& from, odd& to) const {
        for (std::size_t i = 0; i < 5; ++i) to.x[i] = static_cast<std::uint8_t>(to.x[i] * 3 + from.x[4 - i]);
    }
};

template <class S>
bool same(S const& a, S const& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Whether all threads of a team fold to what a team of one does.
template <class Fold, class S, class Term>
bool folds_alike(S const& first, std::size_t n, Term const& term) {
    S const want = TeamOfOne{}.fold<Fold>(first, n, term);
    std::array<bool, 16> alike{};
    in_team(1, [&](std::size_t, Lane const& team) { alike[team.lane] = same(team.fold<Fold>(first, n, term), want); });
    return std::ranges::all_of(alike, [](bool b) { return b; });
}

template <class S>
void check_folds() {
    for (std::size_t const n : {0U, 1U, 2U, 8U, 9U, 15U, 16U, 17U, 31U, 33U, 64U, 100U, 1000U}) {
        CAPTURE(n);
        auto const x = filled<S>({n}, 3);
        auto const at = [&](std::size_t i) { return x.data()[i]; };
        CHECK(same(TeamOfOne{}.sum<S>(n, at), interleaved_sum<S>(n, x.data())));
        CHECK(folds_alike<add_lanes>(S(0), n, at));
        CHECK(folds_alike<in_order>(S(1), n, at));
        CHECK(folds_alike<take_larger>(n == 0 ? S(0) : at(0), n, at));
    }
}

template <class T>
void check_softmax(Shape const& shape, Tensor<T> const& x) {
    CAPTURE(shape);
    auto const g = filled<T>(shape, 4);
    auto const on_device = to_device(Teams{}, x), grad = to_device(Teams{}, g);
    auto const y = softmax(x), logs = log_softmax(x);
    CHECK(same_bits(softmax(on_device), y));
    CHECK(same_bits(log_softmax(on_device), logs));
    CHECK(same_bits(softmax_grad(to_device(Teams{}, y), grad), softmax_grad(y, g)));
    CHECK(same_bits(log_softmax_grad(to_device(Teams{}, logs), grad), log_softmax_grad(logs, g)));
    std::vector<std::int64_t> labels(shape[0]);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i % shape[1]);
    Tensor<std::int64_t> label = Tensor<std::int64_t>::from_shape({shape[0]});
    std::ranges::copy(labels, label.data());
    auto const [loss, saved] = cross_entropy(x, label);
    auto const [loss_there, saved_there] = cross_entropy(on_device, to_device(Teams{}, label));
    CHECK((same_bits(loss_there, loss) && same_bits(saved_there, saved)));
}

template <class P, class G>
void check_rows(std::size_t n, std::size_t width, unsigned hot, rowan::AdaGradOptions const& options) {
    CAPTURE(n, width, hot, options.weight_decay);
    auto const g = device::gradient<G>(n, 20, width, hot, 5);
    auto const on_device = to_device(Teams{}, g);
    auto const dense = filled<G>({20, width}, 6);
    device::State<Teams, P> p({20, width}, 1), m({20}, 2);
    rowan::rowwise_adagrad(p.host, m.host, g, options);
    rowan::rowwise_adagrad(p.on_device, m.on_device, on_device, options);
    CHECK((p.same() && m.same()));
    rowan::rowwise_adagrad(p.host, m.host, dense, options);
    rowan::rowwise_adagrad(p.on_device, m.on_device, to_device(Teams{}, dense), options);
    CHECK((p.same() && m.same()));
    CHECK(squared_norm(on_device) == squared_norm(g));
    CHECK(squared_norm(to_device(Teams{}, dense)) == squared_norm(dense));
}

}  // namespace

TEST_CASE("16 threads fold a row in the order of one thread", "[thrust][teams]") {
    check_folds<float>();
    check_folds<double>();
    check_folds<std::int64_t>();
    CHECK(folds_alike<fold_odd>(odd(7), 50, [](std::size_t i) { return odd(i); }));
}

TEST_CASE("16 threads find the largest number of a row, or its first NaN or zero, as one thread does", "[thrust][teams]") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> const nans(20, nan), zeros(40, -0.0F);
    for (auto const& x : std::vector<std::vector<float>>{{nan, 1, 2}, {1, nan, 3, nan}, nans, {0.0F, -0.0F}, {-0.0F, 0.0F}, zeros}) {
        CAPTURE(x);
        CHECK(folds_alike<take_larger>(x[0], x.size(), [&](std::size_t i) { return x[i]; }));
    }
}

TEST_CASE("each column of a row has one thread, the same each time", "[thrust][teams]") {
    for (std::size_t const n : {0U, 1U, 16U, 17U, 50U, 64U, 65U, 150U}) {
        std::vector<std::size_t> lane(n, 99);
        std::size_t leaders = 0;
        std::mutex one;
        in_team(1, [&](std::size_t, Lane const& team) {
            auto const write = [&](std::size_t i, std::size_t next) { lane[i] = next == i + 1 ? team.lane : 98; };
            team.map(n, [](std::size_t i) { return i + 1; }, write);
            std::lock_guard const guard(one);
            if (team.leads()) ++leaders;
        });
        for (std::size_t i = 0; i < n; ++i) CHECK(lane[i] == i % 16);
        CHECK(leaders == 1);
    }
}

TEST_CASE("softmax and its relatives in teams have the bits of Cpu", "[thrust][teams][softmax]") {
    for (std::size_t const classes : {1U, 2U, 15U, 16U, 17U, 40U, 1024U, 1025U}) {
        check_softmax<float>({3, classes}, filled<float>({3, classes}, 2));
        check_softmax<double>({2, classes}, filled<double>({2, classes}, 2));
    }
    check_softmax<rowan::bfloat16>({3, 20}, filled<rowan::bfloat16>({3, 20}, 2));
}

TEST_CASE("rowwise_adagrad and squared_norm in teams have the bits of Cpu", "[thrust][teams][adagrad]") {
    for (std::size_t const width : {1U, 4U, 17U, 64U}) {
        for (std::size_t const n : {1U, 64U, 300U}) {
            check_rows<float, float>(n, width, 50, {});
            check_rows<float, float>(n, width, 50, {.weight_decay = 0.25});
        }
        check_rows<float, float>(300, width, 0, {.weight_decay = 0.25, .decoupled = true});
    }
    check_rows<float, float>(5000, 3, 90, {});
    check_rows<double, float>(300, 4, 50, {});
    check_rows<rowan::bfloat16, float>(300, 4, 50, {});
    check_rows<float, rowan::bfloat16>(300, 5, 50, {.weight_decay = 0.25});
}

TEST_CASE("teams write nothing after a bad id", "[thrust][teams][bad_input]") {
    device::State<Teams, float> p({4, 20}, 1), m({4}, 2);
    rowan::SelectedRows<float, Teams> const bad(4, Tensor<std::int64_t, Teams>{1, 4}, Tensor<float, Teams>::full({2, 20}, 1));
    rowan::rowwise_adagrad(p.on_device, m.on_device, bad);
    rowan::rowwise_adagrad(p.on_device, m.on_device, Tensor<float, Teams>::full({4, 20}, 1));
    CHECK(device::late_refusal(Teams{}) == "rows[1] = 4 is not in [0, 4)");
    CHECK((p.same() && m.same()));
}

}  // namespace test_teams
