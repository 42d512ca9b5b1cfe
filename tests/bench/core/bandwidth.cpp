// tests/bench/core/bandwidth.cpp: the bandwidth of memory, with which all other cases are compared: of streams and of
// random rows.
#include "../bench.hpp"

#include <rowan/core/parallel.hpp>

#include <cstddef>
#include <cstdint>
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

void random_rows(Data& data, std::size_t set) {
    std::int64_t const* const ids = data.wide_ids(set);
    std::size_t const width = data.width(), n = data.lookups(), ahead = 16;
    float const* const table = data.param().data();
    float* const output = data.output().data();
    auto const row = [=](std::size_t k) { return table + static_cast<std::size_t>(ids[k]) * width; };
    auto const threads = static_cast<std::size_t>(rowan::thread_count(data.exec));
    rowan::parallel_for(data.exec, n, (n + threads - 1) / threads, [=](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            if (k + ahead < end) {
                for (std::size_t i = 0; i < width; i += 16) __builtin_prefetch(row(k + ahead) + i);
            }
            std::memcpy(output + k * width, row(k), width * sizeof(float));
        }
    });
    use(output);
}

}  // namespace bench
