// tests/distributed/fetched_shards.cpp: what a rank does for the rows of many ranks, which are none but this one.
#include <rowan/distributed/train.hpp>

#include "catch.hpp"

#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shards.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/placement.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace test_fetched_shards {

using namespace rowan;

/// Rank 0 of many, of which each other one asks it for `each` rows of a table of which this rank has `height` rows.
class AsksForRows final : public detail::ProcessGroup {
public:
    AsksForRows(int ranks, std::size_t each, std::size_t height) : ranks_(ranks), each_(each), height_(height) {}

    int rank() const override { return 0; }
    int size() const override { return ranks_; }
    void sum(std::span<std::int64_t>) const override {}
    void allgather(std::span<std::byte const>, std::span<std::byte>) const override {}
    void alltoall(std::span<std::byte const>, std::span<std::byte> out) const override {
        for (std::size_t r = 1; r < out.size() / sizeof each_; ++r) put(out, r, each_);
    }
    std::unique_ptr<detail::Transfer> alltoallv(std::size_t unit, std::span<std::byte const>, std::span<std::size_t const>,
                                                std::span<std::byte> out, std::span<std::size_t const> counts) const override {
        std::ranges::fill(out, std::byte{});
        if (unit == sizeof(std::int64_t) && counts[0] == 1) put(out, 0, 1);
        for (std::size_t r = 1, at = 0; unit == sizeof(std::int64_t) && r < counts.size(); ++r) {
            if (counts[0] == 1) {  // how many rows it tells, and one
                put(out, r, each_ + 1);
            } else {  // rows
                for (std::size_t i = 0; i < counts[r]; ++i) put(out, at++, (i * height_ + r * 7919 % height_) / counts[r]);
            }
        }
        return std::make_unique<Complete>();
    }
    std::unique_ptr<detail::Transfer> allgatherv(std::size_t, std::span<std::byte const>, std::span<std::byte>,
                                                 std::span<std::size_t const>) const override {
        return std::make_unique<Complete>();
    }
    void barrier() const override {}
    [[noreturn]] void abort(std::string_view text) const override { throw Error(std::string(text)); }
    std::unique_ptr<detail::NodeGroups> nodes() const override { return nullptr; }
    int few_ranks() const override { return 512; }
    std::unique_ptr<ProcessGroup const> duplicate() const override { return std::make_unique<AsksForRows>(ranks_, each_, height_); }

private:
    struct Complete final : detail::Transfer {
        void wait() override {}
        bool test() override { return true; }
    };
    static void put(std::span<std::byte> to, std::size_t i, std::size_t value) { std::memcpy(to.data() + i * sizeof value, &value, sizeof value); }

    int ranks_;
    std::size_t each_, height_;
};

/// Milliseconds of this thread's processor until the rows of the next step have been found that this one does not change.
double ms_of(int ranks, std::size_t each) {
    constexpr std::int64_t height = 40'000;
    Value table;
    std::vector<std::int64_t> own;
    for (std::int64_t i = 0; i < height; ++i) own.push_back(i);
    table.set(SelectedRows<float>(height * ranks, own, Tensor<float>::zeros({own.size(), 1})));
    std::vector<std::int64_t> const named{1, 5};
    std::vector<detail::TableRows> const tables{{&table, {.block = height}, named}};
    AsksForRows const group(ranks, each, height);
    auto const now_ms = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
    };
    double best = std::numeric_limits<double>::max();
    for (int i = 0; i < 3; ++i) {
        auto const now = detail::fetch_rows(group, nullptr, Cpu{1}, tables);
        now->ask({});
        auto const next = detail::begin_fetch_rows(group, group, Cpu{1}, tables, true, {false}, *now);
        double const before = now_ms();
        REQUIRE(next->reach());
        best = std::min(best, now_ms() - before);
    }
    return best;
}

TEST_CASE("as many rows of a thousand ranks as of sixteen take about as long", "[distributed]") {
    double const few = ms_of(16, 4096), many = ms_of(1024, 64);
    CAPTURE(few, many);
    CHECK(many < 6 * few);
}

}  // namespace test_fetched_shards
