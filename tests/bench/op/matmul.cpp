// tests/bench/op/matmul.cpp: matrix products on one thread, rowan's and those of the linked BLAS, in turns.
#include <rowan/op/detail/matmul.hpp>

#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/cxxblas.cxx>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

using rowan::detail::Factor;

struct Shape {
    std::size_t m, n, k;
    bool a_transposed, b_transposed;
    char const* what;
};

/// Seconds of the fastest of several rounds of a call.
template <class F>
double seconds(std::size_t calls, F const& f) {
    auto const start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < calls; ++i) f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(calls);
}

void measure(Shape const& s, std::size_t work) {
    std::vector<float> a(s.m * s.k), b(s.k * s.n), own(s.m * s.n), theirs(s.m * s.n);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7919 % 1000) / 1000 - 0.5f;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 104729 % 1000) / 1000 - 0.5f;
    Factor<float> const fa{a.data(), s.a_transposed ? s.m : s.k, s.a_transposed};
    Factor<float> const fb{b.data(), s.b_transposed ? s.k : s.n, s.b_transposed};
    auto const index = [](std::size_t x) { return static_cast<xt::blas_index_t>(x); };
    auto const meant = [](Factor<float> const& f) { return f.transposed ? cxxblas::Trans : cxxblas::NoTrans; };
    double const operations = 2.0 * static_cast<double>(s.m * s.n * s.k);
    std::size_t const calls = std::max<std::size_t>(work / (s.m * s.n * s.k), 1);
    double best_own = 1e9, best_theirs = 1e9;
    for (int round = 0; round < 9; ++round) {
        best_own = std::min(best_own, seconds(calls, [&] {
            rowan::detail::multiply(rowan::Cpu{.threads = 1}, s.m, s.n, s.k, fa, fb, own.data(), false);
        }));
        best_theirs = std::min(best_theirs, seconds(calls, [&] {
            cxxblas::gemm(cxxblas::RowMajor, meant(fa), meant(fb), index(s.m), index(s.n), index(s.k), 1.0f, fa.data,
                          index(fa.columns), fb.data, index(fb.columns), 0.0f, theirs.data(), index(s.n));
        }));
    }
    std::printf("%5zu x %4zu x %4zu %c%c  rowan %6.1f  BLAS %6.1f GFLOP/s  %4.2fx  %s\n", s.m, s.n, s.k,
                s.a_transposed ? 'T' : 'N', s.b_transposed ? 'T' : 'N', operations / best_own / 1e9,
                operations / best_theirs / 1e9, best_theirs / best_own, s.what);
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t const work = argc > 1 && std::strcmp(argv[1], "--tiny") == 0 ? 1 : std::size_t{1} << 26;
    for (Shape const& s : {Shape{32, 192, 64, false, false, "a step of a GRU, 32 sentences"},
                           Shape{32, 64, 192, false, true, "its gradient"},
                           Shape{4, 192, 64, false, false, "a step that few sentences have"},
                           Shape{720, 192, 64, false, false, "all words of a batch"},
                           Shape{64, 192, 720, true, false, "the gradient of its weights"},
                           Shape{64, 45, 64, false, false, "scores of 45 classes"},
                           Shape{1000, 1000, 1000, false, false, "large"},
                           Shape{512, 4096, 4096, false, true, "larger"}}) {
        measure(s, work);
    }
}
