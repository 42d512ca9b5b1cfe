// rowan/io/detail/any_table_store.hpp: AnyTableStore, the mapped file of a table, and how it is made and opened.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/mapped_table.hpp>
#include <rowan/io/detail/table_layout.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// A mapped file of a table. TableStore says what its functions do.
class AnyTableStore {
public:
    AnyTableStore(AnyTableStore const&) = delete;
    AnyTableStore& operator=(AnyTableStore const&) = delete;
    virtual ~AnyTableStore();

    TableLayout const& layout() const noexcept { return layout_; }
    std::string const& path() const noexcept { return path_; }
    std::uint64_t generation() const noexcept { return generation_; }
    /// The memory of a part, which tensors keep.
    std::shared_ptr<std::byte> part(std::size_t k) const noexcept { return memory_.part(layout_, k); }
    std::byte* data(std::size_t k) const noexcept { return memory_.data(layout_, k); }
    /// Whether these bytes are in one of the parts.
    bool holds(std::span<std::byte const> bytes) const noexcept { return memory_.holds(layout_, bytes); }
    void release() noexcept { memory_.release(layout_); }
    /// Takes back what resize has added since the last save.
    void shrink(std::uint64_t height) noexcept {
        if (height < layout_.height) layout_.height = height;
    }

    virtual void publish() = 0;
    virtual bool changed() const noexcept = 0;
    virtual std::uint64_t height(std::uint64_t generation) const = 0;
    virtual std::uint64_t mark(std::uint64_t generation) const = 0;
    virtual void check_way(std::uint64_t to) const = 0;
    virtual void go_back(std::uint64_t to) = 0;
    virtual void forget_before(std::uint64_t generation) = 0;
    virtual void change(Cpu exec, Ids<> const& rows) = 0;
    virtual void resize(std::uint64_t height) = 0;
    virtual void save(bool keeps) = 0;
    virtual void prefetch(Ids<> const& rows) const = 0;

protected:
    explicit AnyTableStore(std::string path);

    std::string path_;
    TableMemory memory_;
    TableLayout layout_;
    std::uint64_t generation_ = 0;
};

/// How a new file is made.
struct NewTable {
    bool reserve, power_safe, replaces_first;
    std::function<void(std::byte* rows)> fill = {};  ///< writes the first rows; empty: zeros
};

/// How the files of tables are made and opened by these system calls. `check` may refuse a layout.
template <class Files>
struct TableStores;  // others than this one are in table_store.hpp
template <>
struct TableStores<PosixFiles> {
    ROWAN_IF_CALLED static std::unique_ptr<AnyTableStore> create(std::string const& name, TableLayout layout,
                                                                 NewTable const& how);
    ROWAN_IF_CALLED static std::unique_ptr<AnyTableStore> open(std::string const& name, bool power_safe,
                                                               std::function<void(TableLayout const&)> const& check);
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/any_table_store_inl.hpp>
