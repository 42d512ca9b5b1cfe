// tests/libraries/program.cpp: program local|global LIBRARY...: nets of each library get gradients and run in each library, with the same results.
// The libraries' symbols are local, as those of Python's modules, or global.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Library {
    bool (*is_compiled)();
    void* (*make_net)();
    char const* (*differentiate_net)(void*);
    char const* (*run_net)(void*);
    void (*drop_net)(void*);
};

template <class F>
void find(void* library, char const* name, F*& function) {
    function = reinterpret_cast<F*>(dlsym(library, name));
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Library> all;
    for (int i = 2; i < argc; ++i) {
        void* const library = dlopen(argv[i], RTLD_NOW | (*argv[1] == 'g' ? RTLD_GLOBAL : RTLD_LOCAL));
        if (library == nullptr) {
            std::puts(dlerror());
            return 1;
        }
        Library& one = all.emplace_back();
        find(library, "is_compiled", one.is_compiled);
        find(library, "make_net", one.make_net);
        find(library, "differentiate_net", one.differentiate_net);
        find(library, "run_net", one.run_net);
        find(library, "drop_net", one.drop_net);
    }
    std::string first;
    int wrong = 0;
    for (Library const& maker : all) {
        for (Library const& other : all) {
            for (Library const& runner : all) {
                void* const net = maker.make_net();
                std::string text = other.differentiate_net(net);
                if (maker.is_compiled() && !other.is_compiled()) {
                    if (!text.starts_with("this library has no operator ")) ++wrong;
                    maker.drop_net(net);
                    continue;
                }
                if (text.empty()) text = runner.run_net(net);
                if (first.empty()) {
                    first = text;
                    if (first.find("0.25") == std::string::npos) ++wrong;  // rows 0, 2 and 3 of the table
                }
                if (text != first) ++wrong;
                std::printf("made by %zd, differentiated by %zd, run by %zd: %s\n", &maker - all.data(), &other - all.data(), &runner - all.data(), text.c_str());
                maker.drop_net(net);
            }
        }
    }
    return wrong == 0 && all.size() > 1 ? 0 : 1;
}
