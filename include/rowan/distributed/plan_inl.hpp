// rowan/distributed/plan_inl.hpp: definitions of rowan/distributed/plan.hpp.
#pragma once

#include <rowan/distributed/plan.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// errors   ShapeError if a number of tables[i] is bad
ROWAN_IF_CALLED inline void check_table(TableToPlace const& t, std::size_t i) {
    auto const check = [&](char const* field, std::int64_t n, bool good, std::string const& expected) {
        if (!good) throw ShapeError({"tables[", i, "].", field}, n, expected);
    };
    check("height", t.height, t.height >= 0, "at least 0");
    check("width", t.width, t.width >= 0, "at least 0");
    check("lookups", t.lookups, t.lookups >= 0, "at least 0");
    check("element_bytes", t.element_bytes, t.element_bytes >= 1, "at least 1");
    check("state_bytes", t.state_bytes, t.state_bytes >= 0, "at least 0");
    std::int64_t const most = t.lookups < t.height ? t.lookups : t.height;
    check("different", t.different, t.different >= 0 && t.different <= most,
          std::string("in [0, ").append(std::to_string(most)).append("], the lookups and the height"));
}

/// The different rows that the ranks of a step name, and those that one of them does.
struct NamedRows {
    ROWAN_IF_CALLED NamedRows(TableToPlace const& t, int ranks) {
        auto const n = static_cast<double>(t.lookups), height = static_cast<double>(t.height);
        if (t.lookups == 0 || t.height == 0) return;
        all = t.different != 0 ? static_cast<double>(t.different) : n * height / (n + height);
        of_rank = n * all / (n + (ranks - 1) * all);
    }
    double all = 0, of_rank = 0;
};

/// The bytes of elements and states.
ROWAN_IF_CALLED inline double table_bytes(TableToPlace const& t) {
    return static_cast<double>(t.height) *
           (static_cast<double>(t.width) * static_cast<double>(t.element_bytes) + static_cast<double>(t.state_bytes));
}

/// "1.5 MiB"
ROWAN_IF_CALLED inline std::string bytes_text(double bytes) {
    static constexpr char const* units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
    auto const tenths = std::llround(bytes * 10);
    std::string text = std::to_string(tenths / 10);
    if (unit != 0) text.append(".").append(std::to_string(tenths % 10));
    return text.append(units[unit]);
}

/// "1.050"
ROWAN_IF_CALLED inline std::string ratio_text(double x) {
    auto const n = std::llround(x * 1000);
    return std::to_string(n / 1000).append(".").append(std::to_string(1000 + n % 1000).substr(1));
}

/// Lines of texts in columns, which are aligned to the right, but two of them to the left.
class TextTable {
public:
    TextTable(std::size_t columns, std::pair<std::size_t, std::size_t> left) : columns_(columns), left_(left) {}
    void add(std::string cell) { cells_.push_back(std::move(cell)); }  ///< line by line
    ROWAN_IF_CALLED std::string text() const {
        std::string text;
        std::vector<std::size_t> widths(columns_);
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            auto& width = widths[i % columns_];
            if (cells_[i].size() > width) width = cells_[i].size();
        }
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            std::size_t const column = i % columns_, space = widths[column] - cells_[i].size();
            bool const left = column == left_.first || column == left_.second, last = column + 1 == columns_;
            if (column != 0) text.append("  ");
            if (!left) text.append(space, ' ');
            text.append(cells_[i]);
            if (left && !last) text.append(space, ' ');
            if (last) text.append("\n");
        }
        return text;
    }

private:
    std::size_t columns_;
    std::pair<std::size_t, std::size_t> left_;
    std::vector<std::string> cells_;
};

inline constexpr std::int64_t blocks_of_rank = 16;  // that even out what one of them has more
using Amount = double Plan::Rank::*;

