// rowan/train/detail/trainer_parts.hpp: the members of Trainer that run the parts of a step.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/train/trainer.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

template <class T, class Device>
double Trainer<T, Device>::run_parts(std::span<Feeds const> batches, std::function<void()> const& enter) {
    auto const total = static_cast<std::int64_t>(batches.size());
    detail::PartRange const parts = parts_of(batches);
    double cost = 0;
    std::vector<double> own;
    auto const begin = [&] {
        enter();
        if (total == 0 || total > parts_)
            throw ShapeError("batches", std::to_string(total),
                             std::string("1 to options.parts = ").append(std::to_string(parts_)));
    };
    std::vector<Value> rows;
    if (!tables_.empty()) rows = fetch(batches, std::cref(begin));
    auto const run_own = [&](auto& words) {
        if (tables_.empty()) begin();
        detail::Swapped const own_rows(fetched_, rows);
        words[0] = total;
        words[1] = std::bit_cast<std::int64_t>(prepare());
        sums_.begin(parts);
        for (std::int64_t p = parts.begin; p < parts.end; ++p) {
            cost = run(batches[static_cast<std::size_t>(p)], p);
            if (total == 1) {
                words[2] = std::bit_cast<std::int64_t>(cost);
            } else {
                auto const weight = weights();
                own.push_back(cost);
                own.insert(own.end(), weight.begin(), weight.end());
                sums_.add(detail::host_exec(exec_), of_results(weight[0], std::span(weight).subspan(weight_->size())));
                for (Variable* const v : results_) v->value().clear();
            }
            for (Variable* const v : counted_) v->value().clear();
        }
    };
    auto const all = detail::agree(comm_.ranks(), detail::TrainCall::step, run_own, number_);
    rows.clear();
    detail::check_same_word(all, 0, " has another number of batches for a step than ");
    detail::check_same_word(all, 1, " has another factor of the learning rate than ");
    detail::check_same_word(all, 2, " has another batch for the only part of a step than ");
    if (total > 1) return add_up(own, parts);
    for (std::size_t i = 0; i < totals_.size(); ++i) {
        if (totals_[i] != results_[i]) totals_[i]->value() = std::exchange(results_[i]->value(), Value());
    }
    return cost;
}

template <class T, class Device>
std::vector<Value> Trainer<T, Device>::fetch(std::span<Feeds const> batches, std::function<void()> const& begin) const {
    auto const& ranks = *comm_.ranks();
    auto const exec = detail::host_exec(exec_);
    std::vector<std::vector<std::int64_t>> named;
    auto const find_rows = [&](auto& words) {
        begin();
        words[0] = static_cast<std::int64_t>(batches.size());
        auto const parts = parts_of(batches);
        auto const mine =
            batches.subspan(static_cast<std::size_t>(parts.begin), static_cast<std::size_t>(parts.size()));
        for (auto const& t : tables_) named.push_back(t.rows(exec, mine));
    };
    auto const all = detail::agree(&ranks, detail::TrainCall::fetch, find_rows, number_);
    detail::check_same_word(all, 0, " has another number of batches for a step than ");
    std::vector<Value> rows;
    ranks.must([&] {
        for (std::size_t i = 0; i < tables_.size(); ++i)
            rows.push_back(ranks.fetch(exec, fetched_[i]->value(), named[i]));
    });
    return rows;
}

template <class T, class Device>
std::vector<double> Trainer<T, Device>::weights() const {
    std::vector<double> all;
    weight_->append_to(all);
    for (Moving const& m : moving_) all.push_back(m.rows ? m.rows->count() : 1);
    return all;
}

template <class T, class Device>
std::vector<double> Trainer<T, Device>::of_results(double of_cost, std::span<double const> of_moving) const {
    std::vector<double> all(results_.size() - moving_.size(), of_cost);
    all.insert(all.end(), of_moving.begin(), of_moving.end());
    return all;
}

template <class T, class Device>
double Trainer<T, Device>::add_up(std::span<double const> own, detail::PartRange const& parts) {
    std::size_t const costs = 1 + weight_->size(), width = costs + moving_.size();
    auto const all = detail::numbers_of_parts(comm_.ranks(), own, width, parts.total);
    double cost = 0;
    std::vector<double> divisors;
    try {
        double const divisor = weight_->divisor(std::span(all).subspan(1), width);
        std::vector<double> moved(moving_.size());
        for (std::size_t at = 0; at < all.size(); at += width) {
            cost = cost + detail::product(all[at + 1], all[at]);
            for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += all[at + costs + k];
        }
        cost = detail::mean_of(cost, divisor);
        divisors = of_results(divisor, moved);
    } catch (std::bad_alloc const&) {  // on this rank alone, where the others go on; other errors are those of all
        if (comm_.ranks() != nullptr) comm_.ranks()->must([] { throw; });
        throw;
    }
    auto means = sums_.means(detail::host_exec(exec_), exec_, divisors, comm_.ranks());
    for (std::size_t i = 0; i < means.size(); ++i) totals_[i]->value() = std::move(means[i]);
    return cost;
}

// After all definitions, which clang needs.
ROWAN_TEMPLATE(class Trainer<float, Cpu>)
ROWAN_TEMPLATE(class Trainer<double, Cpu>)

}  // namespace rowan::inline v0
