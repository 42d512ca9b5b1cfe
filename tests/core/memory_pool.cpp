// tests/core/memory_pool.cpp: memory returns to the pool by size, from any thread, and can outlive the pool.
#include <rowan/core/allocator.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/core/tensor.hpp>

#include "catch.hpp"
#include "forked.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace test_memory_pool {

using rowan::Allocator;
using rowan::MemoryPool;
using rowan::Tensor;

namespace {

Tensor<float> ones(std::size_t n) {
    auto x = Tensor<float>::from_shape({n});
    x.fill(1);
    return x;
}

}  // namespace

TEST_CASE("a new tensor reuses the memory of a destroyed one", "[memory_pool]") {
    MemoryPool pool;
    MemoryPool::Guard const guard(pool);
    for (std::size_t n : std::vector<std::size_t>{100, 1000, 1001, 1'100'000, 3'000'000}) {
        float const* const first = ones(n).data();
        CHECK(pool.kept() >= n * sizeof(float));
        Tensor<float> const again = ones(n);
        CHECK(again.data() == first);
        CHECK(ones(n).data() != first);  // the first block is in use
    }
}

TEST_CASE("a block serves requests of its size, which exceeds the requested size by at most a quarter", "[memory_pool]") {
    MemoryPool pool;
    MemoryPool::Guard const guard(pool);
    Allocator<char> memory;
    for (std::size_t n = 64; n < 100'000; n += n / 5 + 1) {
        pool.clear();
        char* const block = memory.allocate(n);
        memory.deallocate(block, n);
        std::size_t const size = pool.kept();
        CHECK((size >= n && size <= n + n / 4));
        char* const whole = memory.allocate(size);
        CHECK(whole == block);
        memory.deallocate(whole, size);
        CHECK(pool.kept() == size);
        char* const more = memory.allocate(size + 1);
        CHECK(pool.kept() == size);
        memory.deallocate(more, size + 1);
    }
}

TEST_CASE("blocks of a pool are aligned, do not overlap and have the requested size", "[memory_pool]") {
    MemoryPool pool;
    MemoryPool::Guard const guard(pool);
    Allocator<unsigned char> memory;
    for (int round = 0; round < 2; ++round) {
        std::vector<std::pair<unsigned char*, std::size_t>> blocks;
        for (std::size_t n = 0; n < 20'000; n += n / 7 + 1) {
            blocks.emplace_back(memory.allocate(n), n);
            std::memset(blocks.back().first, static_cast<int>(n % 251), n);
            CHECK(reinterpret_cast<std::uintptr_t>(blocks.back().first) % 64 == 0);
        }
        for (auto const& [block, n] : blocks) {
            for (std::size_t i = 0; i < n; ++i) REQUIRE(block[i] == n % 251);
            memory.deallocate(block, n);
        }
    }
    unsigned char* const huge = memory.allocate(Allocator<unsigned char>::huge_from + 1);
    CHECK(reinterpret_cast<std::uintptr_t>(huge) % Allocator<unsigned char>::huge_page == 0);
    memory.deallocate(huge, Allocator<unsigned char>::huge_from + 1);
}

TEST_CASE("a pool keeps at most its limit, and nothing after clear()", "[memory_pool]") {
    MemoryPool pool(10'000);
    {
        MemoryPool::Guard const guard(pool);
        { auto const a = ones(1024), b = ones(1024), c = ones(1024), d = ones(1024); }
        CHECK(pool.kept() <= 10'000);
        CHECK(pool.kept() >= 8192);
        pool.clear();
        CHECK(pool.kept() == 0);
        { auto const large = ones(1'000'000); }
        CHECK(pool.kept() < 10'000);
    }
    MemoryPool none(0);
    MemoryPool::Guard const guard(none);
    { auto const a = ones(10); }
    CHECK(none.kept() == 0);
}

TEST_CASE("guards nest, and without one memory comes from the system", "[memory_pool]") {
    MemoryPool outer, inner;
    {
        MemoryPool::Guard const a(outer);
        {
            MemoryPool::Guard const b(inner);
            { auto const x = ones(100); }
            CHECK((inner.kept() > 0 && outer.kept() == 0));
        }
        { auto const x = ones(100); }
        CHECK(outer.kept() > 0);
    }
    std::size_t const before = outer.kept() + inner.kept();
    { auto const x = ones(100); }
    CHECK(outer.kept() + inner.kept() == before);
}

TEST_CASE("a tensor may outlive guard and pool; its memory returns to its own pool", "[memory_pool]") {
    Tensor<float> kept;
    {
        MemoryPool pool;
        {
            MemoryPool::Guard const guard(pool);
            kept = ones(100);
        }
        {
            MemoryPool other;
            MemoryPool::Guard const guard(other);
            kept = Tensor<float>();
            CHECK(other.kept() == 0);
        }
        CHECK(pool.kept() >= 400);
        MemoryPool::Guard const guard(pool);
        kept = ones(100);
    }
    CHECK(kept(99) == 1);
    kept = ones(200);
}

TEST_CASE("other threads can free a pool's memory, and have their own pools", "[memory_pool]") {
    MemoryPool pool;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        Tensor<float> x;
        {
            MemoryPool::Guard const guard(pool);
            x = ones(1000);
        }
        threads.emplace_back([&pool, x = std::move(x)]() mutable {
            x = ones(10);  // there is no guard in this thread
            MemoryPool::Guard const guard(pool);
            for (std::size_t n = 1; n < 500; ++n) x = ones(n);
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(pool.kept() >= 4000);
}

TEST_CASE("tensors of one size take memory from the system only the first time", "[memory_pool]") {
    MemoryPool pool;
    MemoryPool::Guard const guard(pool);
    { auto const a = ones(1000), b = a; }
    std::size_t const kept = pool.kept();
    for (int i = 0; i < 100; ++i) {
        auto const a = ones(1000), b = a;
        CHECK(pool.kept() == 0);
    }
    CHECK(pool.kept() == kept);
}

TEST_CASE("a process may fork while another thread uses a pool", "[core]") {
    MemoryPool pool;
    std::atomic<bool> done{false};
    std::thread other([&] {
        MemoryPool::Guard const guard(pool);
        while (!done) Tensor<float>::from_shape({64});
    });
    bool good = true;
    for (int i = 0; good && i < 30; ++i) {
        good = forked::succeeds_beside_threads([&] {
            MemoryPool::Guard const guard(pool);
            return Tensor<float>::zeros({64}).size() == 64;
        });
    }
    done = true;
    other.join();
    CHECK(good);
}

}  // namespace test_memory_pool
