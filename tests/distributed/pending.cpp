// tests/distributed/pending.cpp
#include <rowan/distributed/pending.hpp>

#include "on_ranks.hpp"
#include "parts.hpp"

#include <rowan/distributed/dense_allreduce.hpp>
#include <rowan/distributed/row_allreduce.hpp>
#include <rowan/distributed/self.hpp>
#include <rowan/distributed/together.hpp>

#include <memory>
#include <string>

namespace test_pending {

using namespace rowan;
using parts::bits, parts::of_rank;

TEST_CASE("several exchanges are open at once", "[distributed]") {
    auto const rows = parts::make<float>(6, 300, 4, 100), others = parts::make<float>(6, 300, 2, 100, 2);
    auto const dense = parts::make_dense<float>(6, {33});
    auto const want = bits(sum_of_parts(rows)) ^ bits(sum_of_parts(dense)) ^ bits(merge(parts::joined(others)));
    for (int const n : {1, 2, 3, 4}) {
        for (Route const route : {Route::gather, Route::owner, Route::node}) {
            auto const exchange = [&](auto const& comm) {
                auto a = begin_row_allreduce(Cpu{1}, comm, of_rank(rows, comm.rank(), n), {.route = route});
                auto b = begin_dense_allreduce(Cpu{1}, comm, of_rank(dense, comm.rank(), n));
                auto c = begin_row_allreduce(Cpu{1}, comm, of_rank(others, comm.rank(), n),
                                             {SumOrder::contributions, route});
                auto const moved = std::move(a).get();
                return bits(moved) ^ bits(b.get()) ^ bits(c.get());
            };
            auto const sums = test::on_ranks(n, exchange, 2);
            for (auto const sum : sums) CHECK(sum == want);
        }
    }
}

TEST_CASE("what is destroyed or overwritten is waited for", "[distributed]") {
    auto const dense = parts::make_dense<float>(4, {33});
    auto const rows = parts::make<float>(4, 300, 4, 100);
    auto const want = bits(sum_of_parts(rows));
    auto const sums = test::on_ranks(3, [&](auto const& comm) {
        auto const mine = of_rank(rows, comm.rank(), 3);
        { auto const unused = begin_row_allreduce(Cpu{1}, comm, mine, {.route = Route::owner}); }
        static_cast<void>(begin_dense_allreduce(Cpu{1}, comm, of_rank(dense, comm.rank(), 3)));
        auto sum = begin_row_allreduce(Cpu{1}, comm, mine, {.route = Route::owner});
        auto next = begin_row_allreduce(Cpu{1}, comm, mine);
        sum = std::move(next);
        return bits(sum.get());
    });
    for (auto const sum : sums) CHECK(sum == want);
}

TEST_CASE("an exchange outlives the group object and the parts", "[distributed]") {
    auto const want = bits(sum_of_parts(parts::make<float>(4, 300, 4, 100)));
    auto const sums = test::on_ranks(2, [&](auto const& comm) {
        auto const begin = [&] {
            auto const group = std::make_unique<std::remove_cvref_t<decltype(comm)>>(comm);
            auto const all = parts::make<float>(4, 300, 4, 100);
            return begin_row_allreduce(Cpu{1}, *group, of_rank(all, comm.rank(), 2), {.route = Route::owner});
        };
        return bits(begin().get());
    });
    for (auto const sum : sums) CHECK(sum == want);
}

TEST_CASE("what is ended in another order on one rank is an error on all", "[distributed][errors]") {
    auto const rows = parts::make<float>(6, 300, 4, 100), others = parts::make<float>(6, 300, 4, 100, 2);
    auto const dense = parts::make_dense<float>(6, {33});
    auto const want = bits(sum_of_parts(rows));
    for (Route const route : {Route::owner, Route::gather, Route::node}) {
        auto const right = test::on_ranks(4, [&](auto const& comm) {
            auto const mine = of_rank(rows, comm.rank(), comm.size());
            auto a = begin_row_allreduce(Cpu{1}, comm, mine, {.route = route});
            auto b = begin_row_allreduce(Cpu{1}, comm, of_rank(others, comm.rank(), comm.size()), {.route = route});
            auto c = begin_dense_allreduce(Cpu{1}, comm, of_rank(dense, comm.rank(), comm.size()));
            int thrown = comm.size() == 1 ? 3 : 0;
            auto const get = [&](auto& pending) {
                try {
                    static_cast<void>(pending.get());
                } catch (Error const& e) {
                    if (std::string(e.what()).find("in one order") != std::string::npos) ++thrown;
                }
            };
            if (comm.rank() == 1) {
                get(b), get(c), get(a);
            } else {
                get(a), get(b), get(c);
            }
            return thrown + (bits(row_allreduce(Cpu{1}, comm, mine)) == want ? 10 : 0);
        }, 2);
        CAPTURE(static_cast<int>(route));
        for (int const r : right) CHECK(r == 13);
    }
}

TEST_CASE("get is called once", "[distributed][errors]") {
    auto sum = begin_dense_allreduce(Cpu{1}, Self{}, Tensor<float>{1, 2});
    CHECK(sum.get() == Tensor<float>{1, 2});
    CHECK_THROWS_AS(sum.get(), Error);
}

TEST_CASE("an error of another rank while an exchange is open reaches all", "[distributed][errors]") {
    auto const right = test::on_ranks(3, [&](auto const& comm) {
        auto open = begin_dense_allreduce(Cpu{1}, comm, Tensor<float>{1, 2});
        int thrown = 0;
        try {
            together(comm, [&] {
                if (comm.rank() == 1) throw Error("bad");
            });
        } catch (Error const&) {
            thrown = 1;
        }
        return thrown + (open.get() == Tensor<float>{3, 6} ? 2 : 0);
    });
    for (int const r : right) CHECK(r == 3);
}

}  // namespace test_pending
