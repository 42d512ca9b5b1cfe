// rowan/layer/keyed.hpp: layer::Keyed, the kind of tables whose rows belong to keys.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/any_table.hpp>
#include <rowan/layer/table_kind.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/graph/detail/key_variable.hpp>
#include <rowan/sparse/key_index.hpp>
#include <rowan/sparse/keyed_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The keys of data: integers.
inline Tensor<std::int64_t> const& keys_in(Value const& names) { return names.get<LoDTensor<std::int64_t>>().value(); }

/// Row numbers as a value of the shape and levels of names.
inline Value places_like(Value const& names, Tensor<std::int64_t> rows) {
    auto const& like = names.get<LoDTensor<std::int64_t>>();
    Value places;
    places.set(LoDTensor<std::int64_t>(rows.reshaped(like.value().shape()), like.lod()));
    return places;
}

/// The keys of a saved part: a tensor, or sequences of bytes.
template <class Stored>
Stored held_keys(Value const& value) {
    if constexpr (requires(Stored x) { x.lod(); }) {
        return value.get<Stored>().share();
    } else {
        return value.get<LoDTensor<typename Stored::value_type>>().value().share();
    }
}

template <class Key>
KeyIndexContents<Key> key_contents(FindTablePart const& find, std::int64_t height) {
    using Stored = KeyVariable<Key>;
    auto const numbers = [&](char const* part) { return find(part).template get<LoDTensor<std::int64_t>>().value().share(); };
    auto const keys = [&](char const* part) { return Stored::keys(part, held_keys<typename Stored::type>(find(part))); };
    auto const rows = numbers("rows");
    KeyIndexContents<Key> contents{.height = height, .step = numbers("step").data()[0]};
    contents.keys = keys("keys");
    contents.rows.assign(rows.begin(), rows.end());
    contents.uses = uses_of("uses", numbers("uses"));
    contents.seen = keys("seen");
    contents.sightings = uses_of("sightings", numbers("sightings"));
    return contents;
}

template <class Key>
class KeyedIndex final : public AnyTableIndex {
public:
    KeyedIndex(KeyIndexOptions const& options, FindTablePart const& find) : index_(options) {
        auto const height = find("height").template get<LoDTensor<std::int64_t>>().value().data()[0];
        index_.assign(key_contents<Key>(find, height));
    }
    Value find(Cpu exec, Value const& names) const override {
        return places_like(names, index_.find(exec, keys_in(names)));
    }

private:
    KeyIndex<Key> index_;
};

template <class T, class Key>
class AnyKeyedTable final : public AnyTable {
public:
    explicit AnyKeyedTable(KeyedTableOptions const& options) : table_(options) {}

    std::unique_ptr<View> view(Cpu exec, std::span<Value const> names, std::span<Value> places) override {
        std::size_t n = 0;
        for (Value const& some : names) n += keys_in(some).size();
        auto keys = Tensor<std::int64_t>::from_shape({n});
        auto* to = keys.data();
        for (Value const& some : names) to = std::copy_n(keys_in(some).data(), keys_in(some).size(), to);
        auto view = std::make_unique<OpenView>(table_.view(exec, keys));
        std::size_t begin = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::size_t const end = begin + keys_in(names[i]).size();
            places[i] = places_like(names[i], view->view.at().slice(begin, end));
            begin = end;
        }
        return view;
    }
    Value rows() const override { return alias(table_.value()); }
    Value state(std::string const& name, bool one_per_row) override { return alias(state_of(name, one_per_row)); }

    void save(AddTablePart const& add) const override {
        auto const contents = table_.index().contents();
        auto const number = [&](std::string_view part, std::int64_t x) { add(part, value_of(Tensor<std::int64_t>{x})); };
        add("keys", value_of(KeyVariable<Key>::of(contents.keys)));
        add("rows", value_of(Tensor<std::int64_t>(contents.rows)));
        add("uses", value_of(use_variable(contents.uses)));
        add("seen", value_of(KeyVariable<Key>::of(contents.seen)));
        add("sightings", value_of(use_variable(contents.sightings)));
        number("step", contents.step);
        number("height", contents.height);
    }
    void load(Value const& rows, FindTablePart const& find) override {
        auto const& value = rows.get<LoDTensor<T>>().value();
        table_.assign(key_contents<Key>(find, static_cast<std::int64_t>(value.shape()[0])), value);
    }
    void load_state(std::string const& name, bool one_per_row, Value const& value) override {
        auto& to = state_of(name, one_per_row);
        auto const& from = value.get<LoDTensor<S>>().value();
        if (from.shape() != to.shape()) throw ShapeError({name, ".shape()"}, shape_text(from.shape()), shape_text(to.shape()));
        std::copy_n(from.data(), from.size(), to.data());
    }

