// rowan/train/parameters.hpp: Parameters, the values of trained parameters and optimizer states by name.
#pragma once

#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/train/feeds.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

class AnyTable;
struct HeldTables;
struct ParametersAccess;

}  // namespace detail

/// Values by variable name. The names of optimizer states contain an @. The keys of a table by keys stand beside its rows,
/// as "w#keys" and so on. Rows and states of a table in a file are those of the file, which further training changes.
class Parameters {
public:
    Parameters();  ///< no values
    Parameters(Parameters&&) noexcept;
    Parameters& operator=(Parameters&&) noexcept;
    ~Parameters();

    /// Returns the tensor of that name.
    /// errors   GraphError if there is no such name; TypeError if the value is not a tensor of T on Device
    /// cost     O(log variables)
    template <class T, class Device = Cpu>
    Tensor<T, Device> const& get(std::string_view name) const& {
        return held<LoDTensor<T, Device>>(name).value();
    }
    template <class T, class Device = Cpu>
    Tensor<T, Device> get(std::string_view name) && {
        return get<T, Device>(name).share();
    }

    /// Returns the SelectedRows of that name: a table of which only some rows exist.
    /// errors   GraphError if there is no such name; TypeError if the value is not a SelectedRows of T on Device
    /// cost     O(log variables)
    template <class T, class Device = Cpu>
    SelectedRows<T, Device> const& get_rows(std::string_view name) const& {
        return held<SelectedRows<T, Device>>(name);
    }
    template <class T, class Device = Cpu>
    SelectedRows<T, Device> get_rows(std::string_view name) && {
        return get_rows<T, Device>(name).share();
    }

    /// Returns the value of that name, of any kind.
    /// errors   GraphError if there is no such name
    /// cost     O(log variables)
    ROWAN_IF_CALLED Value const& find(std::string_view name) const&;
    ROWAN_IF_CALLED Value find(std::string_view name) &&;
    /// Whether there is a value of that name.
    /// errors   none
    /// cost     O(log variables)
    ROWAN_IF_CALLED bool contains(std::string_view name) const;

    /// Sets or replaces the value of that name.
    /// errors   std::bad_alloc
    /// cost     O(log variables)
    ROWAN_IF_CALLED void set(std::string name, Value value);

    /// Returns aliases of all values: they share the elements, so further training changes them.
    /// errors   TypeError if a value cannot be shared
    /// cost     O(variables)
    ROWAN_IF_CALLED Parameters share() const;

    /// Returns aliases of the parameters alone, or of the states alone: those of optimizers and averages.
    ///     for (auto const& [name, value] : learned.trained()) std::cout << name << '\n';
    /// errors   TypeError if a value cannot be shared
    /// cost     O(variables)
    ROWAN_IF_CALLED Parameters trained() const;
    ROWAN_IF_CALLED Parameters states() const;  ///< the states

    /// Returns aliases of the parameters, with their moving averages as values: see layer::MovingAverage.
    /// errors   GraphError if there are no averages; TypeError if a value cannot be shared
    /// cost     O(variables)
    ROWAN_IF_CALLED Parameters averaged() const;

    /// Returns aliases of the values of these names, with the keys of tables by keys, to begin another training with them.
    ///     .initial = pretrained.only({"embedding_0.w_0"})
    /// errors   GraphError if there is no such name, or one is given twice; TypeError if a value cannot be shared
    /// cost     O(names · log variables)
    ROWAN_IF_CALLED Feeds only(std::initializer_list<std::string_view> names) const;

    /// Iterates in the order of the names.
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }
    std::size_t size() const noexcept { return values_.size(); }

    std::int64_t steps = 0;  ///< number of steps trained: batches, or groups of them, see layer::PartsOn

private:
    friend struct detail::ParametersAccess;

    ROWAN_IF_CALLED Parameters some(bool states) const;
    ROWAN_IF_CALLED [[noreturn]] static void wrong_kind(std::string_view name, Value const& value,
                                                        std::string const& expected);
    template <class V>
    V const& held(std::string_view name) const {
        Value const& value = find(name);
        if (!value.is<V>()) wrong_kind(name, value, detail::kind_name<V>::text());
        return value.get<V>();
    }

    std::map<std::string, Value, std::less<>> values_;
    std::shared_ptr<detail::HeldTables const> tables_;  // of values that are in files, or null
};

namespace detail {

struct ParametersAccess {
    /// The table in a file of which a value has the rows or a state, or null.
    ROWAN_IF_CALLED static std::shared_ptr<AnyTable> table(Parameters const& parameters, std::string_view name);
    /// Notes that the value of this name is of a table in a file.
    ROWAN_IF_CALLED static void refer(Parameters& parameters, std::string name, std::shared_ptr<AnyTable> table);
    /// Notes what another one has.
    ROWAN_IF_CALLED static void refer(Parameters& parameters, Parameters const& to);
};

}  // namespace detail

}  // namespace rowan::inline v0

#include <rowan/train/parameters_inl.hpp>
