// tests/fuzz/replay.cpp: gives a fuzz target the files of a folder, one after the other, without a fuzzer.
#include "fuzz.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

int main(int count, char** arguments) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < count; ++i) {
        for (auto const& entry : std::filesystem::directory_iterator(arguments[i])) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (auto const& file : files) {
        std::ifstream in(file, std::ios::binary);
        std::string const text{std::istreambuf_iterator<char>(in), {}};
        auto const copy = std::make_unique<std::uint8_t[]>(text.size());  // with an end of its own, so that a read beyond it is seen
        std::ranges::copy(text, copy.get());
        if (LLVMFuzzerTestOneInput(copy.get(), text.size()) != 0) return 1;
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty() ? 1 : 0;
}
