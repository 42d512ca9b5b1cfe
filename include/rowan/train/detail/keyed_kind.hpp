// rowan/train/detail/keyed_kind.hpp: KeyedKind, tables by keys as nets train and read them.
#pragma once

#include <rowan/train/keyed.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/graph/detail/key_variable.hpp>
#include <rowan/graph/detail/with_elements.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/strings.hpp>
#include <rowan/sparse/keyed_table.hpp>
#include <rowan/train/detail/trained_tables_of.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// The keys of data, as Keys takes them.
template <class Key>
class KeysOfData {
public:
    static constexpr bool strings = std::same_as<Key, std::string>;
    using Data = std::conditional_t<strings, Strings, LoDTensor<std::int64_t>>;

    /// Appends those of a value.
    void add(Value const& value) {
        auto const& data = value.get<Data>();
        std::size_t const n = size_of(data);
        views_.reserve(views_.size() + n);
        if constexpr (strings) {
            for (std::size_t i = 0; i < n; ++i) views_.push_back(data[i]);
        } else {
            views_.insert(views_.end(), data.value().data(), data.value().data() + n);
        }
    }
    Keys<Key> keys() const { return views_; }

    static std::size_t count(Value const& value) { return size_of(value.get<Data>()); }
    /// Row numbers, of the shape and levels of data.
    static Value places(Value const& value, Tensor<std::int64_t> rows) {
        auto const& data = value.get<Data>();
        Value places;
        if constexpr (strings) {
            places.set(LoDTensor<std::int64_t>(std::move(rows), data.lod()));
        } else {
            places.set(LoDTensor<std::int64_t>(rows.reshaped(data.value().shape()), data.lod()));
        }
        return places;
    }

private:
    static std::size_t size_of(Data const& data) {
        if constexpr (strings) {
            return data.size();
        } else {
            return data.value().size();
        }
    }

    std::vector<KeyView<Key>> views_;
};

template <class Key>
KeyIndexContents<Key> key_contents(FindTablePart const& find) {
    using Stored = typename KeyVariable<Key>::type;
    auto const numbers = [&](char const* part) { return find(part).get<LoDTensor<std::int64_t>>().value().share(); };
    auto const keys = [&](char const* part) {
        Value const& value = find(part);
        if constexpr (std::same_as<Stored, Tensor<std::int64_t>>) {
            return KeyVariable<Key>::keys(part, value.get<LoDTensor<std::int64_t>>().value());
        } else {
            return KeyVariable<Key>::keys(part, value.get<Stored>());
        }
    };
    auto const one = [&](char const* part) {
        auto const n = numbers(part);
        if (n.size() != 1) throw ShapeError({part, ".size()"}, n.size(), 1);
        return n.data()[0];
    };
    auto const rows = numbers("rows");
    KeyIndexContents<Key> contents{.height = one("height"), .step = one("step")};
    contents.keys = keys("keys");
    contents.rows.assign(rows.begin(), rows.end());
    contents.uses = uses_of("uses", numbers("uses"));
    contents.seen = keys("seen");
    contents.sightings = uses_of("sightings", numbers("sightings"));
    return contents;
}

template <class Key>
class KeyReader : public AnyTableReader {
public:
    KeyReader(KeyIndexOptions options, FindTablePart const& find) : index_((options.record_uses = false, options)) {
        auto contents = key_contents<Key>(find);
        contents.seen.clear();
        contents.sightings.clear();
        index_.assign(contents);
    }
    Value find(Cpu exec, Value const& names) const override {
        KeysOfData<Key> data;
        data.add(names);
        auto rows = index_.find(exec, data.keys());
        if (!index_.options().default_row) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (rows.data()[i] < 0) unknown(i, data.keys()[i]);
            }
        }
        return KeysOfData<Key>::places(names, std::move(rows));
    }
    Value rows() const override { return {}; }

private:
    [[noreturn]] static void unknown(std::size_t i, KeyView<Key> key) {
        if constexpr (std::same_as<Key, std::string>) {
            throw IndexError("keys", i, {"\"", key, "\" has no row"});
        } else {
            throw IndexError("keys", i, key, "has no row");
        }
    }

    KeyIndex<Key> index_;
};

/// A table by keys, wherever its rows are.
template <class T, class Key, class Table>
class AnyKeyed : public AnyTable {
protected:
    using S = kept_t<T>;

public:
    /// With the arguments of the table.
    template <class... A>
    explicit AnyKeyed(layer::Eviction const& eviction, A&&... args)
        : table_(std::forward<A>(args)...), eviction_(eviction) {}

