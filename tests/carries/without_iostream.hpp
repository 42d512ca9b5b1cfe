// tests/carries/without_iostream.hpp: declares std::cout and the others without <iostream>, which xtensor includes and
// which has a static constructor. Any static constructor is then one of rowan's.
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
