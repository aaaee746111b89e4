/*
 * Finding IDE: the channels by PCI or at their ISA ports, the drives by asking. A channel
 * without drives floats (0xff) or reads as 0; an absent slave's registers are answered by
 * the master, with a status of 0. Everything here polls, with limits, and interrupts off at
 * the drive.
 */
#include "drivers/ide.h"
#include "drivers/pci.h"
#include "kernel/abi/errno.h"
#include "kernel/cpu.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/trap.h"

PARAM_STRING(ide_param, "ide", "dma");

enum {
	IDE_BUSY_US = 5000000,		/* a drive that still comes up */
	IDE_SETUP_US = 500000,
	IDE_DRQ_US = 100000,
	STATUS_FLOATING = 0xff,
	PCI_CLASS_STORAGE = 0x01, PCI_SUBCLASS_IDE = 0x01,
	PROG_IF_BUS_MASTER = 0x80, BM_SIMPLEX = 0x80,
	DEVICE_BITS = 0xa0,		/* 1 in old drives, ignored by new ones */
};

static const struct { uint16_t command, control; unsigned irq; } legacy[IDE_CHANNELS] = {
	{ 0x1f0, 0x3f6, 14 }, { 0x170, 0x376, 15 },
};
/* No table may cross a 64 KiB boundary. */
static struct ide_prd prd_tables[IDE_CHANNELS][IDE_PRD_MAX]
	__attribute__((aligned(sizeof(struct ide_prd) * IDE_PRD_MAX)));

/* ---- Small steps ---- */

bool ide_wait(const struct ide_channel *ch, uint8_t mask, uint8_t value, uint32_t us)
{
	for (uint32_t i = 0; i < us; i++) {
		if ((inb(ch->control) & mask) == value)
			return true;
		delay_us(1);
	}
	return false;
}

/* Each read of the alternate status takes 100 ns at least. */
void ide_settle(const struct ide_channel *ch)
{
	for (unsigned i = 0; i < 4; i++)
		(void)inb(ch->control);
}

static void put(const struct ide_channel *ch, unsigned reg, uint8_t value)
{
	outb((uint16_t)(ch->command + reg), value);
}

static uint8_t get(const struct ide_channel *ch, unsigned reg)
{
	return inb((uint16_t)(ch->command + reg));
}

static uint8_t device_bits(const struct ide_drive *d)
{
	return (uint8_t)(DEVICE_BITS | d->unit << 4);
}

/* A command without data. True if the drive took it. */
static bool simple_command(const struct ide_channel *ch, uint8_t command)
{
	put(ch, IDE_COMMAND, command);
	ide_settle(ch);
	return ide_wait(ch, STATUS_BUSY, 0, IDE_SETUP_US) &&
	       !(get(ch, IDE_STATUS) & (STATUS_ERROR | STATUS_FAULT));
}

void ide_drive_setup(struct ide_drive *d)
{
	struct ide_channel *ch = d->channel;

	put(ch, IDE_DEVICE, device_bits(d));
	ide_settle(ch);
	if (!d->id.lba) {
		put(ch, IDE_COUNT, d->id.sectors_per_track);
		put(ch, IDE_DEVICE, (uint8_t)(device_bits(d) | (d->id.heads - 1)));
		if (!simple_command(ch, ATA_INIT_PARAMETERS))
			printk("ide: %s: keeps a geometry of its own\n", d->name);
	}
	if (d->id.multiple) {
		put(ch, IDE_COUNT, d->id.multiple);
		if (!simple_command(ch, ATA_SET_MULTIPLE))
			d->id.multiple = 0;
	}
}

/* ---- Drives ---- */

/* True if something answers at the drive's registers. */
static bool answers(const struct ide_channel *ch, const struct ide_drive *d)
{
	put(ch, IDE_DEVICE, device_bits(d));
	ide_settle(ch);
	if (inb(ch->control) == STATUS_FLOATING ||
	    !ide_wait(ch, STATUS_BUSY, 0, IDE_BUSY_US))
		return false;
	put(ch, IDE_COUNT, 0x55);
	put(ch, IDE_LBA0, 0xaa);
	return get(ch, IDE_COUNT) == 0x55 && get(ch, IDE_LBA0) == 0xaa;
}

/* The signature of a packet device: 14 EB, or 69 96 behind a SATA bridge. */
static bool is_packet(const struct ide_channel *ch)
{
	unsigned signature = get(ch, IDE_LBA1) | (unsigned)get(ch, IDE_LBA2) << 8;

	return signature == 0xeb14 || signature == 0x9669;
}

