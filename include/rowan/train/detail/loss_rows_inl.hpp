// rowan/train/detail/loss_rows_inl.hpp: definitions of rowan/train/detail/loss_rows.hpp.
#pragma once

#include <rowan/train/detail/loss_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/graph/value.hpp>
#include <rowan/train/detail/cost_weight.hpp>

#include <algorithm>
#include <unordered_set>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION LossRows::LossRows(Variable& cost, std::span<Operator* const> order) {
    std::vector<Variable const*> found{&cost};
    std::unordered_set<Variable const*> seen{&cost};
    auto const writer_of = [](Variable const& v) { return v.writers().empty() ? nullptr : v.writers()[0]; };
    auto const add = [&](Variable const& v, bool weighs) {
        Operator const* const writer = writer_of(v);
        std::size_t ready = 0;
        if (writer != nullptr) ready = static_cast<std::size_t>(std::ranges::find(order, writer) - order.begin()) + 1;
        all_.insert(std::ranges::upper_bound(all_, ready, {}, &Reduced::ready), {&v, writer, ready, weighs});
    };
    for (std::size_t i = 0; i < found.size(); ++i) {
        Variable const& v = *found[i];
        Operator const* const writer = writer_of(v);
        if (has_rows(v) || v.role() == Role::data || v.role() == Role::places) {
            add(v, false);
        } else if (writer != nullptr && weighs_rows(linearity(*writer))) {
            add(*writer->inputs[2], true);
        } else if (writer != nullptr && linearity(*writer) != Linearity::constant) {
            Linearity const how = linearity(*writer);
            bool const factors = how == Linearity::product || how == Linearity::quotient;
            auto const rows = std::ranges::find_if(writer->inputs, [](Variable const* in) { return has_rows(*in); });
            for (Variable const* const in : writer->inputs) {
                if (rows != writer->inputs.end() ? in != *rows : factors && in->role() == Role::data) continue;
                if (seen.insert(in).second) found.push_back(in);
            }
        }
    }
}

ROWAN_CALLED_FUNCTION void LossRows::begin() {
    most_ = 0;
    for (next_ = 0; next_ < all_.size() && all_[next_].writer == nullptr; ++next_) count(all_[next_]);
}

ROWAN_FUNCTION void LossRows::count(Reduced const& r) {
    auto const &declared = r.variable->spec().dims, now = r.variable->value().spec().dims;
    std::int64_t rows = now.empty() ? 1 : now[0];
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (declared[i] == UNK && now[i] == 0) rows = 0;
    }
    if (r.weighs && has_floats(*r.variable)) {
        auto const weights = floats_of(r.variable->value());
        rows = static_cast<std::int64_t>(weights.size()) - std::ranges::count(weights, 0.0);
    }
    most_ = std::max(most_, rows);
}

}  // namespace rowan::inline v0::detail

#endif
