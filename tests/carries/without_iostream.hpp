// tests/carries/without_iostream.hpp: std::cout and the others without the static constructor that <iostream>, which xtensor includes, brings
// into every file, so that one of rowan's would be the only one.
#pragma once

#if __has_include(<bits/c++config.h>)  // GNU's library
#include <ostream>
#ifndef _GLIBCXX_IOSTREAM
#define _GLIBCXX_IOSTREAM 1
namespace std {
extern ostream cout, cerr, clog;
}
#endif
#endif
