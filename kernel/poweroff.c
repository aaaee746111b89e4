/*
 * The end of a run: the report (docs/formats.md, "Lines out of the machine"), then off.
 * Emulators end when a port is written: QEMU's exit device at 0xf4, the ACPI register
 * that QEMU's pc has at 0x604, and the one of Bochs and older QEMUs at 0xb004.
 */
#include "drivers/block.h"
#include "kernel/console.h"
#include "kernel/counters.h"
#include "kernel/cpu.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/sample.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/reclaim.h"

enum {
	PORT_EXIT = 0xf4, PORT_ACPI = 0x604, PORT_ACPI_OLD = 0xb004,
	ACPI_SLEEP_NOW = 0x2000,
	STATUS_MASK = 0xff,
};

static void time_report(void)
{
	ns_t user = cpu_time_ns(CPU_USER), kswapd = kswapd_time_ns();
	ns_t system = cpu_time_ns(CPU_SYSTEM) - kswapd;		/* all threads', so his too */

	report("@time elapsed %llu\n", (unsigned long long)clock_ns());
	report("@time user %llu\n", (unsigned long long)user);
	report("@time system %llu\n", (unsigned long long)system);
	report("@time kswapd %llu\n", (unsigned long long)kswapd);
	report("@time idle %llu\n", (unsigned long long)idle_time_ns());
}

void machine_poweroff(int status)
{
	printk("Swap cache: add %llu, delete %llu, find %llu/%llu\n", counters[COUNT_swap_cache_add],
	       counters[COUNT_swap_cache_delete], counters[COUNT_swap_cache_find_success],
	       counters[COUNT_swap_cache_find_total]);
	printk("power off, status %d\n", status);
	irq_off();			/* the report is about one moment */
	report("@report begin\n");
	report("@exit %d\n", status & STATUS_MASK);
	report("@cause %s\n", counters[COUNT_oom_kill] != 0 ? "oom" : "exit");
	sample_report();
	time_report();
	param_report();
	counters_report();
	block_report();
	trace_report();
	report("@report end\n");
	console_flush();

	outl(PORT_EXIT, 0);
	outw(PORT_ACPI, ACPI_SLEEP_NOW);
	outw(PORT_ACPI_OLD, ACPI_SLEEP_NOW);
	machine_halt(0);
}

void machine_halt(int status)
{
	console_flush();
	outl(PORT_EXIT, (uint32_t)status);
	for (;;)
		__asm__ volatile("cli; hlt");
}