    std::unique_ptr<View> view(Cpu exec, std::span<Value const> names, std::span<Value> places,
                               std::int64_t time) override {
        KeysOfData<Key> data;
        for (Value const& some : names) data.add(some);
        auto view = std::make_unique<OpenView>(*this, time);
        view->keys.emplace(table_.view(exec, data.keys()));
        std::size_t begin = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::size_t const end = begin + KeysOfData<Key>::count(names[i]);
            places[i] = KeysOfData<Key>::places(names[i], view->keys->at().slice(begin, end));
            begin = end;
        }
        return view;
    }

    Value rows() const override { return value_of(table_.value().share()); }
    Value state(std::string const& name) override { return value_of(table_.template state<S>(name).share()); }
    void save(AddTablePart const& add, Saving) override {
        auto const contents = table_.index().contents();
        add("keys", value_of(KeyVariable<Key>::of(contents.keys)));
        add("rows", value_of(Tensor<std::int64_t>(contents.rows)));
        add("uses", value_of(use_variable(contents.uses)));
        add("seen", value_of(KeyVariable<Key>::of(contents.seen)));
        add("sightings", value_of(use_variable(contents.sightings)));
        add("step", value_of(Tensor<std::int64_t>{contents.step}));
        add("height", value_of(Tensor<std::int64_t>{contents.height}));
    }

private:
    /// The keys of a step, and those that lose their rows after it.
    struct OpenView final : View {
        OpenView(AnyKeyed& table, std::int64_t step)
            : of(table), before(of.table_.index().step()), now(before), time(step) {
            if (time < before)
                throw ValueError("the time of a step", time, {before, " or more, that of the step before"});
            of.table_.set_step(time);
        }
        ~OpenView() override { of.table_.set_step(now); }  // and withdraws the keys, unless they are kept
        std::span<std::int64_t const> inserted() const override { return keys->inserted(); }
        void write() override {
            keys->check();
            auto const& e = of.eviction_;
            if ((e.idle != 0 || e.most != 0) && time / e.every != before / e.every) {
                auto const most = e.most == 0 ? std::numeric_limits<std::int64_t>::max() : e.most;
                auto const since = e.idle == 0 ? std::numeric_limits<std::int64_t>::min() : time - e.idle;
                leaving = KeyIndexAccess::unused(of.table_.index(), since, most, keys->at());
                evicted.time = time;
                for (std::int64_t const row : leaving.rows) {
                    auto const& key = KeyIndexAccess::key(of.table_.index(), row);
                    if constexpr (std::same_as<Key, std::string>) {
                        evicted.strings.push_back(key);
                    } else {
                        evicted.keys.push_back(key);
                    }
                }
            }
        }
        void commit() override {
            keys->commit();
            now = time;
            KeyedTableAccess::evict(of.table_, leaving);
        }
        void report() const override {
            if (!leaving.rows.empty() && of.eviction_.report) of.eviction_.report(evicted);
        }

        AnyKeyed& of;
        std::int64_t const before;  // the step of the index
        std::int64_t now;           // that after this view
        std::int64_t const time;
        std::optional<typename Table::View> keys;
        KeyEviction leaving{};
        layer::Evicted evicted{};
    };

protected:
    template <class X>
    static Value value_of(X x) {
        Value value;
        if constexpr (requires { x.lod(); }) {
            value.set(std::move(x));
        } else {
            value.set(LoDTensor<typename X::value_type>(std::move(x)));
        }
        return value;
    }

    /// What an index of these parts has. Time begins with 0 if this is the beginning of another training.
    static KeyIndexContents<Key> contents_of(FindTablePart const& find, bool anew) {
        auto contents = key_contents<Key>(find);
        if (anew) {
            contents.step = 0;
            for (auto* const uses : {&contents.uses, &contents.sightings}) {
                for (KeyUses& of : *uses) of.step = 0;
            }
        }
        return contents;
    }

    Table table_;
    layer::Eviction eviction_;
};

/// A table by keys in memory.
template <class T, class Key>
class AnyKeyedTable final : public AnyKeyed<T, Key, KeyedTable<T, Key>> {
    using Base = AnyKeyed<T, Key, KeyedTable<T, Key>>;
    using Base::table_;
    using typename Base::S;

public:
    AnyKeyedTable(TableSpec const& spec, layer::Eviction const& eviction, KeyedTableOptions const& options,
                  FirstValue first)
        : Base(eviction, options, std::move(first)) {
        for (auto const& state : spec.states) {
            typename Tensor<S>::shape_type shape;
            if (!state.one_per_row) shape.push_back(options.width);
            table_.template add_state<S>(state.name, shape);
        }
    }
    void write(Cpu, Ids<> const&) override {}
    void load_state(std::string const& name, Value const& value) override {
        auto& to = table_.template state<S>(name);
        auto const& from = value.get<LoDTensor<S>>().value();
        if (from.shape() != to.shape())
            throw ShapeError({name, ".shape()"}, shape_text(from.shape()), shape_text(to.shape()));
        std::copy_n(from.data(), from.size(), to.data());
    }
    void load(FindTablePart const& find, bool anew) {
        table_.assign(Base::contents_of(find, anew), find("").get<LoDTensor<T>>().value());
    }
};

