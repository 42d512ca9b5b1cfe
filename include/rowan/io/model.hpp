// rowan/io/model.hpp: save_model and load_model, the parameters of a net in a file.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/trace.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/var.hpp>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

static_assert(std::endian::native == std::endian::little, "rowan/io/model.hpp: files are little-endian");

inline constexpr std::string_view model_magic = "rowan model 1\n";

/// Reads a file that lies in memory; never beyond its end.
class ModelReader {
public:
    explicit ModelReader(std::span<std::byte const> file) : file_(file) {}

    template <class I>
    I number(char const* field) {
        I x;
        std::memcpy(&x, bytes(field, sizeof(I)).data(), sizeof(I));
        return x;
    }
    std::span<std::byte const> bytes(char const* field, std::uint64_t n) {
        if (n > file_.size() - at_) throw FormatError(at_, field, "goes beyond the end of the file");
        at_ += n;
        return file_.subspan(at_ - n, n);
    }
    std::string text(char const* field) {
        auto const n = number<std::uint32_t>(field);
        auto const b = bytes(field, n);
        return {reinterpret_cast<char const*>(b.data()), b.size()};
    }
    std::uint64_t position() const { return at_; }
    bool at_end() const { return at_ == file_.size(); }

private:
    std::span<std::byte const> file_;
    std::uint64_t at_ = 0;
};

/// The parameters of a net by the names that follow from the net alone.
inline std::map<std::string, Variable*> parameters_of(Variable& predict) {
    std::map<std::string, Variable*> found;
    for (auto& [v, name] : names_of(trace(std::array{&predict}))) {
        if (v->role() == Role::parameter) found.emplace(std::move(name), v);
    }
    return found;
}

}  // namespace detail

/// Writes the parameters that `predict` depends on. They are named by their place in this net, so that a program that builds the same net
/// loads them, in whatever order it makes its layers.
/// errors   GraphError if there is no value for one of them; IoError if the file cannot be written: a file that was there stays then
template <class T, class Device>
void save_model(layer::Var<T, Device> const& predict, Parameters const& parameters, std::string const& path) {
    std::map<std::string, Value> found;
    for (auto const& [name, v] : detail::parameters_of(*predict))
        found.emplace(name, parameters.find(v->name()).share());
    std::string const part = path + ".part";
    auto const fail = [&](char const* what) {
        int const code = errno;
        std::remove(part.c_str());
        throw IoError(what, part, std::strerror(code), code);
    };
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    if (!out) fail("open");
    auto const write = [&](auto x) { out.write(reinterpret_cast<char const*>(&x), sizeof x); };
    out << detail::model_magic;
    write(static_cast<std::uint32_t>(found.size()));
    for (auto& [name, value] : found) {
        auto const e = value.elements();
        write(static_cast<std::uint32_t>(name.size()));
        out << name;
        write(e.dtype);
        write(static_cast<std::uint32_t>(e.dims.size()));
        for (std::int64_t const dim : e.dims) write(dim);
        out.write(reinterpret_cast<char const*>(e.bytes.data()), static_cast<std::streamsize>(e.bytes.size()));
    }
    out.close();
    if (!out) fail("write");
    if (std::rename(part.c_str(), path.c_str()) != 0) fail("rename");
}

/// The design documents' order of arguments; of the reader nothing is kept.
template <class T, class Device, class Reader>
void save_model(layer::Var<T, Device> const& predict, Reader const&, Parameters const& parameters,
                std::string const& path) {
    save_model(predict, parameters, path);
}

/// Reads the parameters of a net that is built already.
/// errors   IoError if the file cannot be read; FormatError if it is damaged; GraphError, TypeError or ShapeError if it is of another net
template <class T, class Device>
Parameters load_model(layer::Var<T, Device> const& predict, std::string const& path) {
    if (std::error_code code; std::filesystem::exists(path, code) && !std::filesystem::is_regular_file(path, code))
        throw IoError("open", path, "not a regular file", EINVAL);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw IoError("open", path, std::strerror(errno), errno);
    std::vector<std::byte> file(static_cast<std::size_t>(in.tellg()));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(file.data()), static_cast<std::streamsize>(file.size()));
    if (!in) throw IoError("read", path, std::strerror(errno), errno);

    detail::name_variables(detail::trace(std::array{&*predict}));
    auto found = detail::parameters_of(*predict);
    detail::ModelReader reader(file);
    auto const magic = reader.bytes("the magic number", detail::model_magic.size());
    if (std::memcmp(magic.data(), detail::model_magic.data(), magic.size()) != 0)
        throw FormatError(0, "the magic number", "is not that of a rowan model");
    Parameters parameters;
    for (auto count = reader.number<std::uint32_t>("the number of parameters"); count != 0; --count) {
        auto const name = reader.text("a name");
        auto const at = found.find(name);
        if (at == found.end())
            throw GraphError(path + " has a parameter \"" + name + "\", which this net has not: it is of another net");
        Variable& v = *at->second;
        if (!v.initialize) throw GraphError(name + " is a parameter without a first value: its type is not known");
        Value value;
        v.initialize(value, 0);
        auto const e = value.elements();
        if (auto const dtype = reader.number<std::int32_t>("an element type"); dtype != e.dtype)
            throw TypeError(path + ": the element type of " + name, std::to_string(dtype), std::to_string(e.dtype));
        std::vector<std::int64_t> dims;
        for (auto rank = reader.number<std::uint32_t>("a rank"); rank != 0; --rank)
            dims.push_back(reader.number<std::int64_t>("a dim"));
        if (dims != e.dims)
            throw ShapeError(path + ": " + name + ".shape()", detail::shape_text(dims), detail::shape_text(e.dims));
        auto const bytes = reader.bytes("elements", e.bytes.size());
        if (!bytes.empty()) std::memcpy(e.bytes.data(), bytes.data(), bytes.size());
        parameters.set(v.name(), std::move(value));
        found.erase(at);
    }
    if (!reader.at_end()) throw FormatError(reader.position(), "the file", "has bytes after its last parameter");
    if (!found.empty())
        throw GraphError(path + " has no parameter \"" + found.begin()->first + "\": it is of another net");
    return parameters;
}

}  // namespace rowan::inline v0
