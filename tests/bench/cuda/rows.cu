// tests/bench/cuda/rows.cu: times algorithms on rows and sequences on a GPU.
#include "clock.hpp"

#include <bit>
#include <cmath>

namespace bench {

namespace {

enum class Draw { uniform, log_uniform, one };

/// Row i of a data set.
struct DrawId {
    Draw kind;
    std::size_t set;
    std::int64_t height;
    std::int64_t* to;

    ROWAN_HD void operator()(std::size_t i) const {
        double const u = static_cast<double>(hash(i + (set << 40)) >> 11) * 0x1p-53;
        if (kind == Draw::one) {
            to[i] = static_cast<std::int64_t>(set);
        } else if (kind == Draw::uniform) {
            to[i] = static_cast<std::int64_t>(u * static_cast<double>(height));
        } else {
            auto const rank = static_cast<std::int64_t>(::exp(u * ::log(static_cast<double>(height))) - 1);
            to[i] = (rank < height ? rank : height - 1) * 2654435761 % height;  // frequent rows are not neighbours
        }
    }
};

struct Case {
    double gib;  // of the table
    std::size_t width, lookups;
    Draw draw;
    bool moments = true;  // a table of moments fits beside it
};

std::string text_of(Case const& c, char const* type) {
    static constexpr char const* names[] = {"uniform", "log-uniform", "one row"};
    return std::string(names[static_cast<int>(c.draw)]) + ", " + std::to_string(c.lookups) + " of " + std::to_string(c.width) + " " + type + ", " +
           std::to_string(std::lround(c.gib)) + " GiB";
}

template <class T>
void table(Gpu const& exec, Case const& c, Report const& report) {
    std::size_t const sets = 3;
    auto const height = static_cast<std::size_t>(c.gib * (1 << 30) / static_cast<double>(c.width * sizeof(T)));
    auto const at = text_of(c, sizeof(T) == 4 ? "float" : "bfloat16");
    Clock clock(exec, sets);
    auto param = numbers<T>(exec, {height, c.width}, -0.01f, 0.01f);
    auto row_moment = numbers(exec, {height}, 0.1f, 0.2f);
    auto out = Tensor<T>::from_shape(exec, {c.lookups, c.width});
    std::vector<Tensor<std::int64_t>> ids;
    std::vector<Tensor<T>> values;
    std::vector<rowan::SelectedRows<T, Gpu>> gradients;
    std::vector<rowan::RowPlan<Gpu>> plans;
    double unique = 0;
    for (std::size_t set = 0; set < sets; ++set) {
        ids.push_back(Tensor<std::int64_t>::from_shape(exec, {c.lookups}));
        rowan::detail::launch(exec, c.lookups, DrawId{c.draw, set, static_cast<std::int64_t>(height), ids.back().data()});
        values.push_back(numbers<T>(exec, {c.lookups, c.width}, -1, 1));
        gradients.emplace_back(exec, static_cast<std::int64_t>(height), ids.back(), values.back().share());
        plans.emplace_back(exec, gradients.back());
        unique += static_cast<double>(plans.back().rows().size()) / static_cast<double>(sets);  // so that no case waits for it
    }
    auto const n = static_cast<double>(c.lookups), row = static_cast<double>(c.width * sizeof(T)), id = 8.0;
    auto const passes = static_cast<double>((std::bit_width(height - 1) + 7) / 8);
    double const sort = n * (4 + 2 * passes * 8);  // keys and positions of 32 bits
    double const gathered = unique * row + n * row + n * id, summed = n * row + sort;
    report("gather", at, clock([&](std::size_t k) { rowan::gather(exec, param, ids[k]); }), gathered);
    report("gather_into", at, clock([&](std::size_t k) { rowan::gather_into(exec, param, ids[k], out); }), gathered);
    report("scatter_add", at, clock([&](std::size_t k) { rowan::scatter_add(exec, param, gradients[k]); }), n * row + 2 * unique * row + n * id);
    report("merge", at, clock([&](std::size_t k) { rowan::merge(exec, gradients[k]); }), summed + unique * (row + id) + n * id);
    report("merge by a plan", at, clock([&](std::size_t k) { rowan::merge(exec, plans[k], values[k]); }), n * row + unique * (row + id) + n * id);
    report("sgd", at, clock([&](std::size_t k) { rowan::sgd(exec, param, gradients[k], 0.01); }), summed + 2 * unique * row);
    report("rowwise_adagrad", at, clock([&](std::size_t k) { rowan::rowwise_adagrad(exec, param, row_moment, gradients[k]); }),
           summed + 2 * unique * row + 64 * unique);
    if (!c.moments) return;
    auto moment = numbers<T>(exec, {height, c.width}, 0.1f, 0.2f);
    report("adagrad", at, clock([&](std::size_t k) { rowan::adagrad(exec, param, moment, gradients[k]); }), summed + 4 * unique * row);
    report("adagrad by a plan", at, clock([&](std::size_t k) { rowan::adagrad(exec, plans[k], param, moment, values[k]); }),
           n * row + 4 * unique * row);
}

}  // namespace

void rows(Gpu const& exec, Report const& report, bool tiny) {
    std::size_t const few = tiny ? 512 : 262'144, many = tiny ? 2048 : std::size_t{1} << 22, million = tiny ? 1000 : 1'000'000;
    double const gib = tiny ? 0.001 : 16;
    for (Draw const draw : {Draw::uniform, Draw::log_uniform}) {
        for (std::size_t const lookups : {few, many}) table<float>(exec, {gib, 64, lookups, draw}, report);
    }
    table<float>(exec, {gib, 64, million, Draw::one}, report);
    for (std::size_t const width : {std::size_t{32}, std::size_t{128}, std::size_t{256}}) table<float>(exec, {gib, width, many, Draw::uniform}, report);
    for (std::size_t const width : {std::size_t{64}, std::size_t{128}}) table<rowan::bfloat16>(exec, {gib, width, many, Draw::uniform}, report);
    table<rowan::bfloat16>(exec, {gib, 64, many, Draw::log_uniform}, report);
    for (Draw const draw : {Draw::uniform, Draw::log_uniform}) table<float>(exec, {4 * gib, 64, many, draw, false}, report);
}

void sequences(Gpu const& exec, Report const& report, bool tiny) {
    std::size_t const sentences = tiny ? 100 : 100'000, width = 64, sets = 3;
    Clock clock(exec, sets);
    for (std::string const batch : {"sentences", "long"}) {
        std::size_t const most = batch == "sentences" ? 24 : 250, count = sentences * 24 / most;
        std::vector<std::int64_t> lengths(count);
        for (std::size_t i = 0; i < count; ++i) lengths[i] = static_cast<std::int64_t>(1 + ((i + 1) * 0x9E3779B97F4A7C15u >> 40) % most);
        auto const lod = rowan::Lod::from_lengths({lengths});
        std::vector<rowan::LoDTensor<float, Gpu>> batches;
        for (std::size_t k = 0; k < sets; ++k) batches.emplace_back(numbers(exec, {static_cast<std::size_t>(lod.rows()), width}, -1, 1), lod);
        auto const [steps, map] = rowan::TensorArray<float, Gpu>::unpack(exec, batches[0]);
        double const bytes = 2.0 * static_cast<double>(batches[0].value().size() * sizeof(float));
        using Array = rowan::TensorArray<float, Gpu>;
        report("unpack, map included", batch, clock([&](std::size_t k) { Array::unpack(exec, batches[k]); }), bytes);
        report("unpack", batch, clock([&, &m = map](std::size_t k) { Array::unpack(exec, batches[k], m); }), bytes);
        report("pack", batch, clock([&, &m = map, &s = steps](std::size_t) { s.pack(exec, 0, m); }), bytes);
    }
}

}  // namespace bench
