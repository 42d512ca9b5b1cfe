// tests/bench/main.cpp: runs all cases, or those whose names match a regular expression.
#include "bench.hpp"

#include <rowan/core/error.hpp>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string_view>

namespace {

constexpr char const* usage = R"(rowan_bench [REGEX] [options]: times the cases whose names REGEX finds; without it, all

  --threads 1,2  numbers of threads
  --int32        ids of 32 bits, for gather and scatter_add
  --json         a line of JSON for each case
  --list         the names of the cases only
  --tiny         small tables: only that everything runs

GB/s counts the bytes of the byte model: each row that is touched is read, or read and written, once.
)";

bench::Options parse(int argc, char** argv) {
    bench::Options options;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (word == "--json") {
            options.json = true;
        } else if (word == "--list") {
            options.list = true;
        } else if (word == "--int32") {
            options.int32 = true;
        } else if (word == "--tiny") {
            options.tiny = true;
        } else if (word == "--threads" && i + 1 < argc) {
            options.threads.clear();
            std::istringstream list(argv[++i]);
            for (std::string number; std::getline(list, number, ',');) options.threads.push_back(std::stoi(number));
        } else if (word == "--help") {
            std::cout << usage;
            std::exit(0);
        } else if (word.starts_with("--")) {
            std::cerr << "rowan_bench: unknown option " << word << "\n\n" << usage;
            std::exit(2);
        } else {
            options.filter = std::regex(argv[i]);
        }
    }
    return options;
}

}  // namespace

int main(int argc, char** argv) try {
    bench::Options const options = parse(argc, argv);
    struct Table {
        char const* name;
        std::size_t bytes;
    };
    std::vector<Table> const tables =
        options.tiny ? std::vector<Table>{{"256KiB", std::size_t{256} << 10}, {"64KiB", std::size_t{64} << 10}}
                     : std::vector<Table>{{"2GiB", std::size_t{2} << 30}, {"64MiB", std::size_t{64} << 20}};
    bench::Streams streams;
    for (Table const& table : tables) {
        for (std::size_t const width : {16u, 64u, 128u}) {
            bench::Data data(options, table.name, table.bytes, width);
            for (char const* distribution : {"uniform", "zipf"}) {
                for (int const threads : options.threads) {
                    bench::Suite suite(options, data, distribution, threads);
                    gather(suite);
                    scatter_add(suite);
                    if (!options.int32) {  // SelectedRows keeps its rows as int64
                        merge(suite);
                        sgd(suite);
                        adagrad(suite);
                        rowwise_adagrad(suite);
                        adam(suite);
                    }
                    suite.measure(streams);
                }
            }
        }
    }
} catch (std::exception const& error) {  // of rowan, std::regex or std::stoi
    std::cerr << "rowan_bench: " << error.what() << '\n';
    return 2;
}
