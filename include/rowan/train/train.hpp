// rowan/train/train.hpp: train, trains the parameters of a net on batches.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/train_options.hpp>
#include <rowan/train/trainer.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// Whether a reader returns one batch, where a range of batches is needed.
template <class Reader>
inline constexpr bool returns_one_batch = false;
template <std::invocable<std::int64_t&> Reader>
inline constexpr bool returns_one_batch<Reader> =
    std::same_as<std::remove_cvref_t<std::invoke_result_t<Reader&, std::int64_t&>>, Feeds>;

/// A function of a batch, which returns whether more are wanted.
using TakeBatch = std::function<bool(Feeds const&)>;

/// Calls take(feeds) for the batches of an epoch until it returns false. `reader` must outlive it.
class ReadEpoch {
public:
    template <class Reader>
    explicit ReadEpoch(Reader& reader) noexcept : reader_(&reader), read_(&read<Reader>) {}
    void operator()(std::int64_t& epoch, TakeBatch const& take) const { read_(reader_, epoch, take); }

private:
    template <class Reader>
    static void read(void* reader, std::int64_t& epoch, TakeBatch const& take) {
        for (Feeds const& feeds : (*static_cast<Reader*>(reader))(epoch)) {
            if (!take(feeds)) break;
        }
    }

    void* reader_;
    void (*read_)(void* reader, std::int64_t& epoch, TakeBatch const& take);
};

/// train with any reader, for a net with any types.
ROWAN_IF_CALLED Parameters run_training(Variable& cost, CostType const& type, DeviceExec const& exec,
                                        Ranks const* ranks, MakeSettings const& settings, ReadEpoch const& read);

}  // namespace detail

/// Minimizes `cost`, batch by batch, over the parameters that it depends on, and returns them.
///
///     auto parameters = train(cost, reader, {.optimizer = layer::AdaGrad{.learning_rate = 0.05f}, .epochs = 3});
///
/// `reader` is called with the number of each epoch, counted from 0, and returns a range of Feeds. If options.on_batch
/// or options.on_epoch returns false, the training ends after that step or epoch. With options.parts, several batches make
/// a step together, and until then must not share memory that the reader writes again; those left at the end of an epoch
/// make one of their own. Batches whose losses have no rows change nothing: see Trainer::step. With options.stop, it may end earlier, and the result is that of the best epoch, if one was
/// completed. With options.checkpoint, it saves, and goes on from the last save: see layer::TrainCheckpoint. On a device,
/// each batch synchronizes once, to read its cost; bad ids are reported then. The returned parameters are in device memory.
/// With options.comm, several ranks train together, with options.overlap while their messages travel: see layer::Comm.
/// shapes   cost [1] or []
/// errors   those of the constructor of Trainer, of Trainer::step, of the reader and of the functions called;
///          ShapeError if an epoch has no batches; GraphError if options.stop names no metric; ValueError if it has a
///          negative number or an infinite one, or options.epochs is negative, or, at the end, if the metric of
///          options.stop was NaN in all epochs: no epoch is the best; those of options.checkpoint, ValueError if it is for another
///          number of ranks, GraphError if it loads no save of a training, ShapeError if an epoch has fewer batches than
///          were read before the save. On error, all parameters have the values from before that step, and the variables
///          keep them; but an error of a save comes after the step
/// cost     for each batch, that of its operators; what train adds to the net is removed when it ends
template <class T, class Device, class Reader>
Parameters train(layer::Var<T, Device> const& cost, Reader&& reader,
                 TrainOptionsOn<std::type_identity_t<Device>> const& options = {}) {
    static_assert(std::invocable<Reader&, std::int64_t&>,
                  "rowan::train: the reader is a function of the number of the epoch: [&](std::int64_t) { return "
                  "batches; }");
    static_assert(!detail::returns_one_batch<Reader>,
                  "rowan::train: the reader returns several batches, such as a std::vector<rowan::Feeds>");
    auto read = [&reader](std::int64_t& epoch) -> decltype(auto) { return reader(epoch); };  // also of a function
    return detail::run_training(*cost, detail::cost_type<T, Device>(), options.exec, options.comm.ranks(),
                                detail::MakeSettings(options), detail::ReadEpoch(read));
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

#include <rowan/train/train_inl.hpp>
