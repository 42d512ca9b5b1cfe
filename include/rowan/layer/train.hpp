// rowan/layer/train.hpp: train, trains the parameters of a net on batches.
#pragma once

#include <rowan/layer/detail/epochs.hpp>
#include <rowan/layer/detail/part_exchange.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/train_options.hpp>
#include <rowan/layer/trainer.hpp>
#include <rowan/layer/var.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Whether a reader returns one batch, where a range of batches is needed.
template <class Reader>
inline constexpr bool returns_one_batch = false;
template <std::invocable<std::int64_t&> Reader>
inline constexpr bool returns_one_batch<Reader> =
    std::same_as<std::remove_cvref_t<std::invoke_result_t<Reader&, std::int64_t&>>, Feeds>;

}  // namespace detail

/// Minimizes `cost`, batch by batch, over the parameters that it depends on, and returns them.
///
///     auto parameters = train(cost, reader, {.optimizer = layer::AdaGrad{.learning_rate = 0.05f}, .epochs = 3});
///
/// `reader` is called with the number of each epoch, counted from 0, and returns a range of Feeds. If options.on_batch
/// or options.on_epoch returns false, the training ends after that step or epoch. With options.parts, several batches make
/// a step together, and until then must not share memory that the reader writes again; those left at the end of an epoch
/// make one of their own. With options.stop, it may end earlier, and the result is that of the best epoch, if one was
/// completed. On a device, each batch synchronizes once, to read its cost; bad ids are reported then. The returned
/// parameters are in device memory. With options.comm, several ranks train together: see layer::Comm.
/// shapes   cost [1]
/// errors   those of the constructor of Trainer, of Trainer::step, of the reader and of the functions called;
///          GraphError if options.stop names no metric; ValueError if it has a negative number. On error, all
///          parameters have the values from before that step, and the variables keep them
/// cost     for each batch, that of its operators; what train adds to the net is removed when it ends
template <class T, class Device, class Reader>
Parameters train(layer::Var<T, Device> const& cost, Reader&& reader,
                 TrainOptionsOn<std::type_identity_t<Device>> const& options = {}) {
    static_assert(std::invocable<Reader&, std::int64_t&>,
                  "rowan::train: the reader is a function of the number of the epoch: [&](std::int64_t) { return "
                  "batches; }");
    static_assert(!detail::returns_one_batch<Reader>,
                  "rowan::train: the reader returns several batches, such as a std::vector<rowan::Feeds>");
    auto const* const ranks = options.comm.ranks();
    std::optional<detail::ScopeUse> use;
    std::optional<detail::Epochs> given;
    auto const begun = detail::agree(ranks, [&](auto& words) {
        use.emplace(cost->scope());
        given.emplace(options.metrics, options.stop);
        words[0] = options.epochs;
    });
    detail::check_same_word(begun, 0, " has other options.epochs than ");
    detail::Epochs& epochs = *given;
    Trainer<T, Device> trainer(cost, options);
    bool more = true;
    // Whether all ranks go on, where each calls f, which returns whether it does.
    auto const all_go_on = [&](auto const& f) {
        auto const all = detail::agree(ranks, [&](auto& words) { words[0] = f() ? 1 : 0; });
        return std::ranges::all_of(all, [](auto const& words) { return words[0] == 1; });
    };
    for (std::int64_t epoch = 0; more && epoch < options.epochs; ++epoch) {
        epochs.begin();
        bool reads = true;  // whether an error is one of the reader, of which other ranks do not know
        auto const step = [&](std::span<Feeds const> parts) {
            reads = false;
            double const value = trainer.step(parts);
            more = all_go_on([&] { return options.on_batch({epoch, epochs.steps(), value}); });
            epochs.count(value);
            reads = more;
        };
        try {
            std::vector<Feeds> parts;
            for (Feeds const& feeds : reader(epoch)) {
                if (options.parts.count() == 1) {
                    step(std::span(&feeds, 1));
                } else {
                    parts.push_back(feeds);
                    if (static_cast<std::int64_t>(parts.size()) < options.parts.count()) continue;
                    step(parts);
                    parts.clear();
                }
                if (!more) break;
            }
            if (!parts.empty() && more) step(parts);
        } catch (...) {
            if (reads && ranks != nullptr) ranks->agree([](auto&) { throw; });
            throw;
        }
        if (!more) break;
        detail::check_same_word(detail::agree(ranks, [](auto&) {}), 0, " has another number of batches than ");
        more = all_go_on([&] {
            bool const ends = options.on_epoch || !options.metrics.empty();  // on this rank
            return !ends || epochs.end(epoch, trainer.parameters(), options.on_epoch);
        });
        if (options.progress && (ranks == nullptr || ranks->rank() == 0)) epochs.print(epoch);
    }
    if (epochs.best()) return std::move(*epochs.best());
    return trainer.parameters();
}

// A mistake, which does not compile.
template <class T, class Device, class Reader, class O>
requires(!std::convertible_to<O, TrainOptionsOn<Device>>) Parameters
    train(layer::Var<T, Device> const&, Reader&&, O const&) {
    static_assert(std::convertible_to<O, TrainOptionsOn<Device>>,
                  "rowan::train: options have names and come last: train(cost, reader, {.optimizer = layer::Adam{}, "
                  ".epochs = 20})");
    return {};
}

}  // namespace rowan::inline v0