/// Adds what each rank has of a table.
inline void add_amounts(std::vector<Plan::Rank>& to, Plan::Table const& placed) {
    auto const& t = placed.table;
    auto const ranks = static_cast<int>(to.size());
    double const p = ranks;
    NamedRows const named(t, ranks);
    double const u = named.of_rank, all = named.all, width = static_cast<double>(t.width),
                 row = width * static_cast<double>(t.element_bytes),
                 gradient = width * static_cast<double>(t.element_bytes < 4 ? 4 : t.element_bytes);
    if (!placed.sharded) {
        double const others = (p - 1) / p, gathered = (p - 1) * u * (gradient + 16),
                     by_owners = others * (u * (gradient + 16) + all * (gradient + 8));
        for (auto& r : to) {
            r.memory += table_bytes(t);
            r.load += (u + all) * row;
            r.sent += gathered < by_owners ? gathered : by_owners;
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
        : ranks_(ranks), options_(options), kinds_(tables.size()) {
        plan_.tables.resize(tables.size());
        plan_.ranks.resize(static_cast<std::size_t>(ranks));
        for (std::size_t i = 0; i < tables.size(); ++i) {
            auto const& t = plan_.tables[i].table = tables[i];
            bool const few = ranks > 1 && asked(t) < static_cast<double>(options.whole_rows) * ranks;
            kinds_[i] = table_bytes(t) <= static_cast<double>(options.replicated_bytes) ? replicated
                        : few                                                           ? whole
                                                                                        : dealt;
            plan_.tables[i].sharded = kinds_[i] != replicated;
            add_amounts(plan_.ranks, plan_.tables[i]);
        }
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
    enum Kind : int { replicated, whole, dealt };

    /// The rows of a table that a rank asks for in a step.
    double asked(TableToPlace const& t) const {
        return t.lookups == 0 ? static_cast<double>(t.height) : NamedRows(t, ranks_).of_rank;
    }
    /// The part of all load or of all memory, whichever is greater.
    double weight(Plan::Rank const& r) const {
        double const load = total_.load == 0 ? 0 : r.load / total_.load,
                     memory = total_.memory == 0 ? 0 : r.memory / total_.memory;
        return load < memory ? memory : load;
    }
    /// What a rank has of one table.
    Plan::Rank amounts(Plan::Table const& t, std::size_t rank) const {
        std::vector<Plan::Rank> alone(plan_.ranks.size());
        add_amounts(alone, t);
        return alone[rank];
    }
    int least_busy() const {
        std::size_t least = 0;
        for (std::size_t r = 1; r < plan_.ranks.size(); ++r) {
            if (weight(plan_.ranks[r]) < weight(plan_.ranks[least])) least = r;
        }
        return static_cast<int>(least);
    }
    std::size_t busiest(Amount what) const {
        std::size_t most = 0;
        for (std::size_t r = 1; r < plan_.ranks.size(); ++r) {
            if (plan_.ranks[r].*what > plan_.ranks[most].*what) most = r;
        }
        return most;
    }

    void place_all() {
        plan_.ranks.assign(plan_.ranks.size(), {});
        std::vector<double> weights(kinds_.size(), -1);  // of whole tables that have no place yet
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            auto& t = plan_.tables[i];
            t.sharded = kinds_[i] != replicated;
            if (kinds_[i] == whole) {
                t.placement = on_one_rank(t.table);
                weights[i] = weight(amounts(t, 0));
                continue;
            }
            if (t.sharded) t.placement = on_all_ranks(t.table);
            add_amounts(plan_.ranks, t);
        }
        for (;;) {
            std::size_t next = kinds_.size();
            double most = -1;
            for (std::size_t i = 0; i < kinds_.size(); ++i) {
                if (weights[i] <= most) continue;
                most = weights[i];
                next = i;
            }
            if (next == kinds_.size()) return;
            weights[next] = -1;
            plan_.tables[next].placement.first = least_busy();
            add_amounts(plan_.ranks, plan_.tables[next]);
        }
    }

    static Placement on_one_rank(TableToPlace const& t) { return {.block = t.height < 1 ? 1 : t.height}; }
    Placement on_all_ranks(TableToPlace const& t) const {
        std::int64_t const least = blocks_of_rank * ranks_;
        Placement placement = on_one_rank(t);
        if (options_.cut_columns && ranks_ > 1 && t.height < least && t.width % ranks_ == 0 && t.width / ranks_ >= 16) {
            placement.columns = ranks_;
            return placement;
        }
        placement = {.first = least_busy()};
        while (placement.block > 1 && static_cast<double>(placement.block * least) > asked(t)) placement.block /= 2;
        return placement;
    }

    /// Decides to deal a table to all ranks, if a rank has too much.
    /// errors   ShapeError if a rank has too much memory, and all tables are dealt
    bool deal_one() {
        for (Amount const what : {&Plan::Rank::load, &Plan::Rank::memory}) {
            if (plan_.busiest(what) > options_.busiest && deal_greatest(whole, busiest(what), what)) return true;
        }
        auto const memory = &Plan::Rank::memory;
        std::size_t const rank = busiest(memory);
        if (options_.memory == 0 || plan_.ranks[rank].memory <= static_cast<double>(options_.memory)) return false;
        if (deal_greatest(replicated, rank, memory) || deal_greatest(whole, rank, memory)) return true;
        no_memory(rank);
    }
    bool deal_greatest(Kind kind, std::size_t rank, Amount what) {
        std::size_t const greatest = greatest_of(kind, rank, what);
        if (greatest == kinds_.size()) return false;
        kinds_[greatest] = dealt;
        return true;
    }
    /// The table of a kind of which a rank has most, or the number of tables if it has nothing.
    std::size_t greatest_of(Kind kind, std::size_t rank, Amount what) const {
        double most = 0;
        std::size_t greatest = kinds_.size();
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            double const own = kinds_[i] == kind ? amounts(plan_.tables[i], rank).*what : 0;
            if (own <= most) continue;
            most = own;
            greatest = i;
        }
        return greatest;
    }

    [[noreturn]] void no_memory(std::size_t rank) const {
        auto const& t = plan_.tables[greatest_of(dealt, rank, &Plan::Rank::memory)];
        throw ShapeError({"the memory of rank ", rank}, {std::llround(plan_.ranks[rank].memory), " bytes"},
                         {"at most options.memory, ", options_.memory, "; the table \"", t.table.name, "\" needs ",
                          std::llround(amounts(t, rank).memory)});
    }

    int ranks_;
    PlanOptions const& options_;
    Plan plan_;
    std::vector<int> kinds_;  // of each table, a Kind
    Plan::Rank total_;
};

}  // namespace detail

