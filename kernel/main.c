/*
 * From boot/start.asm to the first program. The list below is the order in which the
 * kernel comes to be, with what each step needs or makes possible.
 */
#include "drivers/block.h"
#include "kernel/boot.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/file.h"
#include "kernel/main.h"
#include "kernel/param.h"
#include "kernel/sample.h"
#include "kernel/stream.h"
#include "kernel/printk.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "kernel/trap.h"
#include "mm/audit.h"
#include "mm/frame.h"
#include "mm/pgtable.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/swap/map.h"

static void boot_log(void)
{
	uint32_t kib = 0;

	for (unsigned i = 0; i < boot.ram_count; i++)
		kib += (boot.ram[i].end - boot.ram[i].start) >> 10;
	printk("boot: %u KiB of RAM in %u ranges, kernel [%#x, %#x), %u modules\n", kib,
	       boot.ram_count, boot.kernel_start, boot.kernel_end, boot.module_count);
	if (boot.cmdline[0] != 0)
		printk("boot: parameters: %s\n", boot.cmdline);
}

/* Called once by boot/start.asm: 4 MiB mapped, interrupts off, faults are told. */
void kernel_main(uint32_t magic, uint32_t info)
{
	console_early_init();		/* first: from here on we can speak          */
	printk("Clockhand, %s\n", rmap_name);
	boot_read(magic, info);		/* before anything overwrites it             */
	boot_log();
	param_parse(boot.cmdline);	/* before anything that reads a parameter    */
	console_settings();		/* log=, console=                            */
	swap_map_init();		/* swap.map=, before the clock runs          */
	sample_init();			/* sample.ms=, the same                      */
	stream_init();			/* trace.stream=, the same                   */
	cpu_init();			/* the linear map asks for 4 MiB pages       */
	trap_init();			/* interrupt controllers, all lines masked   */

	linear_map_init();		/* all of RAM can be touched                 */
	frame_init(boot.ram, boot.ram_count, boot.first_free);
	mm_init();			/* slab, objects, zero page, reclaim policy  */

	sched_init();			/* we are a thread now, and may sleep ...    */
	trace_init();			/* ... and allocate: the big ring            */
	time_init();			/* the clock and timers                      */
	__asm__ volatile("sti");

	console_init();			/* keyboard and serial input                 */
	file_init();			/* the console as a file                     */
	task_init();
	block_init();			/* disks and partitions: needs interrupts    */
	swap_init();			/* areas on them                             */
	kswapd_start();
	task_start_proc();		/* the first program; it runs when we idle   */
	sched_idle();
}
