// rowan/distributed/plan_inl.hpp: definitions of rowan/distributed/plan.hpp.
#pragma once

#include <rowan/distributed/plan.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/distributed/detail/text_table.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <ostream>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

inline constexpr std::int64_t blocks_of_rank = 16;  // that even out what one of them has more
using Amount = double Plan::Rank::*;

inline void check_table(TableToPlace const& t, std::size_t i) {
    auto const check = [&](char const* field, std::int64_t n, bool good, std::string const& expected) {
        if (!good)
            throw ShapeError(std::string("tables[").append(std::to_string(i)).append("].").append(field),
                             std::to_string(n), expected);
    };
    check("height", t.height, t.height >= 0, "at least 0");
    check("width", t.width, t.width >= 0, "at least 0");
    check("lookups", t.lookups, t.lookups >= 0, "at least 0");
    check("element_bytes", t.element_bytes, t.element_bytes >= 1, "at least 1");
    check("state_bytes", t.state_bytes, t.state_bytes >= 0, "at least 0");
    std::int64_t const most = std::min(t.lookups, t.height);
    check("different", t.different, t.different >= 0 && t.different <= most,
          std::string("in [0, ").append(std::to_string(most)).append("], the lookups and the height"));
}

/// The different rows that the ranks of a step name, and those that one of them does.
struct NamedRows {
    NamedRows(TableToPlace const& t, int ranks) {
        auto const n = static_cast<double>(t.lookups), height = static_cast<double>(t.height);
        if (t.lookups == 0 || t.height == 0) return;
        all = t.different != 0 ? static_cast<double>(t.different) : n * height / (n + height);
        of_rank = n * all / (n + (ranks - 1) * all);
    }
    double all = 0, of_rank = 0;
};

/// The bytes of elements and states.
inline double table_bytes(TableToPlace const& t) {
    return static_cast<double>(t.height) *
           (static_cast<double>(t.width) * static_cast<double>(t.element_bytes) + static_cast<double>(t.state_bytes));
}

/// Adds what each rank has of a table.
inline void add_amounts(std::vector<Plan::Rank>& to, Plan::Table const& placed) {
    auto const& t = placed.table;
    auto const ranks = static_cast<int>(to.size());
    double const p = ranks;
    NamedRows const named(t, ranks);
    double const u = named.of_rank, all = named.all, width = static_cast<double>(t.width),
                 row = width * static_cast<double>(t.element_bytes),
                 gradient = width * static_cast<double>(std::max<std::int64_t>(t.element_bytes, 4));
    if (!placed.sharded) {
        double const others = (p - 1) / p;
        for (auto& r : to) {
            r.memory += table_bytes(t);
            r.load += (u + all) * row;
            r.sent +=
                std::min((p - 1) * u * (gradient + 16), others * u * (gradient + 16) + others * all * (gradient + 8));
        }
        return;
    }
    int const pieces = placed.placement.columns;
    for (int piece = 0; piece < pieces; ++piece) {
        auto const partition = placed.placement.piece(piece).on(t.height, ranks);
        for (int i = 0; i < ranks; ++i) {
            auto& r = to[static_cast<std::size_t>(i)];
            auto const rows = static_cast<double>(partition.rows_of(i));
            double const share = t.height == 0 ? 0 : rows / static_cast<double>(t.height);
            r.memory += rows * ((row + static_cast<double>(t.state_bytes)) / pieces + 8);
            r.load += (p * u + all) * share * row / pieces;
            r.sent += u * (1 - share) * (8 + gradient / pieces) + (p - 1) * u * share * row / pieces;
        }
    }
}

/// Begins with as many tables replicated or whole on one rank as the options want, and deals one after another to all
/// ranks while a rank has too much.
class Planner {
public:
    Planner(std::span<TableToPlace const> tables, int ranks, PlanOptions const& options)
        : ranks_(ranks), options_(options) {
        for (auto const& t : tables) {
            plan_.tables.push_back({.table = t});
            kinds_.push_back(table_bytes(t) <= static_cast<double>(options.replicated_bytes) ? Kind::replicated
                             : ranks > 1 && asked(t) < static_cast<double>(options.whole_rows) * ranks ? Kind::whole
                                                                                                       : Kind::dealt);
            plan_.tables.back().sharded = kinds_.back() != Kind::replicated;
        }
        plan_.ranks.resize(static_cast<std::size_t>(ranks));
        for (auto const& t : plan_.tables) add_amounts(plan_.ranks, t);
        for (auto const& r : plan_.ranks) {
            total_.memory += r.memory;
            total_.load += r.load;
        }
    }