ROWAN_FUNCTION ROWAN_RARE std::string Plan::Table::text() const {
    if (!sharded) return "replicated";
    auto const from = std::string(" from rank ").append(std::to_string(placement.first)).append(" on");
    if (placement.columns > 1) return std::to_string(placement.columns).append(" pieces of columns").append(from);
    if (placement.block >= table.height) return std::string("whole on rank ").append(std::to_string(placement.first));
    if (placement.block == 1) return std::string("row by row").append(from);
    return std::string("blocks of ").append(std::to_string(placement.block)).append(" rows").append(from);
}

ROWAN_FUNCTION ROWAN_RARE Plan::Table const& Plan::operator[](std::string_view name) const {
    for (Table const& t : tables) {
        if (t.table.name == name) return t;
    }
    throw Error({"the plan has no table \"", name, "\""});
}

ROWAN_FUNCTION ROWAN_RARE double Plan::busiest(double Rank::*what) const {
    double sum = 0, most = 0;
    for (Rank const& r : ranks) {
        sum += r.*what;
        if (r.*what > most) most = r.*what;
    }
    return sum == 0 ? 1 : most * static_cast<double>(ranks.size()) / sum;
}

ROWAN_FUNCTION ROWAN_RARE std::ostream& Plan::print(std::ostream& out) const {
    detail::TextTable placed(6, {0, 5});
    for (char const* const title : {"table", "height", "width", "lookups", "different", "placement"}) placed.add(title);
    for (Table const& t : tables) {
        placed.add(t.table.name);
        auto const named = std::llround(detail::NamedRows(t.table, static_cast<int>(ranks.size())).all);
        for (std::int64_t const n : {t.table.height, t.table.width, t.table.lookups, std::int64_t{named}})
            placed.add(std::to_string(n));
        placed.add(t.text());
    }
    out << placed.text();
    detail::TextTable of_ranks(4, {0, 0});
    for (char const* const title : {"rank", "memory", "load", "sent"}) of_ranks.add(title);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        of_ranks.add(std::to_string(i));
        for (double const bytes : {ranks[i].memory, ranks[i].load, ranks[i].sent})
            of_ranks.add(detail::bytes_text(bytes));
    }
    of_ranks.add("busiest / mean");
    for (auto const what : {&Rank::memory, &Rank::load, &Rank::sent}) of_ranks.add(detail::ratio_text(busiest(what)));
    return out << of_ranks.text();
}

ROWAN_FUNCTION ROWAN_RARE Plan plan(std::span<TableToPlace const> tables, int ranks, PlanOptions const& options) {
    if (ranks < 1) throw ShapeError("ranks", ranks, "at least 1");
    if (options.memory < 0) throw ShapeError("options.memory", options.memory, "at least 0");
    if (!std::isfinite(options.busiest)) throw ValueError("options.busiest", options.busiest, "a finite number");
    for (std::size_t i = 0; i < tables.size(); ++i) {
        detail::check_table(tables[i], i);
        for (std::size_t k = 0; k < i; ++k) {
            if (tables[k].name == tables[i].name)
                throw Error({"tables[", i, "].name is \"", tables[i].name, "\", as that of tables[", k, "]"});
        }
    }
    return detail::Planner(tables, ranks, options).run();
}

}  // namespace rowan::inline v0

#endif
