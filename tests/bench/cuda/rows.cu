// tests/bench/cuda/rows.cu: times algorithms on rows and sequences and a copy of memory on a GPU, by CUDA's events.
// Prints a line of JSON for each case; `--tiny` is a quick test. Without a GPU it says so and exits with 77.
#include <rowan/sparse.hpp>
#include <rowan/thrust.hpp>
#include <rowan/thrust/cuda.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using rowan::Cuda;
template <class T>
using Tensor = rowan::Tensor<T, Cuda>;

struct Sizes {
    std::size_t height, width = 64, lookups, sets, sentences;
};

// Different numbers, computed on the device.
struct Hash {
    float* to;
    float low, high;
    ROWAN_HD void operator()(std::size_t i) const {
        auto const random = static_cast<std::uint32_t>((i + 1) * 0x9E3779B97F4A7C15u >> 40);
        to[i] = low + (high - low) * static_cast<float>(random) * 0x1p-24f;
    }
};

Tensor<float> numbers(Cuda exec, Tensor<float>::shape_type const& shape, float low, float high) {
    auto x = Tensor<float>::from_shape(exec, shape);
    rowan::detail::launch(exec, x.size(), Hash{x.data(), low, high});
    return x;
}

std::vector<std::int64_t> draw(Sizes const& sizes, std::string const& kind, std::size_t set) {
    std::mt19937_64 random(set + 1);
    auto const height = static_cast<std::int64_t>(sizes.height);
    std::uniform_int_distribution<std::int64_t> uniform(0, height - 1);
    std::uniform_real_distribution<double> exponent(0, 1);
    std::vector<std::int64_t> ids(sizes.lookups, static_cast<std::int64_t>(set));  // "one": a single row
    for (auto& id : ids) {
        if (kind == "uniform") id = uniform(random);
        if (kind == "zipf") {
            auto const rank = static_cast<std::int64_t>(std::pow(static_cast<double>(height), exponent(random)) - 1);
            id = std::clamp<std::int64_t>(rank, 0, height - 1) * 2654435761 % height;
        }
    }
    return ids;
}

class Clock {
public:
    Clock(Cuda exec, std::size_t sets) : exec_(exec), sets_(sets) {
        cudaEventCreate(&begin_);
        cudaEventCreate(&end_);
    }

    // The median in ms of two turns over the data sets, after a warm-up turn.
    double operator()(std::function<void(std::size_t)> const& run) {
        std::vector<float> times;
        for (std::size_t turn = 0; turn < 3 * sets_; ++turn) {
            cudaEventRecord(begin_, exec_.stream);
            run(turn % sets_);
            cudaEventRecord(end_, exec_.stream);
            cudaEventSynchronize(end_);
            float ms = 0;
            cudaEventElapsedTime(&ms, begin_, end_);
            if (turn >= sets_) times.push_back(ms);
        }
        rowan::synchronize(exec_);
        std::ranges::sort(times);
        return times[times.size() / 2];
    }

private:
    Cuda exec_;
    std::size_t sets_;
    cudaEvent_t begin_, end_;
};

struct Report {
    double copy;  // GB/s, read and written, of cudaMemcpyAsync

    void operator()(std::string const& op, std::string const& ids, double ms, double bytes) const {
        double const speed = bytes / ms * 1e-6;
        std::printf("{\"peer\": \"rowan\", \"op\": \"%s\", \"ids\": \"%s\", \"ms\": %.4f, \"gbs\": %.1f, \"of_copy\": %.3f}\n", op.c_str(),
                    ids.c_str(), ms, speed, speed / copy);
        std::fflush(stdout);
    }
};

