/* The stress test in the guest: what its processes share, and the machine below them. */
#ifndef STRESS_GUEST_H
#define STRESS_GUEST_H

#include <stdint.h>

struct process;

/* The named objects, the page that all processes see, the swap areas' names. Once. */
void guest_start(void);
/* This process and its descendants have the indices [first, end). */
void guest_indices(uint32_t first, uint32_t end);
/* The disk may lose pages: this process's own memory is locked, and to die of SIGBUS is right. */
void guest_lossy(void);
int guest_ended_well(int status);
/* Wait for all children; ends the run if one had found something. */
void guest_wait_children(void);
/* What this process did is added to the sum of all, which is printed at the end. */
void guest_add_done(const struct process *p);
void guest_print_done(void);
/* How far each process came: for one that was killed. */
void guest_print_steps(void);
unsigned guest_audit(void);
/* Use more memory than there is for a while. */
void guest_push_out(void);
/* A word that all see, which only grows. */
void guest_set_word(uint32_t value);
void guest_wait_for_word(uint32_t value);

#endif
