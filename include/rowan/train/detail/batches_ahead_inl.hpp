// rowan/train/detail/batches_ahead_inl.hpp: definitions of rowan/train/detail/batches_ahead.hpp.
#pragma once

#include <rowan/train/detail/batches_ahead.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <unistd.h>

namespace rowan::inline v0::detail {

struct BatchesAhead::Queue {
    std::size_t most;
    std::function<void(Put const&)> read;
    std::mutex mutex = {};
    std::condition_variable_any changed = {};
    std::deque<Feeds> waiting = {};
    std::exception_ptr error = {};
    bool ended = false;
    ::pid_t process = ::getpid();
    std::jthread thread = {};  // last, so that it starts and ends within the life of the others

    bool put(std::stop_token const& stop, Feeds&& feeds) {
        std::unique_lock lock(mutex);
        if (!stop.stop_requested()) waiting.push_back(std::move(feeds));
        changed.notify_all();
        changed.wait(lock, stop, [this] { return waiting.size() < most; });
        return !stop.stop_requested();
    }

    void run(std::stop_token const& stop) noexcept {
        std::exception_ptr thrown;
        try {
            read([&](Feeds&& feeds) { return put(stop, std::move(feeds)); });
        } catch (...) {
            thrown = std::current_exception();
        }
        std::lock_guard const lock(mutex);
        error = std::move(thrown);
        ended = true;
        changed.notify_all();
    }
};

ROWAN_FUNCTION void destroy(BatchesAhead::Queue* queue) noexcept {
    // A forked process has no thread to end, and perhaps a locked mutex.
    if (queue->process == ::getpid()) delete queue;
}

ROWAN_CALLED_FUNCTION BatchesAhead::BatchesAhead(std::int64_t most, std::function<void(Put const&)> read)
    : queue_(new Queue{.most = static_cast<std::size_t>(most), .read = std::move(read)}) {
    queue_->thread = std::jthread([q = &*queue_](std::stop_token const& stop) { q->run(stop); });
}

ROWAN_FUNCTION bool BatchesAhead::next() {
    now_ = {};  // freed before the next one is taken
    auto& q = *queue_;
    if (q.process != ::getpid())
        throw Error(
            "prefetch: the thread that makes these batches is not in this process, which was forked after it began");
    std::unique_lock lock(q.mutex);
    q.changed.wait(lock, [&] { return q.ended || !q.waiting.empty(); });
    if (!q.waiting.empty()) {
        now_ = std::move(q.waiting.front());
        q.waiting.pop_front();
        q.changed.notify_all();
        return true;
    }
    if (q.error) std::rethrow_exception(std::exchange(q.error, nullptr));
    return false;
}

}  // namespace rowan::inline v0::detail

#endif