void rows(Cuda exec, Sizes const& sizes, Clock& clock, Report const& report) {
    auto param = numbers(exec, {sizes.height, sizes.width}, -0.01f, 0.01f);
    auto moment = numbers(exec, {sizes.height, sizes.width}, 0.1f, 0.2f);
    auto row_moment = numbers(exec, {sizes.height}, 0.1f, 0.2f);
    auto out = Tensor<float>::from_shape(exec, {sizes.lookups, sizes.width});
    for (std::string const ids_of : {"uniform", "zipf", "one"}) {
        std::vector<Tensor<std::int64_t>> ids;
        std::vector<Tensor<float>> values;
        std::vector<rowan::SelectedRows<float, Cuda>> gradients;
        std::vector<rowan::RowPlan<Cuda>> plans;
        double unique = 0;
        for (std::size_t k = 0; k < sizes.sets; ++k) {
            auto const list = draw(sizes, ids_of, k);
            unique += static_cast<double>(std::set<std::int64_t>(list.begin(), list.end()).size()) / static_cast<double>(sizes.sets);
            auto host = rowan::Tensor<std::int64_t>::from_shape({list.size()});
            std::ranges::copy(list, host.data());
            ids.push_back(rowan::to_device(exec, host));
            values.push_back(numbers(exec, {sizes.lookups, sizes.width}, -1, 1));
            gradients.emplace_back(exec, sizes.height, ids.back(), values.back().share());
            plans.emplace_back(exec, gradients.back());
            static_cast<void>(plans.back().rows());  // so that no case waits for their number
        }
        auto const n = static_cast<double>(sizes.lookups), row = static_cast<double>(sizes.width * sizeof(float)), id = 8.0;
        auto const passes = static_cast<double>((std::bit_width(sizes.height - 1) + 7) / 8);
        double const sort = n * (4 + 2 * passes * 8);  // keys and positions of 32 bits
        double const gathered = unique * row + n * row + n * id, summed = n * row + sort;
        report("gather", ids_of, clock([&](std::size_t k) { rowan::gather(exec, param, ids[k]); }), gathered);
        report("gather_into", ids_of, clock([&](std::size_t k) { rowan::gather_into(exec, param, ids[k], out); }), gathered);
        report("scatter_add", ids_of, clock([&](std::size_t k) { rowan::scatter_add(exec, param, gradients[k]); }),
               n * row + 2 * unique * row + n * id);
        report("merge", ids_of, clock([&](std::size_t k) { rowan::merge(exec, gradients[k]); }), summed + unique * (row + id) + n * id);
        report("merge by a plan", ids_of, clock([&](std::size_t k) { rowan::merge(exec, plans[k], values[k]); }),
               n * row + unique * (row + id) + n * id);
        report("sgd", ids_of, clock([&](std::size_t k) { rowan::sgd(exec, param, gradients[k], 0.01); }), summed + 2 * unique * row);
        report("adagrad", ids_of, clock([&](std::size_t k) { rowan::adagrad(exec, param, moment, gradients[k]); }),
               summed + 4 * unique * row);
        report("adagrad by a plan", ids_of, clock([&](std::size_t k) { rowan::adagrad(exec, plans[k], param, moment, values[k]); }),
               n * row + 4 * unique * row);
        report("rowwise_adagrad", ids_of, clock([&](std::size_t k) { rowan::rowwise_adagrad(exec, param, row_moment, gradients[k]); }),
               summed + 2 * unique * row + 64 * unique);
    }
}

void sequences(Cuda exec, Sizes const& sizes, Clock& clock, Report const& report) {
    for (std::string const batch : {"sentences", "long"}) {
        std::size_t const most = batch == "sentences" ? 24 : 250, count = sizes.sentences * 24 / most;
        std::vector<std::int64_t> lengths(count);
        for (std::size_t i = 0; i < count; ++i) lengths[i] = static_cast<std::int64_t>(1 + ((i + 1) * 0x9E3779B97F4A7C15u >> 40) % most);
        auto const lod = rowan::Lod::from_lengths({lengths});
        std::vector<rowan::LoDTensor<float, Cuda>> batches;
        for (std::size_t k = 0; k < sizes.sets; ++k)
            batches.emplace_back(numbers(exec, {static_cast<std::size_t>(lod.rows()), sizes.width}, -1, 1), lod);
        auto const [steps, map] = rowan::TensorArray<float, Cuda>::unpack(exec, batches[0]);
        double const bytes = 2.0 * static_cast<double>(batches[0].value().size() * sizeof(float));
        using Array = rowan::TensorArray<float, Cuda>;
        report("unpack, map included", batch, clock([&](std::size_t k) { Array::unpack(exec, batches[k]); }), bytes);
        report("unpack", batch, clock([&, &m = map](std::size_t k) { Array::unpack(exec, batches[k], m); }), bytes);
        report("pack", batch, clock([&, &m = map, &s = steps](std::size_t) { s.pack(exec, 0, m); }), bytes);
    }
}

}  // namespace

int main(int count, char** arguments) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("no CUDA device");
        return 77;
    }
    bool const tiny = count > 1 && std::string_view(arguments[1]) == "--tiny";
    Sizes const sizes = tiny ? Sizes{.height = 1 << 12, .lookups = 1 << 13, .sets = 2, .sentences = 100}
                             : Sizes{.height = std::size_t{1} << 25, .lookups = std::size_t{1} << 20, .sets = 8, .sentences = 100'000};
    Cuda exec;
    cudaStreamCreate(&exec.stream);
    cudaDeviceProp card{};
    cudaGetDeviceProperties(&card, 0);
    Clock clock(exec, sizes.sets);
    Report report{};
    {
        auto const from = numbers(exec, {sizes.height * 16}, 0, 1);
        auto to = Tensor<float>::from_shape(exec, from.shape());
        std::size_t const bytes = from.size() * sizeof(float);
        double const ms = clock([&](std::size_t) { cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, exec.stream); });
        report.copy = 2.0 * static_cast<double>(bytes) / ms * 1e-6;
    }
    std::printf("{\"card\": \"%s\", \"copy_gbs\": %.1f, \"table_gib\": %.2f, \"lookups\": %zu, \"width\": %zu}\n", card.name, report.copy,
                static_cast<double>(sizes.height * sizes.width * sizeof(float)) / (1 << 30), sizes.lookups, sizes.width);
    rows(exec, sizes, clock, report);
    sequences(exec, sizes, clock, report);
}