    Plan run() {
        do place_all();
        while (deal_one());
        return std::move(plan_);
    }

private:
    enum class Kind { replicated, whole, dealt };

    /// The rows of a table that a rank asks for in a step.
    double asked(TableToPlace const& t) const {
        return t.lookups == 0 ? static_cast<double>(t.height) : NamedRows(t, ranks_).of_rank;
    }
    /// The part of all load or of all memory, whichever is greater.
    double weight(Plan::Rank const& r) const {
        return std::max(total_.load == 0 ? 0 : r.load / total_.load, total_.memory == 0 ? 0 : r.memory / total_.memory);
    }
    /// What a rank has of one table.
    Plan::Rank amounts(Plan::Table const& t, std::size_t rank) const {
        std::vector<Plan::Rank> alone(plan_.ranks.size());
        add_amounts(alone, t);
        return alone[rank];
    }
    int least_busy() const {
        auto const of_rank = [this](Plan::Rank const& r) { return weight(r); };
        return static_cast<int>(std::ranges::min_element(plan_.ranks, {}, of_rank) - plan_.ranks.begin());
    }
    std::size_t busiest(Amount what) const {
        return static_cast<std::size_t>(std::ranges::max_element(plan_.ranks, {}, what) - plan_.ranks.begin());
    }

    void place_all() {
        plan_.ranks.assign(plan_.ranks.size(), {});
        std::vector<std::pair<double, std::size_t>> whole;
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            auto& t = plan_.tables[i];
            t.sharded = kinds_[i] != Kind::replicated;
            if (kinds_[i] == Kind::whole) {
                t.placement = {.block = std::max<std::int64_t>(t.table.height, 1)};
                whole.emplace_back(weight(amounts(t, 0)), i);
                continue;
            }
            if (t.sharded) t.placement = dealt(t.table);
            add_amounts(plan_.ranks, t);
        }
        std::ranges::stable_sort(whole, std::greater(), &std::pair<double, std::size_t>::first);
        for (auto const& [weight, i] : whole) {
            plan_.tables[i].placement.first = least_busy();
            add_amounts(plan_.ranks, plan_.tables[i]);
        }
    }

    /// The placement on all ranks.
    Placement dealt(TableToPlace const& t) const {
        std::int64_t const least = blocks_of_rank * ranks_;
        if (ranks_ > 1 && t.height < least && t.width % ranks_ == 0 && t.width / ranks_ >= 16)
            return {.block = std::max<std::int64_t>(t.height, 1), .columns = ranks_};
        Placement placement{.first = least_busy()};
        while (placement.block > 1 && static_cast<double>(placement.block * least) > asked(t)) placement.block /= 2;
        return placement;
    }

    /// Decides to deal a table to all ranks, if a rank has too much.
    /// errors   ShapeError if a rank has too much memory, and all tables are dealt
    bool deal_one() {
        for (Amount const what : {&Plan::Rank::load, &Plan::Rank::memory}) {
            if (plan_.busiest(what) > options_.busiest && deal_whole_of(busiest(what), what)) return true;
        }
        std::size_t const rank = busiest(&Plan::Rank::memory);
        if (options_.memory <= 0 || plan_.ranks[rank].memory <= static_cast<double>(options_.memory)) return false;
        auto const replicated = [](Plan::Table const& t) { return table_bytes(t.table); };
        if (deal_greatest(Kind::replicated, replicated) || deal_whole_of(rank, &Plan::Rank::memory)) return true;
        no_memory(rank);
    }
    bool deal_whole_of(std::size_t rank, Amount what) {
        return deal_greatest(Kind::whole, [&](Plan::Table const& t) { return amounts(t, rank).*what; });
    }
    template <class F>
    bool deal_greatest(Kind kind, F const& amount) {
        double most = 0;
        std::size_t greatest = kinds_.size();
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            double const own = kinds_[i] == kind ? amount(plan_.tables[i]) : 0;
            if (own <= most) continue;
            most = own;
            greatest = i;
        }
        if (greatest == kinds_.size()) return false;
        kinds_[greatest] = Kind::dealt;
        return true;
    }

    [[noreturn]] void no_memory(std::size_t rank) const {
        auto const of = [&](Plan::Table const& t) { return amounts(t, rank).memory; };
        auto const& t = *std::ranges::max_element(plan_.tables, {}, of);
        throw ShapeError(std::string("the memory of rank ").append(std::to_string(rank)),
                         std::to_string(std::llround(plan_.ranks[rank].memory)).append(" bytes"),
                         std::string("at most options.memory, ")
                             .append(std::to_string(options_.memory))
                             .append("; the table \"")
                             .append(t.table.name)
                             .append("\" needs ")
                             .append(std::to_string(std::llround(of(t)))));
    }

    int ranks_;
    PlanOptions const& options_;
    Plan plan_;
    std::vector<Kind> kinds_;  // of each table
    Plan::Rank total_;
};

}  // namespace detail

