// tests/bench/core/bandwidth.cpp: the bandwidth of memory, with which all other cases are compared.
#include "../bench.hpp"

#include <rowan/core/parallel.hpp>

#include <cstring>

namespace bench {

namespace {

// Calls f(begin, end) once on each thread.
template <class F>
void split(Streams& streams, rowan::Cpu exec, F&& f) {
    std::size_t const size = streams.a.size();
    auto const threads = static_cast<std::size_t>(rowan::thread_count(exec));
    rowan::parallel_for(exec, size, (size + threads - 1) / threads, f);
}

}  // namespace

void copy(Streams& streams, rowan::Cpu exec) {
    float* const a = streams.a.data();
    float const* const b = streams.b.data();
    split(streams, exec, [=](std::size_t begin, std::size_t end) {
        std::memcpy(a + begin, b + begin, (end - begin) * sizeof(float));
    });
    use(a);
}

void triad(Streams& streams, rowan::Cpu exec) {
    float* const a = streams.a.data();
    float const* const b = streams.b.data();
    float const* const c = streams.c.data();
    split(streams, exec, [=](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) a[i] = b[i] + 3.0f * c[i];
    });
    use(a);
}

}  // namespace bench
