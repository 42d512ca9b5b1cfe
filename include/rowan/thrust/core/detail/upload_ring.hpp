// rowan/thrust/core/detail/upload_ring.hpp: UploadRing, pinned memory through which the host uploads without waiting.
#pragma once

#include <rowan/version.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>

namespace rowan::inline v0::detail {

/// Copies host memory to a device asynchronously, from a ring of pinned pieces. The source has been read when a call
/// returns. The first call allocates, which may wait for the device. A later one waits only if the copy from a piece that
/// it needs has not finished; that may be a copy on another stream. Nothing is freed. Any threads may call it.
///
/// Api has the types Stream and Event, and the functions
///     void* allocate(std::size_t bytes)                                   pinned memory
///     Event make_event()
///     void copy(Stream, void* to, void const* from, std::size_t bytes)    enqueues a copy
///     void record(Event, Stream)                                          enqueues the event
///     void wait(Event)                                                    for the event's last record
/// all of which may throw: what the upload has copied is then unspecified, and the ring works as before.
template <class Api>
class UploadRing {
public:
    static constexpr std::size_t piece = std::size_t{256} << 10, pieces = 32;
    static constexpr std::size_t capacity = piece * pieces;  ///< the most bytes of a call

    explicit UploadRing(Api api = {}) : api_(std::move(api)) {}

    void upload(typename Api::Stream stream, void* to, void const* from, std::size_t bytes) {
        std::lock_guard const guard(mutex_);
        allocate();
        for (std::size_t done = 0; done < bytes; done += piece) {
            std::size_t const n = std::min(piece, bytes - done);
            Piece& p = ready(ring_[next_]);
            std::byte* const memory = memory_ + next_ * piece;
            std::memcpy(memory, static_cast<std::byte const*>(from) + done, n);
            api_.copy(stream, static_cast<std::byte*>(to) + done, memory, n);
            api_.record(p.event, stream);
            p.in_flight = true;
            next_ = (next_ + 1) % pieces;
        }
    }

private:
    struct Piece {
        typename Api::Event event{};
        bool in_flight = false;
    };

    void allocate() {
        if (memory_ == nullptr) memory_ = static_cast<std::byte*>(api_.allocate(capacity));
        for (; events_ < pieces; ++events_) ring_[events_].event = api_.make_event();
    }

    Piece& ready(Piece& p) {
        if (p.in_flight) api_.wait(p.event);
        p.in_flight = false;
        return p;
    }

    Api api_;
    std::mutex mutex_;
    std::byte* memory_ = nullptr;  // of all pieces
    std::array<Piece, pieces> ring_{};
    std::size_t events_ = 0;  // that are made
    std::size_t next_ = 0;
};

}  // namespace rowan::inline v0::detail
