// rowan/train/prefetch.hpp: prefetch, batches that are made while the net runs.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/train/detail/batches_ahead.hpp>
#include <rowan/train/feeds.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

/// A reader that makes batches ahead: see prefetch. Copies share the reader.
template <class Reader>
class Prefetch {
public:
    /// Used by prefetch.
    Prefetch(Reader reader, std::int64_t batches)
        : reader_(std::make_shared<Reader>(std::move(reader))), batches_(batches) {}

    /// The batches of an epoch, as an input range that is iterated once. They are made from now on.
    /// errors   std::system_error if there can be no other thread; iterating throws what the reader does, after the
    ///          batches before, and Error in a process that is forked while it lasts, which lacks the thread
    /// cost     starts a thread; each batch costs one hand-over between threads
    detail::BatchesAhead operator()(std::int64_t epoch) const {
        return {batches_, [reader = reader_, epoch](detail::BatchesAhead::Put const& put) mutable {
                    for (auto&& feeds : (*reader)(epoch)) {
                        if (!put(Feeds(std::forward<decltype(feeds)>(feeds)))) break;
                    }
                }};
    }

private:
    std::shared_ptr<Reader> reader_;
    std::int64_t batches_;
};

/// A reader of the batches of `reader`, which makes this many ahead of the one in use, in a thread of its own for each
/// epoch.
///     train(cost, prefetch(reader, 2), {.epochs = 3});
/// The batches are those of the reader, in their order; what it throws arrives in their place. If the epoch ends early, as
/// options.on_batch returns false or a step throws, the reader ends with the batch it is making, for which train waits.
/// The reader is copied or moved in. It runs in one thread at a time, which is not that of the net. So what one of both
/// writes, the other must not use, and the reader has a default_scope() of its own. It must not write the memory of a
/// batch again before `batches` more have been taken, with options.parts before those of a step have, too.
/// errors   ValueError if batches is not positive
/// cost     O(1); memory for this many batches and the one in use
template <class Reader>
Prefetch<std::decay_t<Reader>> prefetch(Reader&& reader, std::int64_t batches = 1) {
    static_assert(std::invocable<std::decay_t<Reader>&, std::int64_t&>,
                  "rowan::prefetch: the reader is a function of the number of the epoch that returns a range of Feeds");
    if (batches < 1) throw ValueError("prefetch: batches", batches, "1 or more");
    return {std::forward<Reader>(reader), batches};
}

}  // namespace rowan::inline v0
