// rowan/distributed/detail/long_wait_inl.hpp: the functions of long_wait.hpp.
#pragma once

#include <rowan/distributed/detail/long_wait.hpp>

#if ROWAN_DEFINES_FUNCTIONS

#include <algorithm>
#include <cstdio>
#include <map>
#include <thread>

namespace rowan::inline v0::detail {

/// `rank 2`, `ranks 0 to 3 and 7`, of many the first ones
ROWAN_IF_CALLED inline std::string ranks_text(std::span<int const> ranks) {
    std::vector<std::string> runs;
    std::size_t i = 0;
    for (; i < ranks.size() && runs.size() < 8; ++i) {
        std::size_t const first = i;
        while (i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1) ++i;
        runs.push_back(std::to_string(ranks[first]));
        if (i == first + 1) runs.push_back(std::to_string(ranks[i]));
        if (i > first + 1) runs.back().append(" to ").append(std::to_string(ranks[i]));
    }
    if (i < ranks.size()) runs.push_back(std::to_string(ranks.size() - i).append(" more"));
    std::string text(ranks.size() == 1 ? "rank " : "ranks ");
    for (std::size_t k = 0; k < runs.size(); ++k)
        text.append(k == 0 ? "" : k + 1 == runs.size() ? " and " : ", ").append(runs[k]);
    return text;
}

ROWAN_CALLED_FUNCTION std::string time_text(std::chrono::steady_clock::duration time) {
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    return ms < 1000 ? std::to_string(ms).append(" ms") : std::to_string(ms / 1000).append(" s");
}

ROWAN_CALLED_FUNCTION std::string late_text(std::span<int const> late, std::string_view what,
                                                       std::chrono::steady_clock::duration waited) {
    std::string text = late.empty() ? std::string("all ranks wait in ") : ranks_text(late);
    if (!late.empty()) text.append(late.size() == 1 ? " has not come to " : " have not come to ");
    return text.append(what).append(" for ").append(time_text(waited));
}

ROWAN_CALLED_FUNCTION void print_wait(std::string_view text, std::span<std::string const> in) {
    std::map<std::string_view, std::vector<int>> ranks;
    for (std::size_t r = 0; r < in.size(); ++r) {
        if (!in[r].empty()) ranks[in[r]].push_back(static_cast<int>(r));
    }
    std::string line = std::string("rowan: ").append(text);
    for (auto const& [what, waiting] : ranks)
        line.append("; ")
            .append(ranks_text(waiting))
            .append(waiting.size() == 1 ? " waits in " : " wait in ")
            .append(what);
    std::fputs(line.append("\n").c_str(), stderr);  // one call, so that lines of ranks do not mix
}

/// One wait, and the times at which something is due.
struct RankWatch::Wait {
    std::string_view call;
    std::span<int const> members;
    bool throws;
    Clock::time_point began, patient, reported, judged;  // since when patience counts, of the last line, and judgement
    std::optional<Clock::time_point> ends = {};          // of the time for answers, when others have been asked

    Clock::time_point report_at() const { return reported + std::chrono::milliseconds(report_waits_after.load()); }
    /// When it is time to know who is late.
    Clock::time_point due(std::chrono::milliseconds patience) const {
        return patience.count() == 0 ? report_at() : std::min(report_at(), patient + patience);
    }
};

ROWAN_CALLED_FUNCTION RankWatch::RankWatch(int rank, int size)
    : rank_(rank), in_(static_cast<std::size_t>(size)), asked_(in_.size()) {}

ROWAN_CALLED_FUNCTION void RankWatch::expect(std::string_view what, std::chrono::milliseconds patience) {
    std::scoped_lock const lock(mutex_);
    expected_.set(what, patience);
}

ROWAN_CALLED_FUNCTION void RankWatch::check() const {
    if (has_ended_) throw RemoteError(*ended_);
}

ROWAN_CALLED_FUNCTION void RankWatch::wait(std::function<bool()> const& done, std::string_view call,
                                                      std::span<int const> members, bool throws) {
    using std::chrono::milliseconds;
    auto const began = Clock::now();
    Wait wait{call, members, throws, began, began, began, began};
    for (unsigned tests = 1; !done(); ++tests) {
        if (tests % 16 != 0) continue;
        auto const now = Clock::now();
        if (now - began < milliseconds(1)) continue;
        look(wait, now);
        if (throws &&
            now - began > milliseconds(100)) {  // a call of a few bytes: more needs its sender and receiver awake
            std::this_thread::sleep_for(std::min<Clock::duration>((now - began) / 1000, milliseconds(1)));
        } else {
            std::this_thread::yield();
        }
    }
}

ROWAN_CALLED_FUNCTION void RankWatch::look(Wait& wait, Clock::time_point now) {
    std::scoped_lock const lock(mutex_);
    auto const what = expected_.text(wait.call);
    read_notes(what);
    if (!ended_) {
        auto const due = wait.due(expected_.patience);
        auto const for_answers = (due - wait.judged) / 4;
        if (!wait.ends && now >= due - for_answers) {
            ask(what);
            wait.ends = now + for_answers;
        }
        if (wait.ends && now >= *wait.ends) judge(wait, now);
    }
    if (!ended_) return;
    has_ended_ = true;
    if (wait.throws) throw RemoteError(*ended_);
    abort(ended_->what());
}

ROWAN_CALLED_FUNCTION void RankWatch::read_notes(std::string_view what) {
    RankNote note, mine;
    mine.kind = RankNote::answers;
    what.copy(mine.text.data(), mine.text.size() - 1);
    for (int from = 0; receive(from, note);) {
        silent_ = false;
        note.text.back() = '\0';
        if (note.kind == RankNote::ended) {
            if (!ended_) ended_ = RemoteError::late(note.rank, note.text.data());
            continue;
        }
        auto const r = static_cast<std::size_t>(from);
        in_[r] = note.text.data();
        if (note.kind == RankNote::asks) send(from, mine);
        if (note.kind == RankNote::answers) asked_[r] = 0;
    }
}

ROWAN_CALLED_FUNCTION void RankWatch::ask(std::string_view what) {
    RankNote note;
    what.copy(note.text.data(), note.text.size() - 1);
    silent_ = false;
    for (std::size_t r = 0; r < in_.size(); ++r) {
        in_[r].clear();
        if (static_cast<int>(r) == rank_ || asked_[r] != 0) continue;
        send(static_cast<int>(r), note);
        asked_[r] = 1;
    }
    in_[static_cast<std::size_t>(rank_)] = what;
}

ROWAN_CALLED_FUNCTION void RankWatch::judge(Wait& wait, Clock::time_point now) {
    auto const waits = [&](int r) { return !in_[static_cast<std::size_t>(r)].empty(); };
    auto const late = late_ranks(wait.members, static_cast<int>(in_.size()), waits);
    auto const text = late_text(late, expected_.text(wait.call), now - wait.began);
    if (now >= wait.report_at()) {
        int first = 0;
        while (!waits(first)) ++first;
        if (first == rank_) print_wait(text, in_);
        wait.reported = now;
    }
    if (expected_.patience.count() != 0 && now >= wait.patient + expected_.patience) {
        wait.patient = now;
        if (!late.empty()) {
            ended_ = RemoteError::late(late[0], text);
            RankNote note{RankNote::ended, late[0], {}};
            text.copy(note.text.data(), note.text.size() - 1);
            for (int r = 0; r < static_cast<int>(in_.size()); ++r) {
                if (r != rank_) send(r, note);
            }
        }
    }
    wait.judged = now;
    wait.ends = {};
}

}  // namespace rowan::inline v0::detail

#endif
