// rowan/graph/detail/trace_inl.hpp: definitions of rowan/graph/detail/trace.hpp.
#pragma once

#include <rowan/graph/detail/trace.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/lock_names.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string describe(Variable const& v) {
    if (!v.name().empty()) return v.name();
    return v.role() == Role::parameter ? "a parameter" : "a result without a name";
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::span<Variable* const> in_slot(std::vector<Variable*> const& variables,
                                                                    std::size_t slots, std::size_t k) {
    std::size_t const first = variables.size() - slots + 1;  // the number of variables in the first slot
    return k == 0 ? std::span(variables).first(first) : std::span(variables).subspan(first + k - 1, 1);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE unsigned row_inputs(Operator const& op) {
    std::vector<VarSpec> in;
    for (Variable const* v : op.inputs) in.push_back(v->spec());
    return op.kernel->row_inputs(in, op.attributes);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE bool sums_rows(Operator const& op) {
    return op.kernel->row_traits(op.attributes).sums_rows && row_inputs(op) != 0;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE bool all_row_sparse(std::span<Variable* const> gradients) {
    return !gradients.empty() &&
           std::ranges::all_of(gradients, [](Variable const* v) { return v->spec().type == VarType::SELECTED_ROWS; });
}

ROWAN_CALLED_FUNCTION ROWAN_RARE bool is_placeholder(Variable const& v) {
    return v.writers().empty() && (v.role() == Role::temporary || v.role() == Role::step_input);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void each_read(Operator const& op, OutsideOf const& outside, ReadVisitor const& f) {
    if (op.kernel->each_read != nullptr) return op.kernel->each_read(op, outside, f);
    for (std::size_t slot = 0; slot < op.inputs.size(); ++slot) f(op, slot, outside);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<Operator*> trace(std::span<Variable* const> targets, Scope const* within) {
    enum Mark { open, done };
    struct Visit {
        Operator* op;
        std::size_t next;  // index of the next input to visit
    };
    std::vector<Operator*> order;
    std::unordered_map<Operator const*, Mark> marks;
    std::vector<Visit> path;  // no recursion, as nets may be deep
    auto const enter = [&](Variable const& v, Operator* op) {
        if (within != nullptr && &v.scope() != within) return;
        auto const [mark, is_new] = marks.try_emplace(op, open);
        if (is_new) {
            path.push_back({op, 0});
        } else if (mark->second == open) {
            std::string text = "the net has a cycle: ";
            bool inside = false;
            for (Visit const& visit : path) {
                inside = inside || visit.op == op;
                if (inside) text.append(visit.op->kernel->name).append(" -> ");
            }
            throw GraphError(text.append(op->kernel->name));
        }
    };
    auto const finish = [&] {
        while (!path.empty()) {
            Visit& visit = path.back();
            if (visit.next == visit.op->inputs.size()) {
                marks[visit.op] = done;
                order.push_back(visit.op);
                path.pop_back();
                continue;
            }
            Variable const& read = *visit.op->inputs[visit.next++];
            for (Operator* const writer : read.writers()) enter(read, writer);
        }
    };
    for (Variable* const target : targets) {
        for (Operator* const writer : target->writers()) {
            enter(*target, writer);
            finish();
        }
    }
    return order;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE bool depends_on_placeholder(Variable& v) {
    if (is_placeholder(v)) return true;
    for (Operator const* op : trace(std::array{&v})) {
        for (Variable const* read : op->inputs) {
            if (is_placeholder(*read)) return true;
        }
    }
    return false;
}

/// The name, or the name with "~1", "~2" and so on. Of n variables with one name, each asks for O(log n) of them.
template <class Taken>
std::string free_name(std::string name, Taken const& taken) {
    if (!taken(name)) return name;
    std::size_t const size = name.append("~").size();
    auto const is_taken = [&](std::size_t k) {
        name.resize(size);
        return taken(name.append(std::to_string(k)));
    };
    std::size_t free = 1, last = 0;  // all up to `last` are taken
    while (is_taken(free)) last = std::exchange(free, 2 * free);
    while (free - last > 1) {
        std::size_t const middle = last + (free - last) / 2;
        (is_taken(middle) ? last : free) = middle;
    }
    name.resize(size);
    return name.append(std::to_string(free));
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<std::pair<Variable*, std::string>> names_of(
    std::span<Operator* const> order) {
    std::vector<std::pair<Variable*, std::string>> names;
    std::unordered_set<Variable const*> known;
    std::unordered_set<std::string> taken;
    std::map<std::string_view, std::size_t> count;
    for (Operator const* op : order) {
        for (auto const* list : {&op->inputs, &op->outputs}) {
            for (Variable* const v : *list) {
                if (v->has_own_name() && known.insert(v).second) {
                    names.emplace_back(v, v->name());
                    taken.insert(v->name());
                }
            }
        }
    }
    for (Operator const* op : order) {
        std::string prefix(op->kernel->name);
        prefix.append("_").append(std::to_string(count[op->kernel->name]++)).append(".");
        auto const name = [&](std::vector<Variable*> const& variables, std::span<std::string_view const> slots) {
            for (std::size_t k = 0; k < slots.size() && !variables.empty(); ++k) {
                std::string base = prefix;
                base.append(slots[k]).append("_");
                auto const held = in_slot(variables, slots.size(), k);
                std::size_t number = 0;  // none that is smaller is free
                for (std::size_t i = 0; i < held.size(); ++i) {
                    if (!known.insert(held[i]).second) continue;
                    number = std::max(number, i);
                    while (!taken.insert(base + std::to_string(number)).second) ++number;
                    names.emplace_back(held[i], base + std::to_string(number++));
                }
            }
        };
        std::size_t const first = op->inputs.size() - op->inner_names.size();
        for (std::size_t i = 0; i < op->inner_names.size(); ++i) {
            if (op->inner_names[i].empty() || !known.insert(op->inputs[first + i]).second) continue;
            auto free = free_name(prefix + op->inner_names[i], [&](auto const& name) { return taken.contains(name); });
            taken.insert(free);
            names.emplace_back(op->inputs[first + i], std::move(free));
        }
        name(op->inputs, op->kernel->inputs);
        name(op->outputs, op->kernel->outputs);
    }
    return names;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<std::string> name_inner_variables(std::span<Operator* const> order,
                                                                               Scope& scope,
                                                                               std::span<Variable* const> outer) {
    std::vector<std::string> inner(outer.size());
    std::unordered_map<Variable const*, std::string*> named;
    for (std::size_t i = 0; i < outer.size(); ++i) named.emplace(outer[i], &inner[i]);
    for (auto& [v, name] : names_of(order)) {
        if (&v->scope() == &scope) {
            if (v->name().empty()) scope.set_name(*v, std::move(name), false);
        } else if (auto const at = named.find(v); at != named.end()) {
            *at->second = std::move(name);
        }
    }
    return inner;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void name_variables(std::span<Operator* const> order) {
    if (order.empty()) return;
    auto const lock = lock_names((order[0]->outputs.empty() ? order[0]->inputs : order[0]->outputs)[0]->scope());
    auto const named = [](Variable const* v) { return !v->name().empty(); };
    if (std::ranges::all_of(order, [&](Operator const* op) {
            return std::ranges::all_of(op->inputs, named) && std::ranges::all_of(op->outputs, named);
        }))
        return;
    for (auto& [v, name] : names_of(order)) {
        if (!v->name().empty()) continue;
        auto const taken = [&scope = v->scope()](std::string const& at) { return scope.find(at) != nullptr; };
        v->scope().set_name(*v, free_name(std::move(name), taken), false);
    }
}

}  // namespace rowan::inline v0::detail

#endif
