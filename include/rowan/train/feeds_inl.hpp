// rowan/train/feeds_inl.hpp: definitions of rowan/train/feeds.hpp.
#pragma once

#include <rowan/train/feeds.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION std::shared_ptr<Value> Feed::empty() { return std::make_shared<Value>(); }

ROWAN_CALLED_FUNCTION Feed::Feed(Strings value) : value_(empty()) { value_->set(std::move(value)); }

ROWAN_CALLED_FUNCTION Feed::Feed(Value const& value) : value_(std::make_shared<Value>(value.share())) {}

ROWAN_CALLED_FUNCTION Value Feed::value() const { return value_->share(); }

ROWAN_FUNCTION Feeds::Feeds() = default;
ROWAN_FUNCTION Feeds::Feeds(Feeds const&) = default;
ROWAN_FUNCTION Feeds::Feeds(Feeds&&) noexcept = default;
ROWAN_FUNCTION Feeds& Feeds::operator=(Feeds const&) = default;
ROWAN_FUNCTION Feeds& Feeds::operator=(Feeds&&) noexcept = default;
ROWAN_FUNCTION Feeds::~Feeds() = default;

ROWAN_FUNCTION Feeds::Feeds(std::initializer_list<value_type> values) {
    for (value_type const& value : values) insert(value);
}

ROWAN_CALLED_FUNCTION Feed& Feeds::at(std::string const& name) & { return Map::at(name); }

ROWAN_CALLED_FUNCTION Feed const& Feeds::at(std::string const& name) const& { return Map::at(name); }

ROWAN_CALLED_FUNCTION Feed Feeds::at(std::string const& name) && { return Map::at(name); }

ROWAN_FUNCTION void Feeds::insert(value_type const& value) {
    if (!Map::insert(value).second) throw GraphError({"the batch has two values for \"", value.first, "\""});
}

ROWAN_CALLED_FUNCTION void Feeds::emplace(std::string name, Feed value) { insert({std::move(name), std::move(value)}); }

}  // namespace rowan::inline v0

#endif
