// rowan/io/in_file_inl.hpp: definitions of rowan/io/in_file.hpp.
#pragma once

#include <rowan/io/in_file.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/graph/detail/with_elements.hpp>
#include <rowan/io/table_file.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/train/detail/trained_tables_of.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// What a table in a file does with the save that parameters refer to.
enum class FileWay {
    read,   ///< it must be the last
    check,  ///< the file can go back to it
    go,     ///< it goes there
};

/// A table in a file, and the saves of the rest of a training.
template <class T>
class FileOfNet {
    using S = kept_t<T>;

public:
    explicit FileOfNet(bool keep_previous) : keep_previous_(keep_previous) {}

    /// What its file holds.
    static TableFileShape shape(TableSpec const& spec) {
        TableFileShape shape{.width = static_cast<std::size_t>(spec.dims[1]), .grows = spec.dims[0] == UNK};
        if (!shape.grows) shape.height = spec.dims[0];
        for (auto const& state : spec.states)
            shape.states.push_back(
                TableState::of<S>(state.name, state.one_per_row ? std::nullopt : std::optional(shape.width)));
        return shape;
    }

    /// errors   ShapeError or Error if the file has other rows, or lacks a state; FormatError unless it is the one that
    ///          parameters refer to, with the save that they name
    void take(TableFile<T>& file, TableSpec const& spec, FindTablePart const& find, FileWay way) {
        std::string const& path = file.path();
        auto const want = shape(spec);
        if (file.width() != want.width || file.grows() != want.grows ||
            (!want.grows && file.height() != std::int64_t{want.height}))
            throw ShapeError({path, ".shape()"}, {"[", file.height(), ", ", file.width(), "]"}, shape_text(spec.dims));
        for (auto const& state : want.states) {
            if (std::ranges::find(file.states(), state) == file.states().end())
                throw Error({path, " has no state \"", state.name, "\" of its optimizer's kind"});
        }
        auto const& saved = find("generation").get<LoDTensor<std::int64_t>>().value();
        if (saved.size() < 2) throw ShapeError("generation.size()", saved.size(), "2 or more");
        std::int64_t const generation = saved.data()[0];
        auto const fail = [&](std::string const& what) { throw FormatError(0, "the generation", {"of ", path, what}); };
        if (saved.data()[1] != number(file.id()))
            throw FormatError(0, "the number", {"of ", path, " is that of another table than the parameters have"});
        if (generation < 0) fail(" was not saved with these parameters");
        if (way == FileWay::read && std::cmp_not_equal(file.saves(), generation))
            fail(" is " + std::to_string(file.saves()) + ", that of the parameters is " + std::to_string(generation) +
                 (std::cmp_less(generation, file.saves()) ? ": perhaps their training can go on, and take it there"
                                                          : ""));
        auto const saves = static_cast<std::uint64_t>(generation);
        if (way != FileWay::read) file.check_way(saves);
        if (saved.size() > 3 && saved.data()[3] != number(file.mark(saves)))
            fail(" is " + std::to_string(generation) +
                 ", as that of the parameters, but of another save: it has gone back since");
        if (way != FileWay::go) return;
        file.go_back(saves);
        others_ = saves;
        file.forget_saves_before(saves - (keep_previous_ && saves != 0 ? 1 : 0));
    }
    /// As AnyTable::save.
    void save(TableFile<T>& file, AddTablePart const& add, Saving saving) const {
        if (saving == Saving::alone) file.save();
        if (saving == Saving::with_others) file.save_and_keep();
        std::string const& path = file.path();
        add("file", value_of(Tensor<std::uint8_t>(std::vector<std::uint8_t>(path.begin(), path.end()))));
        auto const generation = file.changed() ? -1 : static_cast<std::int64_t>(file.saves());
        add("generation", value_of(Tensor<std::int64_t>{generation, number(file.id()), keep_previous_ ? 1 : 0,
                                                        number(file.mark(file.saves()))}));
    }
    /// As AnyTable::saved_others.
    void saved_others(TableFile<T>& file) {
        auto const now = file.saves();
        file.forget_saves_before(keep_previous_ ? others_.value_or(now) : now);
        others_ = now;
    }

    template <class X>
    static Value value_of(Tensor<X> tensor) {
        Value value;
        value.set(LoDTensor<X>(std::move(tensor)));
        return value;
    }

    bool keep_previous() const { return keep_previous_; }
    void keep_previous(bool keep) { keep_previous_ = keep; }

private:
    static std::int64_t number(std::uint64_t x) { return std::bit_cast<std::int64_t>(x); }

