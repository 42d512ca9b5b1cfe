// tests/thrust/upload_ring.cpp: uploads through pinned memory and what is read back through it, with streams that a test drives.
#include <rowan/thrust/core/detail/read_back_space.hpp>
#include <rowan/thrust/core/detail/upload_ring.hpp>

#include "catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace test_upload_ring {

using Bytes = std::vector<std::byte>;

/// Streams that copy only when an event is waited for, and then only up to that event.
class Machine {
public:
    void* allocate(std::size_t bytes) {
        std::lock_guard const guard(mutex_);
        fail_if_due();
        return memory_.emplace_back(bytes).data();
    }
    int make_event() {
        std::lock_guard const guard(mutex_);
        fail_if_due();
        return events_++;
    }
    void copy(int stream, void* to, void const* from, std::size_t bytes) {
        std::lock_guard const guard(mutex_);
        fail_if_due();
        streams_[stream].push_back([=] { std::memcpy(to, from, bytes); });
    }
    void record(int event, int stream) {
        std::lock_guard const guard(mutex_);
        fail_if_due();
        if (event == 0 || event >= events_) throw std::runtime_error("no such event");
        recorded_[event] = {stream, done_[stream] + streams_[stream].size()};
    }
    void wait(int event) {
        std::lock_guard const guard(mutex_);
        fail_if_due();
        auto const [stream, end] = recorded_.at(event);
        ++waits;
        run(stream, end);
    }
    void drain() {
        std::lock_guard const guard(mutex_);
        for (auto& named : streams_) run(named.first, done_[named.first] + named.second.size());
    }

    int fail_in = 0;  // the call from now that throws; 0: none does
    std::size_t waits = 0;
    std::size_t blocks() const { return memory_.size(); }

private:
    void fail_if_due() {
        if (fail_in != 0 && --fail_in == 0) throw std::runtime_error("failed");
    }
    void run(int stream, std::size_t end) {
        for (; done_[stream] < end; ++done_[stream]) {
            streams_[stream].front()();
            streams_[stream].pop_front();
        }
    }

    std::mutex mutex_;
    std::list<Bytes> memory_;
    std::map<int, std::deque<std::function<void()>>> streams_;
    std::map<int, std::size_t> done_;
    std::map<int, std::pair<int, std::size_t>> recorded_;
    int events_ = 1;
};

struct Api {
    using Stream = int;
    using Event = int;
    Machine* machine;

    void* allocate(std::size_t bytes) { return machine->allocate(bytes); }
    Event make_event() { return machine->make_event(); }
    void copy(Stream stream, void* to, void const* from, std::size_t bytes) {
        std::this_thread::yield();
        machine->copy(stream, to, from, bytes);
    }
    void record(Event event, Stream stream) { machine->record(event, stream); }
    void wait(Event event) { machine->wait(event); }
};

using Ring = rowan::detail::UploadRing<Api>;

Bytes random_bytes(std::size_t n, unsigned seed) {
    std::mt19937_64 random(seed);
    Bytes bytes(n);
    for (std::size_t i = 0; i < n; i += 512) {
        std::uint64_t const bits = random();
        std::memcpy(bytes.data() + i, &bits, std::min(n - i, sizeof bits));
    }
    return bytes;
}

/// Uploads n bytes from a source that changes as soon as the call has returned.
class Upload {
public:
    Upload(Ring& ring, int stream, std::size_t n, unsigned seed) : sent_(random_bytes(n, seed)), got_(n + 1, std::byte{7}) {
        Bytes source = sent_;
        try {
            ring.upload(stream, got_.data(), source.data(), n);
        } catch (std::runtime_error const&) {
            failed_ = true;
        }
        source.assign(n, std::byte{1});
    }
    bool failed() const { return failed_; }
    bool untouched() const { return got_ == Bytes(got_.size(), std::byte{7}); }
    bool right() const { return std::equal(sent_.begin(), sent_.end(), got_.begin()) && got_.back() == std::byte{7}; }

private:
    Bytes sent_, got_;
    bool failed_ = false;
};

TEST_CASE("an upload of any size reads its source at once and copies later", "[thrust][upload_ring]") {
    constexpr std::size_t piece = Ring::piece, most = Ring::capacity;
    for (std::size_t const n : {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, 3 * piece, most - 1, most}) {
        CAPTURE(n);
        Machine machine;
        Ring ring(Api{&machine});
        Upload const first(ring, 0, n, 1);
        CHECK(first.untouched());
        CHECK((machine.waits == 0 && machine.blocks() == 1));
        machine.drain();
        CHECK(first.right());
        Upload const second(ring, 0, n, 2);
        machine.drain();
        CHECK(second.right());
        CHECK(machine.blocks() == 1);
    }
}

