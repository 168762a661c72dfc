// KW_ASAN and KW_TSAN: defined where AddressSanitizer or ThreadSanitizer instruments the code. g++
// and clang say so in different ways.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KW_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define KW_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define KW_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define KW_TSAN
#endif