private:
    using S = kept_t<T>;
    struct OpenView final : View {
        explicit OpenView(typename KeyedTable<T, Key>::View&& open) : view(std::move(open)) {}
        void commit() override { view.commit(); }
        typename KeyedTable<T, Key>::View view;
    };

    Tensor<S>& state_of(std::string const& name, bool one_per_row) {
        if (!table_.template has_state<S>(name)) {
            typename Tensor<S>::shape_type shape;
            if (!one_per_row) shape.push_back(table_.width());
            table_.template add_state<S>(name, shape);
        }
        return table_.template state<S>(name);
    }
    template <class U>
    static Value alias(Tensor<U> const& tensor) {
        return value_of(tensor.share());
    }
    template <class U>
    static Value value_of(Tensor<U> tensor) {
        return value_of(LoDTensor<U>(std::move(tensor)));
    }
    template <class U>
    static Value value_of(LoDTensor<U> tensor) {
        Value value;
        value.set(std::move(tensor));
        return value;
    }

    KeyedTable<T, Key> table_;
};

}  // namespace detail

namespace layer {

/// Rows belong to keys, 64-bit integers that batches name: `train` gives each new key a row, `infer` and a Predictor find
/// them, and keys without a row read the default row, which begins with zeros. See KeyedTable.
///     auto users = layer::data<std::int64_t>("users", {UNK});
///     auto x = layer::embedding(users, {.width = 16, .kind = layer::Keyed{.sightings = 2}});
struct Keyed {
    std::int64_t capacity = KeyIndexOptions{}.capacity;  ///< the most keys
    std::int64_t sightings = 1;                          ///< a key gets a row in the step in which it is seen so often
    double probability = 1;                              ///< that a sighting counts
    double low = -0.05;                                  ///< the first values of a row are uniform in [low, high)
    double high = 0.05;                                  ///< as low

    /// What makes tables of this kind.
    /// errors   std::bad_alloc
    /// cost     O(1)
    operator TableKind() const;
};

inline Keyed::operator TableKind() const {
    namespace d = rowan::detail;
    KeyIndexOptions const keys{.capacity = capacity, .default_row = true, .sightings = sightings, .probability = probability, .record_uses = true};
    auto const table = [keys, low = low, high = high](std::int32_t wire, std::size_t width,
                                                      std::uint64_t seed) -> std::shared_ptr<d::AnyTable> {
        KeyedTableOptions options{.width = width, .low = low, .high = high, .seed = seed, .keys = keys};
        if (wire == dtype<float>::wire) return std::make_shared<d::AnyKeyedTable<float, std::int64_t>>(options);
        if (wire == dtype<double>::wire) return std::make_shared<d::AnyKeyedTable<double, std::int64_t>>(options);
        if (wire == dtype<bfloat16>::wire) return std::make_shared<d::AnyKeyedTable<bfloat16, std::int64_t>>(options);
        throw TypeError("layer::Keyed: the elements", wire, "float, double or bfloat16");
    };
    auto const index = [keys](d::FindTablePart const& find) -> std::unique_ptr<d::AnyTableIndex> {
        return std::make_unique<d::KeyedIndex<std::int64_t>>(keys, find);
    };
    return TableKind(std::make_shared<d::TableMakers const>(d::TableMakers{table, index}));
}

}  // namespace layer

}  // namespace rowan::inline v0
