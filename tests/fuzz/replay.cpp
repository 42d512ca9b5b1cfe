// tests/fuzz/replay.cpp: runs a fuzz target on the files of a folder, without a fuzzer.
#include "fuzz.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

// Replaying mutates nothing.
std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size, std::size_t) { return size; }

int main(int count, char** arguments) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < count; ++i) {
        for (auto const& entry : std::filesystem::directory_iterator(arguments[i])) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (auto const& file : files) {
        std::ifstream in(file, std::ios::binary);
        std::string const text{std::istreambuf_iterator<char>(in), {}};
        auto const copy = std::make_unique<std::uint8_t[]>(text.size());  // sanitizers detect reads beyond its end
        std::ranges::copy(text, copy.get());
        if (LLVMFuzzerTestOneInput(copy.get(), text.size()) != 0) return 1;
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty() ? 1 : 0;
}
