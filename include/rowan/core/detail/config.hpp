// rowan/core/detail/config.hpp: macros.
#pragma once

#include <rowan/version.hpp>

/// Its arguments as a string literal, after macro expansion.
#define ROWAN_STRING(...) ROWAN_STRING_OF(__VA_ARGS__)
#define ROWAN_STRING_OF(...) #__VA_ARGS__

/// As #error, but expands macros in the text.
#define ROWAN_ERROR(...) _Pragma(ROWAN_STRING(GCC error ROWAN_STRING(__VA_ARGS__)))

/// Marks functions that both host and device code may call.
#ifdef __CUDACC__
#define ROWAN_HD __host__ __device__
#else
#define ROWAN_HD
#endif

/// Marks small functions that must be inlined into inner loops for performance.
#define ROWAN_INLINE [[gnu::always_inline]] inline

/// The same for functions that both host and device code may call.
#define ROWAN_HD_INLINE ROWAN_INLINE ROWAN_HD

/// Placed after the parameters of a lambda that must be inlined.
#define ROWAN_INLINED __attribute__((always_inline))

/// Marks inline functions whose static variables are one for all libraries of the process, also with hidden symbols.
#define ROWAN_SHARED [[gnu::visibility("default")]]

/// Placed before a ROWAN_HD template that is host-only for some template arguments, such as SIMD registers: nvcc does
/// not check which functions it calls.
#ifdef __NVCC__
#define ROWAN_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define ROWAN_NO_EXEC_CHECK
#endif

/// Begins a function of elements for the host and for devices. For element types of the user it may be host-only.
#define ROWAN_KERNEL ROWAN_NO_EXEC_CHECK ROWAN_HD

/// Begins a formula on V, a register of lanes or a number, for the host and for devices:
///     ROWAN_FORMULA V twice(V const& x) { return x + x; }
#define ROWAN_FORMULA                      \
    ROWAN_NO_EXEC_CHECK template <class V> \
    ROWAN_HD_INLINE

/// By default the library is header-only. If ROWAN_COMPILED is defined, as by the target rowan::compiled, headers only
/// declare non-template functions and the template instances listed with ROWAN_TEMPLATE; the compiled library defines
/// them.
///
/// A header x.hpp with non-template functions declares them and includes x_inl.hpp at its end, which defines them
/// within `#if ROWAN_DEFINES_FUNCTIONS` as `ROWAN_FUNCTION R f() { … }`. Where they are those of a class that no program
/// names, they may stand beside it, in its header, which is included in that place.
///
/// Functions that most programs do not call are declared with ROWAN_IF_CALLED and defined with ROWAN_CALLED_FUNCTION: if
/// header-only, they are templates, of which the compiler makes nothing for a program that does not call them.
///
/// After them, ROWAN_RARE marks what runs once for a net, a file or an error: the compiler makes its code small, which
/// takes less time.
#ifdef __CUDACC__  // nvcc warns of attributes of a template that was declared before
#define ROWAN_RARE
#else
#define ROWAN_RARE __attribute__((cold))
#endif
#ifdef ROWAN_COMPILED
#ifdef ROWAN_BLAS
#error "rowan::compiled has its own matrix product: link either rowan::blas or rowan::compiled"
#endif
#define ROWAN_DEFINES_FUNCTIONS 0
#define ROWAN_FUNCTION
#define ROWAN_IF_CALLED
#define ROWAN_CALLED_FUNCTION
#define ROWAN_TEMPLATE(...) extern template __VA_ARGS__;
#else
#define ROWAN_DEFINES_FUNCTIONS 1
#define ROWAN_FUNCTION inline
#define ROWAN_IF_CALLED template <class = void>
#define ROWAN_CALLED_FUNCTION template <class>
#define ROWAN_TEMPLATE(...)
#endif

/// Whether layers and nets include the declarations of operators alone, whose kernels the compiled library has.
#if defined(ROWAN_COMPILED) && !defined(ROWAN_COMPILING_OPERATORS)
#define ROWAN_DECLARES_OPERATORS 1
#else
#define ROWAN_DECLARES_OPERATORS 0
#endif

// What the linker says about a program whose parts do not go together: these names. See rowan/errors.md.
extern "C" {
#ifdef ROWAN_COMPILED
extern char const rowan_needs_compiled_o__see_README;  // compiled.cpp defines it
[[gnu::used, gnu::visibility("hidden")]] inline char const* const rowan_compiled_o =
    &rowan_needs_compiled_o__see_README;
#endif
// A name that some files know as one thread's and others as the process's: GNU ld and gold refuse it.
#ifdef ROWAN_COMPILED
[[gnu::used, gnu::visibility("hidden")]] inline thread_local char rowan_files_with_and_without_ROWAN_COMPILED = 0;
#else
[[gnu::used, gnu::visibility("hidden")]] inline char rowan_files_with_and_without_ROWAN_COMPILED = 0;
#endif
#ifdef _GLIBCXX_DEBUG
[[gnu::used, gnu::visibility("hidden")]] inline thread_local char rowan_files_with_and_without_GLIBCXX_DEBUG = 0;
#else
[[gnu::used, gnu::visibility("hidden")]] inline char rowan_files_with_and_without_GLIBCXX_DEBUG = 0;
#endif
}
