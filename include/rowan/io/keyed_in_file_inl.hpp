// rowan/io/keyed_in_file_inl.hpp: definitions of rowan/io/keyed_in_file.hpp.
#pragma once

#include <rowan/io/keyed_in_file.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/graph/detail/with_elements.hpp>
#include <rowan/io/keyed_file.hpp>
#include <rowan/io/table_file.hpp>
#include <rowan/train/detail/keyed_kind.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// A table by keys in a file.
template <class T, class Key>
class AnyKeyedFile final : public AnyKeyed<T, Key, KeyedFile<T, Key>> {
    using Base = AnyKeyed<T, Key, KeyedFile<T, Key>>;
    using Base::table_;

public:
    template <class... A>
    explicit AnyKeyedFile(FileOfNet<T> saves, layer::Eviction const& eviction, A&&... args)
        : Base(eviction, std::forward<A>(args)...), saves_(std::move(saves)) {}

    std::string const& path() const { return table_.where().file().path(); }
    void write(Cpu exec, Ids<> const& rows) override { table_.change(exec, rows); }
    void load_state(std::string const&, Value const&) override {}
    void save(AddTablePart const& add, Saving saving) override {
        Base::save(add, saving);
        saves_.save(table_.where().file(), add, saving);
    }
    void saved_others() override { saves_.saved_others(table_.where().file()); }

    FileOfNet<T>& saves() { return saves_; }
    TableFile<T>& file() { return table_.where().file(); }
    void assign(layer::Eviction const& eviction, KeyedTableOptions const& options,
                KeyIndexContents<Key> const& contents, FirstValue first) {
        table_.assign(options, contents, std::move(first));
        this->eviction_ = eviction;
    }

private:
    FileOfNet<T> saves_;
};

template <class Key>
class KeyedFileReader final : public KeyReader<Key> {
public:
    KeyedFileReader(KeyIndexOptions const& options, FindTablePart const& find, std::function<Value()> rows)
        : KeyReader<Key>(options, find), rows_(std::move(rows)) {}
    Value rows() const override { return rows_(); }

private:
    std::function<Value()> rows_;  // opens the file, while the predictor is made: parameters may have it open instead
};

/// Tables by keys in a file.
template <class = void>
class KeyedInFileKind final : public KeyedKind<> {
public:
    KeyedInFileKind(layer::KeyedInFile const& kind, layer::Initializer const& first)
        : KeyedKind<>(kind.keys, first), file_(kind.file) {
        in_file = true;
        path_of_file = path();
    }

    std::shared_ptr<AnyTable> make(TableSpec const& spec) const override {
        return with_types(spec, [&]<class T, class Key>(std::type_identity<T>, std::type_identity<Key>) {
            auto file = TableFile<T>::create_unsaved(file_.path, FileOfNet<T>::shape(spec), nullptr, file_options());
            return std::make_shared<AnyKeyedFile<T, Key>>(FileOfNet<T>(file_.keep_previous), eviction(), options(spec),
                                                          RowsInFile<T>(std::move(file)), first_values());
        });
    }
    std::shared_ptr<AnyTable> load(TableSpec const& spec, FindTablePart const& find, bool,
                                   std::shared_ptr<AnyTable> const& held) const override {
        return saved(spec, find, held, FileWay::go);
    }
    void check_way(TableSpec const& spec, FindTablePart const& find,
                   std::shared_ptr<AnyTable> const& held) const override {
        static_cast<void>(saved(spec, find, held, FileWay::check));
    }
    std::unique_ptr<AnyTableReader> open(TableSpec const& spec, FindTablePart const& find) const override {
        auto const rows = [this, spec, find] {
            return with_elements<float, double, bfloat16>(spec, [&]<class T>(std::type_identity<T>) {
                TableFile<T> file(file_.path, file_options());
                FileOfNet<T>(false).take(file, spec, find, FileWay::read);
                return FileOfNet<T>::value_of(file.rows().share());
            });
        };
        if (spec.names == VarType::STRINGS) return std::make_unique<KeyedFileReader<std::string>>(keys(0), find, rows);
        return std::make_unique<KeyedFileReader<std::int64_t>>(keys(0), find, rows);
    }
    std::string text() const override { return KeyedKind<>::text().append(" in the file ").append(path()); }

private:
    std::shared_ptr<AnyTable> saved(TableSpec const& spec, FindTablePart const& find,
                                    std::shared_ptr<AnyTable> const& held, FileWay way) const {
        return with_types(spec, [&]<class T, class Key>(std::type_identity<T>, std::type_identity<Key>) {
            using Table = AnyKeyedFile<T, Key>;
            auto const contents = key_contents<Key>(find);
            KeyIndex<Key>(options(spec).keys).assign(contents);  // refuses them before the file goes back
            auto const take = [&](TableFile<T>& file, FileOfNet<T>& saves) {
                saves.take(file, spec, find, FileWay::check);
                auto const save = find("generation").get<LoDTensor<std::int64_t>>().value().data()[0];
                if (auto const height = file.height(static_cast<std::uint64_t>(save)); height != contents.height)
                    throw ShapeError({file.path(), ".height()"}, height, {contents.height, ", that of its keys"});
                if (way == FileWay::go) saves.take(file, spec, find, way);
            };
            if (auto table = std::dynamic_pointer_cast<Table>(held); table != nullptr && table->path() == path()) {
                table->saves().keep_previous(file_.keep_previous);
                take(table->file(), table->saves());
                if (way == FileWay::go) table->assign(eviction(), options(spec), contents, first_values());
                return table;
            }
            TableFile<T> file(file_.path, file_options());
            FileOfNet<T> saves(file_.keep_previous);
            take(file, saves);
            if (way != FileWay::go) return std::shared_ptr<Table>();
            return std::make_shared<Table>(std::move(saves), eviction(), options(spec), contents,
                                           RowsInFile<T>(std::move(file)), first_values());
        });
    }
    std::string path() const { return std::filesystem::weakly_canonical(file_.path).string(); }
    TableFileOptions file_options() const { return {.power_safe = file_.power_safe}; }

    layer::InFile file_;
};

template <class = void>
struct MakesKeyedInFile final : layer::TableKind::Maker {
    explicit MakesKeyedInFile(layer::KeyedInFile const& of) : kind(of) {}
    std::shared_ptr<AnyTableKind const> with(layer::Initializer const& first) const override {
        return std::make_shared<KeyedInFileKind<>>(kind, first_of_keys(first));
    }
    layer::KeyedInFile kind;
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

ROWAN_CALLED_FUNCTION KeyedInFile::operator TableKind() const {
    static_cast<void>(static_cast<TableKind>(keys));  // checks its options
    return TableKind(std::make_shared<rowan::detail::MakesKeyedInFile<>>(*this));
}

}  // namespace rowan::inline v0::layer

#endif
