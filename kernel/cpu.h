/* What the CPU and the machine can do, found at boot; never assumed. */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

#include "kernel/types.h"

enum cpu_feature {
	CPU_FPU = BIT(0), CPU_PSE = BIT(1), CPU_TSC = BIT(2), CPU_FXSR = BIT(3),
	CPU_CPUID = BIT(4), CPU_PGE = BIT(5), CPU_INVLPG = BIT(6), CPU_WP = BIT(7),
	CPU_SSE = BIT(8),
};
extern uint32_t cpu_features;
extern char cpu_name[49];

void cpu_init(void);
extern uint32_t cpu_family;		/* 4, 5, 6, ... */
static inline bool cpu_has(enum cpu_feature f) { return (cpu_features & f) != 0; }

static inline void outb(uint16_t port, uint8_t v)
{ __asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port)); }
static inline void outw(uint16_t port, uint16_t v)
{ __asm__ volatile("outw %0, %1" : : "a"(v), "Nd"(port)); }
static inline void outl(uint16_t port, uint32_t v)
{ __asm__ volatile("outl %0, %1" : : "a"(v), "Nd"(port)); }
static inline uint8_t inb(uint16_t port)
{ uint8_t v; __asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port)); return v; }
static inline uint16_t inw(uint16_t port)
{ uint16_t v; __asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port)); return v; }
static inline uint32_t inl(uint16_t port)
{ uint32_t v; __asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port)); return v; }
static inline void insw(uint16_t port, void *to, size_t words)
{ __asm__ volatile("rep insw" : "+D"(to), "+c"(words) : "d"(port) : "memory"); }
static inline void outsw(uint16_t port, const void *from, size_t words)
{ __asm__ volatile("rep outsw" : "+S"(from), "+c"(words) : "d"(port) : "memory"); }
static inline uint64_t rdtsc(void)
{ uint64_t v; __asm__ volatile("rdtsc" : "=A"(v)); return v; }

/*
 * FPU, lazily: the state stays in the CPU until another thread uses it.
 */
struct thread;
void fpu_init(void);
extern struct thread *fpu_user;		/* whom CR0.TS lets use the FPU; NULL: nobody */
void fpu_disable(void);			/* the next use traps; on the way to user mode */
void fpu_trap(void);			/* device not available, from user mode */
int  fpu_copy(struct thread *to, struct thread *from);	/* fork; -ENOMEM */
void fpu_free(struct thread *t);
void fpu_reset(struct thread *t);	/* exec: next use starts clean */

#endif
