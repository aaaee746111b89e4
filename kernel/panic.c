/*
 * Panic: the cause, the registers, the call chain, the end of the trace ring; then the
 * machine stops. A fault while this is being printed stops it at once.
 *
 * Function names come from the table that tools/mksyms makes of the kernel's own
 * symbols: symbol_addresses[symbol_count], rising, and the names in the same order.
 */
#include "kernel/panic.h"
#include "kernel/console.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "kernel/trap.h"
#include "mm/pgtable.h"

enum {
	BACKTRACE_INNER = 20, BACKTRACE_OUTER = 12,
	FRAMES_MAX = KSTACK_BYTES / 8,		/* the smallest frame is two words */
	TRACE_LAST = 32, CAUSE_BYTES = 200, PANIC_STATUS = 1,
};

extern const uint32_t symbol_count;
extern const uint32_t symbol_addresses[];
extern const char symbol_names[];
extern char text_start[], text_end[];

static unsigned panics;			/* how deep we are in it */
static char first_cause[CAUSE_BYTES];

bool panicking(void)
{
	return panics != 0;
}

static bool in_text(uint32_t addr)
{
	return addr >= (uint32_t)(uintptr_t)text_start && addr < (uint32_t)(uintptr_t)text_end;
}

const char *symbol_find(uint32_t addr, uint32_t *offset)
{
	const char *name = symbol_names;
	uint32_t low = 0, high = symbol_count;

	if (!in_text(addr) || symbol_count == 0 || addr < symbol_addresses[0])
		return NULL;
	while (high - low > 1) {	/* symbol_addresses[low] <= addr < [high] */
		uint32_t middle = low + (high - low) / 2;

		if (symbol_addresses[middle] <= addr)
			low = middle;
		else
			high = middle;
	}
	*offset = addr - symbol_addresses[low];
	for (uint32_t i = 0; i < low; i++)
		name += strlen(name) + 1;
	return name;
}

enum place { PLACE_EXACT, PLACE_RETURN };

/* A call that doesn't return may be the last instruction of its function: the return
 * address is then named by the byte before it. */
static void print_place(uint32_t addr, enum place kind)
{
	uint32_t offset, back = kind == PLACE_RETURN;
	const char *name = symbol_find(addr - back, &offset);

	if (name != NULL)
		printk("  0x%08x %s+%#x\n", addr, name, offset + back);
	else
		printk("  0x%08x\n", addr);
}

/* The frame that called the one at `ebp`; 0 at the end of the chain. A frame is [ebp] =
 * the caller's ebp, [ebp + 4] = where it goes on. Only words inside mapped kernel stacks
 * are read, so a broken chain ends the list and nothing else. */
static uint32_t frame_next(uint32_t ebp)
{
	uint32_t next = *(const uint32_t *)(uintptr_t)ebp;

	return next > ebp ? next : 0;	/* frames lie towards the top of the stack */
}

static bool frame_readable(uint32_t ebp)
{
	return (ebp & 3) == 0 && kstack_contains(ebp) && kstack_contains(ebp + 4);
}

/* A deep chain, as after a stack overflow, is shown by its two ends. */
void backtrace(uint32_t ebp)
{
	unsigned depth = 0, i = 0;

	for (uint32_t e = ebp; frame_readable(e) && depth < FRAMES_MAX; e = frame_next(e))
		depth++;
	for (uint32_t e = ebp; i < depth; e = frame_next(e), i++) {
		uint32_t back = ((const uint32_t *)(uintptr_t)e)[1];

		if (i == BACKTRACE_INNER && depth > BACKTRACE_INNER + BACKTRACE_OUTER)
			printk("  ... %u more ...\n", depth - BACKTRACE_INNER - BACKTRACE_OUTER);
		if ((i < BACKTRACE_INNER || i + BACKTRACE_OUTER >= depth) && back != 0)
			print_place(back, PLACE_RETURN);
	}
}

static void print_registers(const struct trap_frame *tf)
{
	uint32_t cr2, cr3;
	uint32_t esp = trap_from_user(tf) || tf->esp_unused == 0 ?
		tf->esp : (uint32_t)(uintptr_t)&tf->esp;

	__asm__ volatile("movl %%cr2, %0; movl %%cr3, %1" : "=r"(cr2), "=r"(cr3));
	printk("eax %08x  ebx %08x  ecx %08x  edx %08x\n", tf->eax, tf->ebx, tf->ecx, tf->edx);
	printk("esi %08x  edi %08x  ebp %08x  esp %08x\n", tf->esi, tf->edi, tf->ebp, esp);
	printk("eip %08x  cs %04x  eflags %08x  error %x  vector %u  cr2 %08x  cr3 %08x\n",
	       tf->eip, tf->cs, tf->eflags, tf->error, tf->vector, cr2, cr3);
}

/* Everything after the first line. `tf` may be NULL. */
static void print_rest(const struct trap_frame *tf, uint32_t ebp)
{
	printk("thread %s\n", current != NULL ? current->name : "boot");
	if (tf != NULL)
		print_registers(tf);
	printk("BACKTRACE\n");
	if (tf != NULL && !trap_from_user(tf)) {
		print_place(tf->eip, PLACE_EXACT);
		if (!in_text(tf->eip) && tf->esp_unused != 0)	/* a call to nowhere */
			print_place(tf->esp, PLACE_RETURN);
		ebp = tf->ebp;
	}
	backtrace(ebp);
	printk("TRACE\n");
	trace_dump(TRACE_LAST);
}

static NORETURN void panic_print(const struct trap_frame *tf, uint32_t ebp,
				 const char *fmt, va_list ap)
{
	char cause[CAUSE_BYTES];
	unsigned before = panics++;

	__asm__ volatile("cli");
	if (before < 2)
		kvsnprintf(cause, sizeof(cause), fmt, ap);
	switch (before) {
	case 0:
		memcpy(first_cause, cause, sizeof(first_cause));
		printk("\nPANIC: %s\n", cause);
		print_rest(tf, ebp);
		break;
	case 1:
		printk("PANIC in panic: %s\n", cause);
		if (tf != NULL)
			print_place(tf->eip, PLACE_EXACT);
		break;
	default:
		break;		/* even printing fails: just stop */
	}
	report("@panic %s\n", first_cause);
	machine_halt(PANIC_STATUS);
}

void panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	panic_print(NULL, (uint32_t)(uintptr_t)__builtin_frame_address(0), fmt, ap);
}

void panic_trap(const struct trap_frame *tf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	panic_print(tf, (uint32_t)(uintptr_t)__builtin_frame_address(0), fmt, ap);
}
