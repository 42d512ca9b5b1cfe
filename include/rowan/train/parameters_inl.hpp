// rowan/train/parameters_inl.hpp: definitions of rowan/train/parameters.hpp.
#pragma once

#include <rowan/train/parameters.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/near_name.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace rowan::inline v0 {

ROWAN_FUNCTION Parameters::Parameters() = default;
ROWAN_FUNCTION Parameters::Parameters(Parameters&&) noexcept = default;
ROWAN_FUNCTION Parameters& Parameters::operator=(Parameters&&) noexcept = default;
ROWAN_FUNCTION Parameters::~Parameters() = default;

namespace detail {

/// The tables of values by name.
struct HeldTables : std::map<std::string, std::shared_ptr<AnyTable>, std::less<>> {};

ROWAN_CALLED_FUNCTION ROWAN_RARE std::shared_ptr<AnyTable> ParametersAccess::table(Parameters const& parameters,
                                                                                   std::string_view name) {
    if (parameters.tables_ == nullptr) return nullptr;
    auto const found = parameters.tables_->find(name);
    return found == parameters.tables_->end() ? nullptr : found->second;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void ParametersAccess::refer(Parameters& parameters, std::string name,
                                                              std::shared_ptr<AnyTable> table) {
    auto all = std::make_shared<HeldTables>();
    if (parameters.tables_ != nullptr) *all = *parameters.tables_;
    all->insert_or_assign(std::move(name), std::move(table));
    parameters.tables_ = std::move(all);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void ParametersAccess::refer(Parameters& parameters, Parameters const& to) {
    parameters.tables_ = to.tables_;
}

}  // namespace detail

ROWAN_CALLED_FUNCTION ROWAN_RARE Value Parameters::find(std::string_view name) && { return find(name).share(); }

ROWAN_CALLED_FUNCTION ROWAN_RARE bool Parameters::contains(std::string_view name) const {
    return values_.contains(name);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void Parameters::wrong_kind(std::string_view name, Value const& value,
                                                             std::string const& expected) {
    throw TypeError(name, value.kind(), expected);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters Parameters::trained() const { return some(false); }

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters Parameters::states() const { return some(true); }

ROWAN_CALLED_FUNCTION ROWAN_RARE Value const& Parameters::find(std::string_view name) const& {
    auto const found = values_.find(name);
    if (found != values_.end()) return found->second;
    throw GraphError({"there is no parameter \"", name, "\"", detail::near_text(name, values_)});
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void Parameters::set(std::string name, Value value) {
    if (detail::ParametersAccess::table(*this, name) != nullptr) detail::ParametersAccess::refer(*this, name, nullptr);
    values_.insert_or_assign(std::move(name), std::move(value));
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters Parameters::share() const {
    Parameters alias;
    for (auto const& [name, value] : values_) alias.set(name, value.share());
    alias.tables_ = tables_;
    alias.steps = steps;
    return alias;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters Parameters::some(bool states) const {
    Parameters alias;
    for (auto const& [name, value] : values_) {
        if ((name.find('@') != std::string::npos) == states) alias.set(name, value.share());
    }
    alias.tables_ = tables_;
    alias.steps = steps;
    return alias;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters Parameters::averaged() const {
    Parameters alias = trained();
    bool any = false;
    for (auto& [name, value] : alias.values_) {
        auto const found = values_.find(name + "@average");
        if (found == values_.end()) continue;
        value = found->second.share();
        any = true;
    }
    if (!any) throw GraphError("there are no averages: train with .average = layer::MovingAverage{}");
    return alias;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Feeds Parameters::only(std::initializer_list<std::string_view> names) const {
    Feeds some;
    for (std::string_view const name : names) {
        some.emplace(std::string(name), find(name));
        auto const parts = std::string(name).append("#");
        for (auto at = values_.lower_bound(parts); at != values_.end() && at->first.starts_with(parts); ++at)
            some.emplace(at->first, at->second);
    }
    return some;
}

}  // namespace rowan::inline v0

#endif
