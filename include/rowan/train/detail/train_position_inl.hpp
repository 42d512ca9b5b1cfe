// rowan/train/detail/train_position_inl.hpp: definitions of rowan/train/detail/train_position.hpp.
#pragma once

#include <rowan/train/detail/train_position.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

inline constexpr std::string_view position_name = "@position", best_suffix = "@best";

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters TrainPosition::added_to(Parameters const& now) const {
    Parameters all = now.share();
    auto const number = [](std::int64_t n) { return static_cast<double>(n); };
    Value position;
    position.set(LoDTensor<double>(Tensor<double>{number(epoch), number(batches), number(steps), cost, number(since),
                                                  value, number(best ? best->steps : -1), number(metric)}));
    all.set(std::string(position_name), std::move(position));
    if (!best) return all;
    for (auto const& [name, v] : *best) all.set(std::string(name).append(best_suffix), v.share());
    return all;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE TrainPosition TrainPosition::taken_from(Parameters& saved) {
    if (!saved.contains(position_name))
        throw GraphError("options.checkpoint: what was loaded has no position: it is no save of train");
    auto const values = saved.get<double>(position_name).share();
    std::vector<double> const numbers(values.begin(), values.end());
    for (std::size_t const k : std::array<std::size_t, 6>{0, 1, 2, 4, 6, 7}) {
        double const least = k == 6 ? -1.0 : 0.0;
        if (numbers.size() != 8 || !(numbers[k] >= least && numbers[k] < 0x1p53) ||
            std::floor(numbers[k]) != numbers[k])
            throw GraphError("options.checkpoint: what was loaded has no valid position: it is no save of train");
    }
    auto const integer = [&](std::size_t k) { return static_cast<std::int64_t>(numbers[k]); };
    TrainPosition at{.epoch = integer(0),
                     .batches = integer(1),
                     .steps = integer(2),
                     .cost = numbers[3],
                     .since = integer(4),
                     .value = numbers[5],
                     .metric = integer(7)};
    if (integer(6) >= 0) at.best.emplace().steps = integer(6);
    Parameters rest;
    rest.steps = saved.steps;
    for (auto const& [name, v] : saved) {
        if (name == position_name) continue;
        bool const of_best = at.best && std::string_view(name).ends_with(best_suffix);
        if (of_best)
            at.best->set(name.substr(0, name.size() - best_suffix.size()), v.share());
        else
            rest.set(name, v.share());
    }
    ParametersAccess::refer(rest, saved);
    saved = std::move(rest);
    return at;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_checkpoint(layer::TrainCheckpoint const& checkpoint, int ranks) {
    if (checkpoint.every < 0) throw ValueError("options.checkpoint.every", checkpoint.every, "0 or more");
    if (checkpoint.save == nullptr || checkpoint.load == nullptr)
        throw GraphError("options.checkpoint lacks the function save or load");
    if (checkpoint.ranks != ranks)
        throw ValueError("options.checkpoint.ranks", checkpoint.ranks,
                         {ranks, ", the ranks that train: train_checkpoint(comm, …)"});
}

}  // namespace rowan::inline v0::detail

#endif
