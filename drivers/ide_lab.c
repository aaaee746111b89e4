/*
 * The lab's recipe (docs/formats.md, "The lab clock"): a command is done from start to end
 * while the lab clock stands still, whatever time the host takes. No timer is armed, so
 * that a halted CPU waits for the drive and not for the next tick; all other interrupt
 * lines are masked, so that only the drive can end the halt; and nothing is polled while
 * the host works on the command, so that the same instructions run every time.
 */
#include "drivers/ide.h"
#include "kernel/cpu.h"

enum {
	PIC_MASTER_MASK = 0x21, PIC_SLAVE_MASK = 0xa1,
	PIC_CASCADE = 2, PIC_LINES = 8,
	LAB_RESET_US = 31000000,	/* as IDE_RESET_NS */
};

/* Interrupt lines masked before the recipe, to be masked after it. */
struct pic_masks {
	uint8_t master, slave;
};

static struct pic_masks mask_all_but(unsigned irq)
{
	struct pic_masks old = { inb(PIC_MASTER_MASK), inb(PIC_SLAVE_MASK) };
	uint16_t open = (uint16_t)(BIT(irq) | (irq >= PIC_LINES ? BIT(PIC_CASCADE) : 0));

	outb(PIC_MASTER_MASK, (uint8_t)~open);
	outb(PIC_SLAVE_MASK, (uint8_t)(~open >> 8));
	return old;
}

static void restore_masks(struct pic_masks old)
{
	outb(PIC_MASTER_MASK, old.master);
	outb(PIC_SLAVE_MASK, old.slave);
}

/* Halt until the drive interrupts. Without a timer nothing else bounds this wait: in the
 * lab the drive is QEMU's, which always answers, and the runner has a limit of its own. */
static void wait_interrupt(struct ide_channel *ch)
{
	while (!ch->interrupted)
		__asm__ volatile("sti; hlt; cli" : : : "memory");
	ch->interrupted = false;
}

enum ide_progress ide_lab_command(struct ide_channel *ch)
{
	struct pic_masks old;
	enum ide_progress p;

	lab_recipe_begin();
	old = mask_all_but(ch->irq);
	ch->interrupted = false;
	p = ide_command_start(ch);
	while (p == IDE_MORE) {
		wait_interrupt(ch);
		if (ide_command_due(ch))
			p = ide_command_continue(ch);
	}
	if (p == IDE_DONE)
		ide_model(ch);		/* the CPU's time isn't the drive's either */
	restore_masks(old);
	lab_recipe_end();
	return p;
}

bool ide_lab_reset(struct ide_channel *ch)
{
	bool ready;

	lab_recipe_begin();
	ide_reset_begin(ch);
	delay_us(2000);				/* BSY is valid from then on */
	ready = ide_wait(ch, STATUS_BUSY, 0, LAB_RESET_US);
	if (ready)
		ide_reset_end(ch);
	lab_recipe_end();
	return ready;
}