/* Ask the drive who it is. -ENODEV: nobody, or no disk (a packet device is named). */
static int identify(struct ide_channel *ch, struct ide_drive *d)
{
	uint16_t words[IDE_IDENTIFY_WORDS];

	if (!answers(ch, d))
		return -ENODEV;
	put(ch, IDE_COMMAND, ATA_IDENTIFY);
	ide_settle(ch);
	if (inb(ch->control) == 0)
		return -ENODEV;
	if (!ide_wait(ch, STATUS_BUSY, 0, IDE_BUSY_US)) {
		printk("ide: %s: doesn't answer to IDENTIFY\n", d->name);
		return -ENODEV;
	}
	if (get(ch, IDE_STATUS) & (STATUS_ERROR | STATUS_FAULT)) {
		if (is_packet(ch))
			printk("ide: %s: a packet device (CD-ROM), left alone\n", d->name);
		return -ENODEV;
	}
	if (!ide_wait(ch, STATUS_DRQ, STATUS_DRQ, IDE_DRQ_US))
		return -ENODEV;
	insw((uint16_t)(ch->command + IDE_DATA), words, IDE_IDENTIFY_WORDS);
	(void)get(ch, IDE_STATUS);
	if (ide_identity_parse(words, &d->id) == OK)
		return OK;
	printk("ide: %s: not a disk that can be used\n", d->name);
	return -ENODEV;
}

/* DMA needs a bus master, a drive that can, and a transfer mode that both agreed on: the
 * BIOS chose it, in the drive or by the drive's bit in the bus master. A simplex bus
 * master can serve one channel at a time, and that is the first. */
static bool choose_dma(const struct ide_channel *ch, const struct ide_drive *d)
{
	uint8_t status;

	if (!ch->bus_master || strcmp(ide_param, "pio") == 0)
		return false;
	status = inb((uint16_t)(ch->bus_master + BM_STATUS));
	if (status & BM_SIMPLEX && ch->number > 0)
		return false;
	return d->id.dma || (d->id.dma_able && status & (BM_DRIVE0_DMA << d->unit));
}

static void probe_drive(struct ide_channel *ch, unsigned unit)
{
	struct ide_drive *d = &ch->drives[unit];
	struct block_dev *disk;

	d->channel = ch;
	d->unit = unit;
	ksnprintf(d->name, sizeof(d->name), "hd%c", (int)('a' + ch->number * IDE_UNITS + unit));
	if (identify(ch, d) != OK)
		return;
	ide_drive_setup(d);
	disk = block_add_disk(d->name, d->id.sectors, &ide_ops, d);
	if (!disk) {
		printk("ide: %s: no memory for it\n", d->name);
		return;
	}
	d->queue = disk->queue;
	d->dma = d->queue->dma = choose_dma(ch, d);
	printk("ide: %s: %s, %llu sectors (%llu MiB), %s, %s, block %u\n", d->name,
	       d->id.model, (unsigned long long)d->id.sectors,
	       (unsigned long long)(d->id.sectors >> 11),
	       d->id.lba48 ? "LBA48" : d->id.lba ? "LBA28" : "CHS",
	       d->dma ? "DMA" : "PIO", d->id.multiple ? d->id.multiple : 1);
}

/* ---- Channels ---- */

/* Ports and line of a channel: those of the PC, unless PCI moved them. */
static void find_channel(struct ide_channel *ch, const struct pci_device *pci)
{
	unsigned n = ch->number;
	uint16_t bus_master;

	ch->command = legacy[n].command;
	ch->control = legacy[n].control;
	ch->irq = legacy[n].irq;
	if (!pci)
		return;
	if (pci->prog_if & BIT(2 * n)) {		/* native mode */
		ch->command = pci_io_base(pci, 2 * n);
		ch->control = (uint16_t)(pci_io_base(pci, 2 * n + 1) + 2);
		ch->irq = pci_read8(pci, PCI_INTERRUPT_LINE);
	}
	bus_master = pci->prog_if & PROG_IF_BUS_MASTER ? pci_io_base(pci, 4) : 0;
	if (bus_master)
		ch->bus_master = (uint16_t)(bus_master + 8 * n);
}

static void probe_channel(struct ide_channel *ch)
{
	outb(ch->control, CONTROL_NO_INTERRUPT);
	for (unsigned unit = 0; unit < IDE_UNITS; unit++)
		probe_drive(ch, unit);
	if (!ch->drives[0].queue && !ch->drives[1].queue)
		return;
	if (irq_register(ch->irq, ide_interrupt, ch) != OK)
		panic("ide: no room for interrupt %u", ch->irq);
	irq_unmask(ch->irq);
	outb(ch->control, 0);
}

/* Find channels and drives and enter the disks. Boot only; sleeps (for memory). */
void ide_init(void)
{
	const struct pci_device *pci = pci_find_class(PCI_CLASS_STORAGE, PCI_SUBCLASS_IDE, 0);

	if (strcmp(ide_param, "dma") != 0 && strcmp(ide_param, "pio") != 0)
		printk("ide: ide=%s is neither dma nor pio, using dma\n", ide_param);
	if (pci)
		pci_enable_bus_master(pci);
	for (unsigned n = 0; n < IDE_CHANNELS; n++) {
		struct ide_channel *ch = &ide_channels[n];

		ch->number = n;
		ch->state = IDE_IDLE;
		ch->prd = prd_tables[n];
		timer_init(&ch->timer, ide_timer);
		find_channel(ch, pci);
		probe_channel(ch);
	}
}