    bool keep_previous_;
    std::optional<std::uint64_t> others_ = {};  // the save with which all else was saved last
};

/// A table in a file, by row numbers.
template <class T>
class AnyTableFile final : public AnyTable {
public:
    AnyTableFile(TableFile<T> file, bool keep_previous) : file_(std::move(file)), saves_(keep_previous) {}

    void take(TableSpec const& spec, FindTablePart const& find, FileWay way, bool keep_previous) {
        if (way == FileWay::go) saves_.keep_previous(keep_previous);
        saves_.take(file_, spec, find, way);
    }
    std::string const& path() const { return file_.path(); }

    std::unique_ptr<View> view(Cpu, std::span<Value const>, std::span<Value>, std::int64_t) override { return nullptr; }
    void write(Cpu exec, Ids<> const& rows) override { file_.change(exec, rows); }
    Value rows() const override { return saves_.value_of(file_.rows().share()); }
    Value state(std::string const& name) override {
        return saves_.value_of(file_.template state<kept_t<T>>(name).share());
    }
    void load_state(std::string const&, Value const&) override {}
    void save(AddTablePart const& add, Saving saving) override { saves_.save(file_, add, saving); }
    void saved_others() override { saves_.saved_others(file_); }

private:
    TableFile<T> file_;
    FileOfNet<T> saves_;
};

class TableFileReader final : public AnyTableReader {
public:
    explicit TableFileReader(Value rows) : rows_(std::move(rows)) {}
    Value find(Cpu, Value const& names) const override { return names.share(); }
    Value rows() const override { return rows_.share(); }

private:
    Value rows_;  // whose memory is the file's
};

/// Tables in a file.
template <class = void>
class InFileKind final : public AnyTableKind {
public:
    InFileKind(layer::InFile const& kind, layer::Initializer const& first) : kind_(kind), first_(first) {
        in_file = true;
        path_of_file = std::filesystem::weakly_canonical(kind_.path).string();
    }

    std::shared_ptr<AnyTable> make(TableSpec const& spec) const override {
        return with_elements<float, double, bfloat16>(
            spec, [&]<class T>(std::type_identity<T>) -> std::shared_ptr<AnyTable> {
                auto const shape = FileOfNet<T>::shape(spec);
                auto const values = first_.of(spec.dims);
                auto const first = [&](std::int64_t row, std::span<T> to) {
                    for (std::size_t k = 0; k < to.size(); ++k) {
                        double const x = values.at(spec.seed, static_cast<std::size_t>(row) * to.size() + k);
                        to[k] = dtype<T>::narrow(static_cast<typename dtype<T>::sum>(x));
                    }
                };
                return std::make_shared<AnyTableFile<T>>(
                    TableFile<T>::create_unsaved(kind_.path, shape, first, options()), kind_.keep_previous);
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
        return std::make_unique<TableFileReader>(saved(spec, find, nullptr, FileWay::read)->rows());
    }
    std::shared_ptr<TrainedTables> tables() const override { return new_trained_tables(); }
    std::string text() const override { return "the file " + std::filesystem::weakly_canonical(kind_.path).string(); }

private:
    TableFileOptions options() const { return {.power_safe = kind_.power_safe}; }
    std::shared_ptr<AnyTable> saved(TableSpec const& spec, FindTablePart const& find,
                                    std::shared_ptr<AnyTable> const& held, FileWay way) const {
        return with_elements<float, double, bfloat16>(
            spec, [&]<class T>(std::type_identity<T>) -> std::shared_ptr<AnyTable> {
                auto table = std::dynamic_pointer_cast<AnyTableFile<T>>(held);
                if (table == nullptr || table->path() != std::filesystem::weakly_canonical(kind_.path).string())
                    table = std::make_shared<AnyTableFile<T>>(TableFile<T>(kind_.path, options()), kind_.keep_previous);
                table->take(spec, find, way, kind_.keep_previous);
                return table;
            });
    }

    layer::InFile kind_;
    layer::Initializer first_;
};

template <class = void>
struct MakesInFile final : layer::TableKind::Maker {
    explicit MakesInFile(layer::InFile const& of) : kind(of) {}
    std::shared_ptr<AnyTableKind const> with(layer::Initializer const& first) const override {
        return std::make_shared<InFileKind<>>(kind, first);
    }
    layer::InFile kind;
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

ROWAN_CALLED_FUNCTION InFile::operator TableKind() const {
    return TableKind(std::make_shared<rowan::detail::MakesInFile<>>(*this));
}

}  // namespace rowan::inline v0::layer

#endif
