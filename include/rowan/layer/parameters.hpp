// rowan/layer/parameters.hpp: Parameters, what training gives: the values of parameters and of what the optimizer keeps, by name.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace rowan::inline v0 {

/// Values by the names of variables. Those of an optimizer's states have an @ in their name.
class Parameters {
public:
    /// errors   GraphError if there is none of that name; TypeError if its elements are no T
    /// cost     O(log variables)
    template <class T, class Device = Cpu>
    Tensor<T, Device> const& get(std::string_view name) const {
        return find(name).get<LoDTensor<T, Device>>().value();
    }

    /// The value of that name, of any kind.
    /// errors   GraphError if there is none of that name
    /// cost     O(log variables)
    Value const& find(std::string_view name) const;
    bool contains(std::string_view name) const { return values_.contains(name); }  ///< is there one of that name?

    /// Gives that name a value, in the place of the one that it had.
    /// errors   std::bad_alloc
    /// cost     O(log variables)
    void set(std::string name, Value value);

    /// Aliases: the same elements, which training goes on to change.
    /// errors   TypeError if a value cannot be shared
    /// cost     O(variables)
    Parameters share() const;

    /// In the order of the names.
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }
    std::size_t size() const noexcept { return values_.size(); }

    std::int64_t steps = 0;  ///< how many batches they have been trained with

private:
    std::map<std::string, Value, std::less<>> values_;
};

}  // namespace rowan::inline v0

#include <rowan/layer/parameters_inl.hpp>