ROWAN_FUNCTION std::string Plan::Table::text() const {
    if (!sharded) return "replicated";
    auto const from = std::string(" from rank ").append(std::to_string(placement.first)).append(" on");
    if (placement.columns > 1) return std::to_string(placement.columns).append(" pieces of columns").append(from);
    if (placement.block >= table.height) return std::string("whole on rank ").append(std::to_string(placement.first));
    if (placement.block == 1) return std::string("row by row").append(from);
    return std::string("blocks of ").append(std::to_string(placement.block)).append(" rows").append(from);
}

ROWAN_FUNCTION Plan::Table const& Plan::operator[](std::string_view name) const {
    auto const at = std::ranges::find_if(tables, [&](Table const& t) { return t.table.name == name; });
    if (at == tables.end()) throw Error(std::string("the plan has no table \"").append(name).append("\""));
    return *at;
}

ROWAN_FUNCTION double Plan::busiest(double Rank::*what) const {
    double sum = 0, most = 0;
    for (Rank const& r : ranks) {
        sum += r.*what;
        most = std::max(most, r.*what);
    }
    return sum == 0 ? 1 : most * static_cast<double>(ranks.size()) / sum;
}

ROWAN_FUNCTION std::ostream& Plan::print(std::ostream& out) const {
    std::vector<std::vector<std::string>> lines{{"table", "height", "width", "lookups", "different", "placement"}};
    for (Table const& t : tables) {
        auto const named = std::llround(detail::NamedRows(t.table, static_cast<int>(ranks.size())).all);
        lines.push_back({t.table.name, std::to_string(t.table.height), std::to_string(t.table.width),
                         std::to_string(t.table.lookups), std::to_string(named), t.text()});
    }
    detail::print_lines(out, lines, {0, 5});
    lines = {{"rank", "memory", "load", "sent"}};
    for (std::size_t i = 0; i < ranks.size(); ++i)
        lines.push_back({std::to_string(i), detail::bytes_text(ranks[i].memory), detail::bytes_text(ranks[i].load),
                         detail::bytes_text(ranks[i].sent)});
    lines.push_back({"busiest / mean", detail::ratio_text(busiest(&Rank::memory)),
                     detail::ratio_text(busiest(&Rank::load)), detail::ratio_text(busiest(&Rank::sent))});
    detail::print_lines(out, lines, {0});
    return out;
}

ROWAN_FUNCTION Plan plan(std::span<TableToPlace const> tables, int ranks, PlanOptions const& options) {
    if (ranks < 1) throw ShapeError("ranks", std::to_string(ranks), "at least 1");
    if (!std::isfinite(options.busiest)) throw ValueError("options.busiest", options.busiest, "a finite number");
    for (std::size_t i = 0; i < tables.size(); ++i) {
        detail::check_table(tables[i], i);
        for (std::size_t k = 0; k < i; ++k) {
            if (tables[k].name == tables[i].name)
                throw Error(std::string("tables[")
                                .append(std::to_string(i))
                                .append("].name is \"")
                                .append(tables[i].name)
                                .append("\", as that of tables[")
                                .append(std::to_string(k))
                                .append("]"));
        }
    }
    return detail::Planner(tables, ranks, options).run();
}

}  // namespace rowan::inline v0

#endif
