/* CALL_mmap and so on: the numbers of the system calls by their names. */
#ifndef TESTS_CALL_NUMBERS_H
#define TESTS_CALL_NUMBERS_H

enum {
#define X(number, name, args) CALL_##name = number,
#include "kernel/abi/syscalls.def"
#undef X
};

#endif
