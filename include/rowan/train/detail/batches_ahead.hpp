// rowan/train/detail/batches_ahead.hpp: BatchesAhead, batches that another thread makes.
#pragma once

#include <rowan/detail/owner.hpp>
#include <rowan/train/feeds.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>

namespace rowan::inline v0::detail {

/// The batches that `read` puts, which runs in a thread of its own until this ends.
class BatchesAhead {
public:
    /// Takes a batch and waits until there is room for another one. Returns whether more are wanted.
    using Put = std::function<bool(Feeds&&)>;

    ROWAN_IF_CALLED BatchesAhead(std::int64_t most, std::function<void(Put const&)> read);

    class iterator {
    public:
        using value_type = Feeds;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        explicit iterator(BatchesAhead& all) : all_(&all) { ++*this; }
        Feeds const& operator*() const noexcept { return all_->now_; }
        /// errors   those of the reader; Error in a process that was forked since, which lacks the thread
        iterator& operator++() {
            if (!all_->next()) all_ = nullptr;
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const noexcept { return all_ == nullptr; }

    private:
        BatchesAhead* all_ = nullptr;
    };
    iterator begin() { return iterator(*this); }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    struct Queue;
    friend void destroy(Queue* queue) noexcept;  // and its thread
    bool next();

    Owner<Queue> queue_;
    Feeds now_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/batches_ahead_inl.hpp>
