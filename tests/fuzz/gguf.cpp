// tests/fuzz/gguf.cpp: reads bytes as a GGUF file, in memory and from a file, and loads its tensors.
#include <rowan/io/gguf_file.hpp>

#include <rowan/core/error.hpp>

#include "fuzz.hpp"
#include "memory_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace rowan;

template <class T>
void load(GgufFile const& file, GgufEntry const& entry, std::span<std::byte const> bytes) {
    Tensor<T> tensor;
    try {
        tensor = file.load<T>(entry.name);
    } catch (TypeError const&) {
        return;
    }
    auto const n = tensor.size();
    if (entry.type_name == "Q8_0") {
        fuzz::require(n % 32 == 0 && n / 32 * 34 == entry.bytes, "a block has 32 elements");
        return;
    }
    fuzz::require(n * sizeof(T) == entry.bytes, "every byte is read");
    fuzz::require(n == 0 || std::memcmp(tensor.data(), bytes.data() + entry.offset, n * sizeof(T)) == 0,
                  "as it is in the file");
}

template <class V>
void metadata(GgufFile const& file, std::string const& key) {
    try {
        static_cast<void>(file.metadata<V>(key));
    } catch (TypeError const&) {
    } catch (ValueError const&) {
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const bytes = fuzz::bytes(data, size);
    try {
        detail::BufferedReader in(bytes);
        static_cast<void>(detail::GgufHeader(in));
    } catch (FormatError const&) {
        return 0;
    }
    fuzz::MemoryFile const memory(bytes);
    GgufFile const file(Cpu{1}, memory.path());
    std::uint64_t all = 0;
    for (auto const& name : file.names()) {
        auto const entry = file.entry(name);
        fuzz::require(file.has(name) && entry.offset <= size && entry.bytes <= size - entry.offset,
                      "a tensor is in the file");
        all += entry.bytes;
        load<float>(file, entry, bytes);
        load<double>(file, entry, bytes);
        load<float16>(file, entry, bytes);
        load<std::int32_t>(file, entry, bytes);
        fuzz::require(file.load_bytes(name).size() == entry.bytes, "bytes of any type are read");
    }
    fuzz::require(all <= size, "tensors do not overlap");
    for (auto const& key : file.metadata_keys()) {
        fuzz::require(file.has_metadata(key), "a key is found");
        metadata<std::string>(file, key);
        metadata<std::int64_t>(file, key);
        metadata<double>(file, key);
        metadata<bool>(file, key);
    }
    return 0;
}