TEST_CASE("uploads on several streams wait only for the pieces that they use again", "[thrust][upload_ring]") {
    Machine machine;
    Ring ring(Api{&machine});
    std::deque<Upload> uploads;
    for (unsigned i = 0; i < Ring::pieces; ++i) uploads.emplace_back(ring, static_cast<int>(i % 3), 1000 + i, i);
    CHECK((machine.waits == 0 && std::ranges::all_of(uploads, &Upload::untouched)));
    uploads.emplace_back(ring, 1, 1000, 100);  // uses the first piece again, which stream 0 has used
    CHECK((machine.waits == 1 && uploads[0].right() && uploads[3].untouched() && uploads[1].untouched()));
    for (unsigned i = 0; i < 3 * Ring::pieces; ++i) uploads.emplace_back(ring, static_cast<int>(i % 2), 2 * Ring::piece - i, i);
    CHECK((machine.waits > Ring::pieces && machine.blocks() == 1));
    machine.drain();
    CHECK(std::ranges::all_of(uploads, &Upload::right));
}

TEST_CASE("threads upload at the same time", "[thrust][upload_ring]") {
    Machine machine;
    Ring ring(Api{&machine});
    std::array<std::deque<Upload>, 2> uploads;
    auto const some = [&](int stream) {
        for (unsigned i = 0; i < 60; ++i)
            uploads.at(static_cast<std::size_t>(stream)).emplace_back(ring, stream, (i % 3 + 1) * Ring::piece - i, i + 90U * (stream == 1));
    };
    std::thread other(some, 1);
    some(0);
    other.join();
    machine.drain();
    for (auto const& of_stream : uploads) CHECK(std::ranges::all_of(of_stream, &Upload::right));
}

TEST_CASE("after a call that has failed, all other uploads are right", "[thrust][upload_ring]") {
    std::ptrdiff_t failures = 0;
    for (int fail_in = 1; fail_in < 330; fail_in += 1 + fail_in / 10) {
        CAPTURE(fail_in);
        Machine machine;
        Ring ring(Api{&machine});
        machine.fail_in = fail_in;
        std::deque<Upload> uploads;
        for (unsigned i = 0; i < 70; ++i)
            uploads.emplace_back(ring, static_cast<int>(i % 2), i % 7 == 6 ? 3 * Ring::piece : 500 + i, i);
        CHECK(machine.blocks() == 1);
        machine.drain();
        CHECK(std::ranges::all_of(uploads, [](Upload const& u) { return u.failed() || u.right(); }));
        auto const failed = std::ranges::count_if(uploads, &Upload::failed);
        CHECK(failed <= 1);
        failures += failed;
    }
    CHECK(failures > 20);
}

TEST_CASE("small numbers are read back through pinned memory, while there is room", "[thrust][read_back]") {
    rowan::detail::ReadBackSpace space{};
    constexpr std::size_t room = sizeof space.numbers;
    std::array<std::byte, 300> to{};
    auto const places = [&](std::initializer_list<std::size_t> sizes) {
        REQUIRE(sizes.size() == 3);
        std::vector<std::ptrdiff_t> found;
        auto const* n = sizes.begin();
        space.each({{to.data(), nullptr, n[0]}, {to.data() + 1, nullptr, n[1]}, {to.data() + 2, nullptr, n[2]}},
                   [&](rowan::detail::HostCopy const& c, std::byte* pinned) {
                       found.push_back(static_cast<std::byte*>(c.to) - to.data());
                       found.push_back(pinned == nullptr ? -1 : pinned - space.numbers);
                   });
        return found;
    };
    using Places = std::vector<std::ptrdiff_t>;
    auto const all = static_cast<std::ptrdiff_t>(room);
    CHECK(places({2, 24, 8}) == Places{0, 0, 1, 2, 2, 26});
    CHECK(places({0, 8, 0}) == Places{1, 0});
    CHECK(places({room, 1, 0}) == Places{0, 0, 1, -1});
    CHECK(places({room + 1, 4, room - 4}) == Places{0, -1, 1, 0, 2, 4});
    CHECK(places({room - 1, 2, 1}) == Places{0, 0, 1, -1, 2, all - 1});
}

}  // namespace test_upload_ring
