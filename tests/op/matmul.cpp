// tests/op/matmul.cpp: products of matrices, element by element and bit by bit.
#include <rowan/op/matrix/matmul.hpp>

#include "catch.hpp"
#include "forked.hpp"
#include "inputs.hpp"

#include <rowan/core/bfloat16.hpp>
#include <rowan/op/detail/product_tiles.hpp>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

namespace test_matmul {

namespace {

using namespace rowan;
using rowan::detail::Factor;
using rowan::detail::multiply;

template <class T>
std::vector<T> numbers(std::size_t n, std::uint64_t seed) {
    inputs::Random random(seed);
    std::vector<T> x(n);
    for (T& v : x) v = static_cast<T>(static_cast<double>(random.below(2'000'001) - 1'000'000) / 1'000'003);
    return x;
}

template <class T>
struct Problem {
    std::size_t m, n, k;
    bool a_transposed, b_transposed, add;
    std::vector<T> a = numbers<T>(m * k, 1), b = numbers<T>(k * n, 2), c = numbers<T>(m * n, 3);

    std::vector<T> product(int threads) const {
        std::vector<T> out = c;
        multiply(Cpu{threads}, m, n, k, Factor<T>{a.data(), a_transposed ? m : k, a_transposed},
                 Factor<T>{b.data(), b_transposed ? k : n, b_transposed}, out.data(), add);
        return out;
    }

    // Each element in the order of k, every step rounded once.
    std::vector<T> reference() const {
        std::vector<T> out(m * n);
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                T sum = add ? c[i * n + j] : T{0};
                for (std::size_t l = 0; l < k; ++l) sum = std::fma(a[a_transposed ? l * m + i : i * k + l], b[b_transposed ? j * k + l : l * n + j], sum);
                out[i * n + j] = sum;
            }
        }
        return out;
    }
};

template <class T>
void check(Problem<T> const& p) {
    INFO(p.m << " x " << p.n << " x " << p.k << (p.a_transposed ? " T" : " N") << (p.b_transposed ? "T" : "N") << (p.add ? " +" : ""));
    auto const expected = p.reference();
    auto const found = p.product(1);
#ifdef ROWAN_BLAS
    for (std::size_t i = 0; i < expected.size(); ++i)
        REQUIRE(std::abs(found[i] - expected[i]) <= std::numeric_limits<T>::epsilon() * static_cast<T>(p.k + 1));
#else
    REQUIRE(found == expected);
    for (int const threads : {2, 3, 8}) REQUIRE(p.product(threads) == expected);
#endif
}

}  // namespace

TEMPLATE_TEST_CASE("every element of a product is a sum in order, each step rounded once, for any shape and any number of threads", "[matmul]", float, double) {
    std::vector<std::size_t> const sizes{0, 1, 2, 3, 5, 8, 11, 12, 13, 15, 16, 17, 24, 31, 32, 33, 48, 65};
    inputs::Random random(5);
    auto const any = [&](std::size_t from) { return sizes[from + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(sizes.size() - from)))]; };
    for (int round = 0; round < 400; ++round) {
        auto const bits = random.below(8);
        check(Problem<TestType>{any(0), any(0), any(0), (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    }
    for (bool const a : {false, true}) {
        for (bool const b : {false, true}) {
            check(Problem<TestType>{530, 70, 300, a, b, false});  // more than one block of rows and of depth
            check(Problem<TestType>{60, 700, 257, a, b, true});
        }
    }
}

TEMPLATE_TEST_CASE("the products of every instruction set", "[matmul]", float, double) {
    using S = TestType;
    for (std::size_t const m : {1u, 3u, 12u, 29u}) {
        for (std::size_t const n : {1u, 16u, 37u}) {
            Problem<S> const p{m, n, 270, false, true, true};
            auto const expected = p.reference();
            auto const run = [&]<class Tile, std::size_t most>() {
                std::vector<S> out = p.c;
                rowan::detail::multiply_tiles<Tile, most>(m, n, p.k, Factor<S>{p.a.data(), p.k}, Factor<S>{p.b.data(), p.k, true}, out.data(), n, true);
                return out;
            };
            auto const plain = run.template operator()<rowan::detail::PlainTile<S>, 4>();
            for (std::size_t i = 0; i < plain.size(); ++i) REQUIRE(std::abs(plain[i] - expected[i]) <= std::numeric_limits<S>::epsilon() * 270);
#ifdef ROWAN_X86_TILES
            constexpr bool single = sizeof(S) == 4;
            using Avx2 = std::conditional_t<single, rowan::detail::Avx2Float, rowan::detail::Avx2Double>;
            using Avx512 = std::conditional_t<single, rowan::detail::Avx512Float, rowan::detail::Avx512Double>;
            if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) REQUIRE((run.template operator()<Avx2, 6>() == expected));
            if (__builtin_cpu_supports("avx512f")) REQUIRE((run.template operator()<Avx512, 12>() == expected));
#endif
        }
    }
}

TEST_CASE("several threads of the program multiply at the same time", "[matmul]") {
    Problem<float> const p{32, 192, 64, false, false, false};
    auto const expected = p.product(1);
    std::vector<int> wrong(4, 0);
    std::vector<std::thread> threads;
    for (int& count : wrong) {
        threads.emplace_back([&] {
            for (int round = 0; round < 2000; ++round) count += p.product(1) != expected;
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK((wrong == std::vector<int>{0, 0, 0, 0}));
}

TEST_CASE("elements of 16 bits are summed as floats", "[matmul]") {
    auto const wide_a = numbers<float>(6, 1), wide_b = numbers<float>(6, 2);
    std::vector<bfloat16> a, b, out(4);
    for (float const x : wide_a) a.emplace_back(x);
    for (float const x : wide_b) b.emplace_back(x);
    multiply(Cpu{}, 2, 2, 3, Factor<bfloat16>{a.data(), 3}, Factor<bfloat16>{b.data(), 2}, out.data(), false);
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            float sum = 0;
            for (std::size_t l = 0; l < 3; ++l) sum = std::fma(dtype<bfloat16>::widen(a[i * 3 + l]), dtype<bfloat16>::widen(b[l * 2 + j]), sum);
            CHECK(dtype<bfloat16>::widen(out[i * 2 + j]) == dtype<bfloat16>::widen(bfloat16(sum)));
        }
    }
}

TEST_CASE("a process may fork while another thread multiplies", "[matmul]") {
    Problem<float> const problem{96, 96, 96, false, false, false};
    auto const expected = problem.product(1);
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) problem.product(1);
    });
    int wrong = 0;
    for (int i = 0; i < 20; ++i) wrong += !forked::succeeds_beside_threads([&] { return problem.product(1) == expected; });
    done = true;
    other.join();
    CHECK(wrong == 0);
}

}  // namespace test_matmul
