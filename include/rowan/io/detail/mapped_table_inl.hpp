// rowan/io/detail/mapped_table_inl.hpp: definitions of rowan/io/detail/mapped_table.hpp.
#pragma once

#include <rowan/io/detail/mapped_table.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::string real_path(char const* operation, std::string const& path) {
    std::unique_ptr<char, decltype([](char* p) { std::free(p); })> const real(::realpath(path.c_str(), nullptr));
    if (real == nullptr) throw_io(operation, path);
    return real.get();
}

ROWAN_CALLED_FUNCTION std::string new_path(std::string const& path) {
    std::string folder = folder_of(path);
    std::string const name = path.substr(path.rfind('/') + 1);  // also of a path without a slash
    try {
        folder = real_path("create", folder);
    } catch (IoError const& error) {
        throw_io("create", path, error.code());
    }
    return folder.append(folder.ends_with('/') ? "" : "/").append(name);
}

ROWAN_CALLED_FUNCTION std::shared_ptr<std::byte> map_shared(int file, std::string const& path, std::size_t n) {
    void* const pages = ::mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED) throw_io("map", path);
    ::madvise(pages, n, MADV_RANDOM);  // rows are read one by one: the system would read many around each
    return {static_cast<std::byte*>(pages), [=](std::byte*) { ::munmap(pages, n); }};
}

ROWAN_CALLED_FUNCTION void will_need(std::byte const* from, std::size_t n) noexcept {
    auto const page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto const before = reinterpret_cast<std::uintptr_t>(from) % page;
    ::madvise(const_cast<std::byte*>(from) - before, n + before, MADV_WILLNEED);
}

ROWAN_CALLED_FUNCTION void release_pages(std::byte* from, std::size_t n) noexcept { ::madvise(from, n, MADV_DONTNEED); }

ROWAN_CALLED_FUNCTION void allocate_file(int file, std::string const& path, std::uint64_t offset, std::uint64_t n) {
    auto const first = static_cast<off_t>(offset), size = static_cast<off_t>(n);
#ifdef __linux__  // glibc's posix_fallocate would write into pages where the file system has no such call
    if (uninterrupted([&] { return ::fallocate(file, 0, first, size); }) == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
        return;
    throw_io("allocate", path);
#else
    int const code = ::posix_fallocate(file, first, size);
    if (code != 0 && code != EOPNOTSUPP && code != EINVAL) throw_io("allocate", path, code);
#endif
}

ROWAN_CALLED_FUNCTION void TableMemory::map(int file, std::string const& path, std::size_t n) {
    whole_ = map_shared(file, path, n);
}

ROWAN_CALLED_FUNCTION void TableMemory::map_rows(int file, std::string const& path, TableLayout const& layout,
                                                 std::size_t part, std::uint64_t row) {
    std::size_t const each = layout.row_bytes(part);
    for (std::uint64_t n = 0; each != 0 && row < layout.rows; row += n) {
        n = std::max(row, layout.first_rows);
        std::byte* const to = parts_[part]->data() + row * each;
        auto const bytes = static_cast<std::size_t>(n * each);
        if (::mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                   static_cast<off_t>(layout.place(part, row))) == MAP_FAILED)
            throw_io("map", path);
        ::madvise(to, bytes, MADV_RANDOM);
    }
}

ROWAN_CALLED_FUNCTION void TableMemory::map_parts(int file, std::string const& path, TableLayout const& layout) {
    for (std::size_t k = 0; layout.first_rows != 0 && k < layout.parts.size(); ++k) {
        auto const bytes = static_cast<std::size_t>(layout.rows * layout.row_bytes(k));
        parts_.push_back(reserve_memory(std::max(std::size_t{1} << 39, 4 * bytes), bytes));
        map_rows(file, path, layout, k, 0);
    }
}

ROWAN_CALLED_FUNCTION void TableMemory::check_room(TableLayout const& layout) const {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        if (layout.rows * layout.row_bytes(k) > parts_[k]->size()) throw std::bad_alloc();
    }
}

ROWAN_CALLED_FUNCTION void TableMemory::extend(int file, std::string const& path, TableLayout const& before,
                                               TableLayout const& larger) {
    auto whole = map_shared(file, path, static_cast<std::size_t>(larger.file_bytes));
    for (std::size_t k = 0; k < parts_.size(); ++k) map_rows(file, path, larger, k, before.rows);
    whole_ = std::move(whole);
}

ROWAN_CALLED_FUNCTION std::shared_ptr<std::byte> TableMemory::part(TableLayout const& layout,
                                                                   std::size_t k) const noexcept {
    if (parts_.empty()) return {whole_, data(layout, k)};
    return {parts_[k], data(layout, k)};
}

ROWAN_CALLED_FUNCTION bool TableMemory::holds(TableLayout const& layout,
                                              std::span<std::byte const> bytes) const noexcept {
    auto const in = [&](std::byte const* begin, std::uint64_t n) {
        return bytes.data() >= begin && bytes.data() + bytes.size() <= begin + n;
    };
    if (parts_.empty()) return in(whole_.get(), layout.file_bytes);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        if (in(parts_[k]->data(), layout.rows * layout.row_bytes(k))) return true;
    }
    return false;
}

ROWAN_CALLED_FUNCTION void TableMemory::release(TableLayout const& layout) const noexcept {
    release_pages(whole_.get(), static_cast<std::size_t>(layout.file_bytes));
    for (std::size_t k = 0; k < parts_.size(); ++k)
        release_pages(parts_[k]->data(), static_cast<std::size_t>(layout.rows * layout.row_bytes(k)));
}

ROWAN_CALLED_FUNCTION bool has_space(int file, std::uint64_t space, std::uint64_t n) {
    if (space < n) return false;
#ifdef SEEK_HOLE
    if (std::cmp_equal(::lseek(file, 0, SEEK_HOLE), n)) return true;
#endif
    try {  // blocks of the file system's own are in `space`, too, and reserved ones may count as holes
        allocate_file(file, {}, 0, n);
        return true;
    } catch (IoError const&) {
        return false;
    }
}

ROWAN_CALLED_FUNCTION std::uint64_t random_id(std::string const& path) {
    std::uint64_t id = 0;
    if (::getentropy(&id, sizeof id) != 0) throw_io("create", path);
    return id;
}

ROWAN_CALLED_FUNCTION void name_new_file(std::string const& temporary, std::string const& path) {
    if (::link(temporary.c_str(), path.c_str()) == 0) return;
    if (errno == EEXIST || (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)) throw_io("create", path);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw_io("create", path);  // a file system without links
}

}  // namespace rowan::inline v0::detail

#endif
