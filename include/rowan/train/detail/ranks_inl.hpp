// rowan/train/detail/ranks_inl.hpp: the functions of ranks.hpp.
#pragma once

#include <rowan/train/detail/ranks.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/even_cut.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/detail/shard_rows.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION PartRange PartRange::of_rank(std::int64_t total, int rank, int ranks) {
    std::int64_t const r = rank, n = ranks;
    return {even_cut(total, r, n), even_cut(total, r + 1, n), total};
}

ROWAN_CALLED_FUNCTION Patience::Patience(Ranks const* ranks, std::chrono::milliseconds patience)
    : ranks_(ranks), patience_(patience) {
    if (ranks_ != nullptr) before_ = ranks_->be_patient(std::max(patience, std::chrono::milliseconds(0)));
}

ROWAN_CALLED_FUNCTION void Patience::check() const {
    if (patience_.count() < 0) throw ValueError("options.patience", patience_.count(), "0 ms or more");
    if (patience_.count() > 0 && ranks_ != nullptr && !ranks_->can_be_patient())
        throw Error("train: options.patience is given, and the communicator has no function expect");
}

ROWAN_CALLED_FUNCTION bool one_node_each(std::int64_t total, Ranks const& ranks, int together) {
    auto const first = [&](int rank) { return even_cut(total, std::int64_t{rank}, std::int64_t{ranks.size()}); };
    auto const several = [&](int rank, int n) {  // the last of them may be fewer
        return firsts_of_nodes(first(rank), first(std::min(rank + n, ranks.size())), total).size() > 1;
    };
    for (int r = 0; r < ranks.size(); ++r) {
        if (several(r, 1) || (r % together == 0 && several(r, together))) return false;
    }
    return true;
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> rows_of(Ranks const* ranks, Variable const& table) {
    return ranks == nullptr ? rows_of_rank(shards_of(table, 1), 0)
                            : rows_of_rank(shards_of(table, ranks->size()), ranks->rank());
}

ROWAN_CALLED_FUNCTION void check_same_word(std::vector<Ranks::Words> const& all, std::size_t word, char const* what) {
    for (std::size_t r = 1; r < all.size(); ++r) {
        if (all[r][word] != all[0][word]) throw Error({"train: rank ", r, what, "rank 0"});
    }
}

ROWAN_CALLED_FUNCTION void NumbersOfParts::begin(Ranks const& ranks, std::vector<double> own, std::size_t width,
                                                 std::int64_t total) {
    own_ = std::move(own);
    all_.resize(width * static_cast<std::size_t>(total));
    for (int r = 0; r < ranks.size(); ++r)
        bytes_.push_back(static_cast<std::size_t>(PartRange::of_rank(total, r, ranks.size()).size()) * width *
                         sizeof(double));
    wait_ = ranks.begin_gather(std::as_bytes(std::span(own_)), std::as_writable_bytes(std::span(all_)), bytes_);
}

ROWAN_CALLED_FUNCTION std::vector<double> NumbersOfParts::take() {
    wait_();
    return std::move(all_);
}

ROWAN_CALLED_FUNCTION void add_variables(NamedValues& to, std::span<Variable* const> variables, char const* what) {
    for (Variable const* const v : variables) {
        to.add(v->name(),
               kind_text(v->spec()).append(shape_text(v->sharded() ? v->spec().dims : v->value().spec().dims)));
        if (v->sharded()) {
            to.add(std::string("the placement of ").append(v->name()), placement_text(v->placement));
            continue;
        }
        Value value = v->value().on_host();
        if (v->spec().type == VarType::SELECTED_ROWS) {
            auto const rows = value.row_numbers();
            to.add(std::string("a hash of the rows of the ").append(what).append(" of ").append(v->name()),
                   hash_of(std::as_bytes(std::span(rows))));
            value = value.row_values();
        }
        to.add(std::string("a hash of the ").append(what).append(" of ").append(v->name()),
               hash_of(value.elements().bytes));
    }
}

}  // namespace rowan::inline v0::detail

#endif
