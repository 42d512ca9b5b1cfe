// rowan/io/in_file_inl.hpp: definitions of rowan/io/in_file.hpp.
#pragma once

#include <rowan/io/in_file.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/graph/detail/any_table.hpp>
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

/// A table in a file, by row numbers.
template <class T>
class AnyTableFile final : public AnyTable {
    using S = kept_t<T>;

public:
    explicit AnyTableFile(TableFile<T> file) : file_(std::move(file)) {}

    /// The parts of its file.
    static std::vector<TableState> states(TableSpec const& spec) {
        std::vector<TableState> all;
        for (auto const& state : spec.states) {
            std::optional<std::size_t> width;
            if (!state.one_per_row) width = static_cast<std::size_t>(spec.dims[1]);
            all.push_back(TableState::of<S>(state.name, width));
        }
        return all;
    }
    /// errors   ShapeError or Error if the file has other rows, or lacks a state; FormatError unless it is the one that
    ///          parameters refer to, as it was saved with them
    void check(TableSpec const& spec, FindTablePart const& find) const {
        std::string const& path = file_.path();
        if (file_.height() != spec.dims[0] || std::cmp_not_equal(file_.width(), spec.dims[1]))
            throw ShapeError({path, ".shape()"}, {"[", file_.height(), ", ", file_.width(), "]"},
                             {"[", spec.dims[0], ", ", spec.dims[1], "]"});
        for (auto const& state : states(spec)) {
            if (std::ranges::find(file_.states(), state) == file_.states().end())
                throw Error({path, " has no state \"", state.name, "\" of its optimizer's kind"});
        }
        auto const& saved = find("generation").get<LoDTensor<std::int64_t>>().value();
        if (saved.size() != 2) throw ShapeError("generation.size()", saved.size(), 2);
        std::int64_t const generation = saved.data()[0];
        if (saved.data()[1] != std::bit_cast<std::int64_t>(file_.id()))
            throw FormatError(0, "the number", {"of ", path, " is that of another table than the parameters have"});
        if (generation < 0)
            throw FormatError(0, "the generation", {"of ", path, " was not saved with these parameters"});
        if (changed_ || std::cmp_not_equal(file_.saves(), generation))
            throw FormatError(0, "the generation",
                              {"of ", path, " is ", file_.saves(), changed_ ? " and has changed" : "",
                               ", that of the parameters is ", generation});
    }
    std::string const& path() const { return file_.path(); }

    std::unique_ptr<View> view(Cpu, std::span<Value const>, std::span<Value>, std::int64_t) override { return nullptr; }
    void write(Cpu exec, Ids<> const& rows) override {
        file_.change(exec, rows);
        changed_ = changed_ || rows.size() != 0;
    }
    Value rows() const override { return value_of(file_.rows().share()); }
    Value state(std::string const& name) override { return value_of(file_.template state<S>(name).share()); }
    void load_state(std::string const&, Value const&) override {}

    void save(AddTablePart const& add, bool lasting) override {
        if (lasting) {
            file_.save();
            changed_ = false;
        }
        std::string const& path = file_.path();
        add("file", value_of(Tensor<std::uint8_t>(std::vector<std::uint8_t>(path.begin(), path.end()))));
        auto const generation = changed_ ? -1 : static_cast<std::int64_t>(file_.saves());
        add("generation", value_of(Tensor<std::int64_t>{generation, std::bit_cast<std::int64_t>(file_.id())}));
    }

private:
    template <class X>
    static Value value_of(Tensor<X> tensor) {
        Value value;
        value.set(LoDTensor<X>(std::move(tensor)));
        return value;
    }

    TableFile<T> file_;
    bool changed_ = false;  // since its last save
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
    }

    std::shared_ptr<AnyTable> make(TableSpec const& spec) const override {
        return of_type(spec, [&]<class T>(std::type_identity<T>) -> std::shared_ptr<AnyTable> {
            auto const width = static_cast<std::size_t>(spec.dims[1]);
            TableFileShape const shape{.height = spec.dims[0], .width = width, .states = AnyTableFile<T>::states(spec)};
            auto const values = first_.of(spec.dims);
            auto const first = [&](std::int64_t row, std::span<T> to) {
                for (std::size_t k = 0; k < width; ++k) {
                    double const x = values.at(spec.seed, static_cast<std::size_t>(row) * width + k);
                    to[k] = dtype<T>::narrow(static_cast<typename dtype<T>::sum>(x));
                }
            };
            return std::make_shared<AnyTableFile<T>>(TableFile<T>::create_unsaved(kind_.path, shape, first, options()));
        });
    }
    std::shared_ptr<AnyTable> load(TableSpec const& spec, FindTablePart const& find, bool,
                                   std::shared_ptr<AnyTable> const& held) const override {
        return of_type(spec, [&]<class T>(std::type_identity<T>) -> std::shared_ptr<AnyTable> {
            std::shared_ptr<AnyTableFile<T>> table;
            if (held != nullptr && held->rows().spec().dtype == spec.wire)
                table = std::static_pointer_cast<AnyTableFile<T>>(held);
            if (table == nullptr || table->path() != std::filesystem::weakly_canonical(kind_.path).string())
                table = std::make_shared<AnyTableFile<T>>(TableFile<T>(kind_.path, options()));
            table->check(spec, find);
            return table;
        });
    }
    std::unique_ptr<AnyTableReader> open(TableSpec const& spec, FindTablePart const& find) const override {
        return std::make_unique<TableFileReader>(load(spec, find, false, nullptr)->rows());
    }
    std::shared_ptr<TrainedTables> tables() const override { return new_trained_tables(); }
    std::string text() const override { return "the file " + std::filesystem::weakly_canonical(kind_.path).string(); }

private:
    TableFileOptions options() const { return {.power_safe = kind_.power_safe}; }
    template <class Make>
    static auto of_type(TableSpec const& spec, Make const& make) {
        if (spec.wire == dtype<float>::wire) return make(std::type_identity<float>{});
        if (spec.wire == dtype<double>::wire) return make(std::type_identity<double>{});
        if (spec.wire == dtype<bfloat16>::wire) return make(std::type_identity<bfloat16>{});
        throw TypeError("layer::InFile: the elements", dtype_text(spec.wire), "f32, f64 or bf16");
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
