// rowan/train/detail/feed_inl.hpp: definitions of rowan/train/detail/feed.hpp.
#pragma once

#include <rowan/train/detail/feed.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/near_name.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/detail/lock_names.hpp>

#include <cstddef>
#include <sstream>
#include <string>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void check_fits(Variable const& v, Value const& value) {
    VarSpec const& spec = v.spec();
    if (spec.type == VarType::TENSOR_ARRAY || spec.type == VarType::STEP_SCOPES)
        throw TypeError(v.name(), value.kind(), "a value that is no tensor");
    auto const actual = [&] {
        try {
            return value.spec();
        } catch (TypeError const& e) {
            throw TypeError(v.name(), e.actual(), kind_text(spec));
        }
    }();
    if (actual.type != spec.type || actual.dtype != spec.dtype)
        throw TypeError(v.name(), value.kind(), kind_text(spec));
    bool fits = actual.dims.size() == spec.dims.size();
    for (std::size_t i = 0; fits && i < spec.dims.size(); ++i)
        fits = spec.dims[i] == UNK || spec.dims[i] == actual.dims[i];
    if (!fits) {
        std::ostringstream expected;
        expected << spec.dims;
        throw ShapeError({v.name(), ".shape()"}, shape_text(actual.dims), expected.str());
    }
    if (actual.lod_level != spec.lod_level)
        throw ShapeError({v.name(), ".lod().levels()"}, actual.lod_level, spec.lod_level);
}

ROWAN_CALLED_FUNCTION std::string part_name(Variable const& table, std::string_view part) {
    return std::string(table.name()).append("#").append(part);
}

ROWAN_CALLED_FUNCTION bool is_table_part(std::string_view name, std::int32_t wire) {
    auto const at = name.rfind('#');
    if (at == std::string_view::npos || (wire != dtype<std::int64_t>::wire && wire != dtype<std::uint8_t>::wire))
        return false;
    name = name.substr(at + 1);
    name = name.substr(0, name.find('@'));
    for (std::string_view const part :
         {"keys", "rows", "uses", "seen", "sightings", "step", "file", "height", "generation", "made", "history"}) {
        if (name == part) return true;
    }
    return false;
}

ROWAN_CALLED_FUNCTION void check_up_to_date(Variable const& parameter, Parameters const& parameters) {
    if (parameters.contains(part_name(parameter, "made")))
        throw GraphError({"rows of ", parameter.name(),
                          " have missed steps of its optimizer: go on with its training and layer::Deferred"});
}

ROWAN_CALLED_FUNCTION void no_state(std::string const& name, std::int64_t steps) {
    throw GraphError({"options.resume has ", steps, " steps, but not the state \"", name,
                      "\": to start anew from its parameters, give them as options.initial"});
}

ROWAN_CALLED_FUNCTION Value fed_value(Variable const& v, Feeds const& feeds) {
    auto const found = feeds.find(v.name());
    if (found == feeds.end()) {
        std::string text = std::string("the batch has no \"").append(v.name()).append("\"; it ");
        text += feeds.empty() ? "is empty" : "has ";
        for (auto at = feeds.begin(); at != feeds.end(); ++at)
            text.append(at == feeds.begin() ? "\"" : ", \"").append(at->first).append("\"");
        throw GraphError(text);
    }
    Value value = found->second.value();
    check_fits(v, value);
    return value;
}

ROWAN_CALLED_FUNCTION std::size_t feed(std::span<Variable* const> inputs, Feeds const& feeds, std::span<Value> values,
                                       AnyExec exec) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        Variable const& v = *inputs[i];
        if (v.role() != Role::data) continue;
        values[i] = fed_value(v, feeds);
        if (v.bring != nullptr) v.bring(values[i], exec, false);
        ++used;
    }
    return used;
}

ROWAN_CALLED_FUNCTION void check_declared(Scope const& scope, std::string const& name) {
    auto const lock = lock_names(scope);
    Variable const* const declared = scope.find(name);
    if (declared != nullptr && declared->role() == Role::data) return;
    NearName near(name);
    for (Scope const* s = &scope; s != nullptr; s = s->parent()) {
        for (auto const& v : s->variables()) {
            if (v->role() == Role::data) near.see(v->name());
        }
    }
    throw GraphError(
        {"the batch has a value for \"", name, "\", but there is no data variable of that name", near.text()});
}

}  // namespace rowan::inline v0::detail

#endif
