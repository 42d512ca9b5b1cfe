// tests/fuzz/safetensors.cpp: reads bytes as a safetensors file, also with the header's length in the first two bytes
// made to fit. The header of a valid file is written and read again, and its tensors are loaded in all ways.
#include <rowan/io/safetensors_file.hpp>

#include <rowan/core/error.hpp>
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/safetensors_text.hpp>

#include "fuzz.hpp"
#include "memory_file.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace {

using namespace rowan;
using Bytes = std::vector<std::byte>;

detail::SafetensorsHeader parse(std::span<std::byte const> bytes) {
    detail::ByteReader in(bytes);
    return detail::read_safetensors_header(in);
}

void check_header(detail::SafetensorsHeader const& header, std::size_t size) {
    std::vector<detail::SafetensorsPart> parts;
    std::uint64_t all = 0;
    for (auto const& r : header.records()) {
        parts.push_back({std::string(header.name(r)), detail::safetensors_types[r.type].name, header.shape(r),
                         r.end - r.begin, parts.size()});
        all += r.end - r.begin;
    }
    fuzz::require(header.data_begin() + all == size, "each byte belongs to one tensor");
    std::map<std::string, std::string> metadata;
    for (auto const& [key, value] : header.metadata()) metadata.emplace(header.view(key), header.view(value));
    fuzz::require(metadata.size() == header.metadata().size(), "keys are distinct");
    auto const text = detail::safetensors_header_text(parts, metadata);
    Bytes again(text.size() + static_cast<std::size_t>(all));
    std::ranges::copy(std::as_bytes(std::span(text)), again.begin());
    auto const same = parse(again);
    fuzz::require(same.records().size() == parts.size() && same.metadata().size() == metadata.size(),
                  "what is written is read");
    for (auto const& p : parts) {
        auto const* const r = same.find(p.name);
        fuzz::require(r != nullptr && same.shape(*r) == p.shape && detail::safetensors_types[r->type].name == p.type,
                      "as it was written");
    }
    for (auto const& [key, value] : same.metadata())
        fuzz::require(metadata.at(std::string(same.view(key))) == same.view(value), "also the metadata");
}

template <class T>
void load(SafetensorsFile const& file, std::string const& name, Bytes const& bytes) {
    Tensor<T> tensor;
    try {
        tensor = file.load<T>(name);
    } catch (Error const&) {  // another type, many dims or a bool that is neither 0 nor 1
        return;
    }
    auto const entry = file.entry(name);
    fuzz::require(tensor.size() * sizeof(T) == entry.bytes, "every byte is read");
    auto const same = [&](Tensor<T> const& t, T const* from) {
        return t.size() == 0 || std::memcmp(t.data(), from, t.size() * sizeof(T)) == 0;
    };
    fuzz::require(
        entry.bytes == 0 || std::memcmp(tensor.data(), bytes.data() + entry.offset, tensor.size() * sizeof(T)) == 0,
        "as it is in the file");
    fuzz::require(same(file.map<T>(name), tensor.data()), "a mapped tensor has the same elements");
    if (tensor.dimension() == 0 || tensor.shape(0) == 0) return;
    auto const last = static_cast<std::int64_t>(tensor.shape(0)) - 1;
    auto const rows = file.gather<T>(name, {last, 0, last});
    for (std::size_t i = 0; i < 3; ++i) {
        auto const row =
            tensor.slice(i == 1 ? 0 : static_cast<std::size_t>(last), i == 1 ? 1 : static_cast<std::size_t>(last) + 1);
        fuzz::require(same(rows.slice(i, i + 1), row.data()), "gathered rows are those of the loaded tensor");
    }
}

void run(Bytes const& bytes) {
    detail::SafetensorsHeader header;
    try {
        header = parse(bytes);
    } catch (FormatError const&) {
        return;
    }
    check_header(header, bytes.size());
    fuzz::MemoryFile const memory(bytes);
    SafetensorsFile const file(Cpu{1}, memory.path());
    static_cast<void>(file.metadata());
    for (auto const& name : file.names()) {
        load<float>(file, name, bytes);
        load<std::int64_t>(file, name, bytes);
        load<std::uint8_t>(file, name, bytes);
        load<bool>(file, name, bytes);
        load<bfloat16>(file, name, bytes);
        fuzz::require(file.load_bytes(name).size() == file.entry(name).bytes, "bytes of any type are read");
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const input = fuzz::bytes(data, size);
    Bytes bytes(input.begin(), input.end());
    run(bytes);
    if (size < 8) return 0;
    std::uint64_t const length = (data[0] + 256U * data[1]) % (size - 7);
    std::memcpy(bytes.data(), &length, sizeof length);
    run(bytes);
    return 0;
}
