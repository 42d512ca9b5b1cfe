// tests/progress.cpp: a listener for all test programs. If the environment has ROWAN_PROGRESS, it prints the start and
// the result of each case, in lines that begin with @@, for cases.py.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#endif

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

class progress : public Listener {
public:
    using Listener::Listener;

    void testCaseStarting(Catch::TestCaseInfo const& test) override {
        Listener::testCaseStarting(test);
        start_ = std::chrono::steady_clock::now();
        if (wanted_) std::cout << "@@start " << test.name << std::endl;
    }
    void testCaseEnded(Catch::TestCaseStats const& stats) override {
        Listener::testCaseEnded(stats);
        auto const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_);
        if (wanted_) std::cout << "\n@@end " << (stats.totals.assertions.allOk() ? "passed " : "failed ") << took.count() << std::endl;
    }

private:
    bool wanted_ = std::getenv("ROWAN_PROGRESS") != nullptr;
    std::chrono::steady_clock::time_point start_;
};

}  // namespace

CATCH_REGISTER_LISTENER(progress)
