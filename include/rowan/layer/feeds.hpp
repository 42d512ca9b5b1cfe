// rowan/layer/feeds.hpp: Feeds, the values of a batch by name.
#pragma once

#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rowan::inline v0 {

/// The value of one variable: a Tensor or a LoDTensor. Copies share its elements.
class Feed {
public:
    /// A tensor, moved or copied in.
    template <class T, class Device>
    Feed(Tensor<T, Device> value) : Feed(LoDTensor<T, Device>(std::move(value))) {}
    /// The same with levels.
    /// errors   std::bad_alloc
    /// cost     one allocation, plus a copy of the tensor unless it is moved in
    template <class T, class Device>
    Feed(LoDTensor<T, Device> value) : value_(std::make_shared<Value>()) {
        value_->set(std::move(value));
    }

    /// Returns an alias of the value.
    /// errors   std::bad_alloc
    /// cost     O(1), one allocation
    Value value() const { return value_->share(); }

private:
    std::shared_ptr<Value> value_;
};

/// A batch: values by variable name, such as {{"words", words}, {"label", labels}}.
using Feeds = std::map<std::string, Feed, std::less<>>;

ROWAN_TEMPLATE(Feed::Feed(Tensor<float>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<double>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<std::int32_t>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<std::int64_t>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<bool>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<float>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<double>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<std::int32_t>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<std::int64_t>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<bool>))

}  // namespace rowan::inline v0