/// Tables by keys with these options.
template <class = void>
class KeyedKind : public AnyTableKind {
public:
    KeyedKind(layer::Keyed const& kind, layer::Initializer const& first) : kind_(kind), first_(first) {
        by_keys = true;
        time = kind.eviction.time;
    }
    std::shared_ptr<AnyTable> make(TableSpec const& spec) const override { return made(spec, nullptr, true); }
    std::shared_ptr<AnyTable> load(TableSpec const& spec, FindTablePart const& find, bool anew,
                                   std::shared_ptr<AnyTable> const&) const override {
        return made(spec, &find, anew);
    }
    std::unique_ptr<AnyTableReader> open(TableSpec const& spec, FindTablePart const& find) const override {
        if (spec.names == VarType::STRINGS) return std::make_unique<KeyReader<std::string>>(keys(0), find);
        return std::make_unique<KeyReader<std::int64_t>>(keys(0), find);
    }

    std::shared_ptr<TrainedTables> tables() const override { return new_trained_tables(); }
    std::string text() const override {
        auto const& e = kind_.eviction;
        std::string text("Keyed");
        for (auto const n : {kind_.capacity, kind_.sightings, std::int64_t{kind_.default_row}, e.idle, e.most, e.every})
            text.append(" ").append(std::to_string(n));
        return text.append(" ").append(std::to_string(kind_.probability)).append(" ").append(e.time);
    }

protected:
    KeyIndexOptions keys(std::uint64_t seed) const {
        return {.capacity = kind_.capacity,
                .default_row = kind_.default_row,
                .sightings = kind_.sightings,
                .probability = kind_.probability,
                .record_uses = true,
                .seed = seed,
                .hash_seed = random_hash_seed()};
    }
    KeyedTableOptions options(TableSpec const& spec) const {
        return {.width = static_cast<std::size_t>(spec.dims[1]), .seed = spec.seed, .keys = keys(spec.seed)};
    }
    FirstValue first_values() const {
        return [first = first_](std::uint64_t bits, std::size_t k) { return first.at(bits, k); };
    }
    layer::Eviction const& eviction() const { return kind_.eviction; }
    /// Calls make(std::type_identity<T>{}, std::type_identity<Key>{}) with the types of a table.
    template <class Make>
    static std::shared_ptr<AnyTable> with_types(TableSpec const& spec, Make const& make) {
        return with_elements<float, double, bfloat16>(spec, [&](auto element) -> std::shared_ptr<AnyTable> {
            if (spec.names == VarType::STRINGS) return make(element, std::type_identity<std::string>{});
            return make(element, std::type_identity<std::int64_t>{});
        });
    }

private:
    std::shared_ptr<AnyTable> made(TableSpec const& spec, FindTablePart const* find, bool anew) const {
        return with_types(spec, [&]<class T, class Key>(std::type_identity<T>, std::type_identity<Key>) {
            auto table = std::make_shared<AnyKeyedTable<T, Key>>(spec, eviction(), options(spec), first_values());
            if (find != nullptr) table->load(*find, anew && time.empty());
            return table;
        });
    }

    layer::Keyed kind_;
    layer::Initializer first_;
};

/// What an Initializer is for rows of keys.
/// errors   GraphError if first values depend on the height
template <class = void>
layer::Initializer first_of_keys(layer::Initializer const& first) {
    if (first.depends_on_dims())
        throw GraphError(
            "layer::embedding: the first values of a table by keys are Uniform, Normal or Constant: it has no height "
            "of which others depend");
    return first.of({});
}

template <class = void>
struct MakesKeyed final : layer::TableKind::Maker {
    explicit MakesKeyed(layer::Keyed const& of) : kind(of) {}
    std::shared_ptr<AnyTableKind const> with(layer::Initializer const& first) const override {
        return std::make_shared<KeyedKind<>>(kind, first_of_keys(first));
    }
    layer::Keyed kind;
};

}  // namespace rowan::inline v0::detail

#endif
