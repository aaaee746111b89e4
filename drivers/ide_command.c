/* Identity and task file: see drivers/ide_command.h. */
#include "drivers/ide_command.h"
#include "kernel/abi/errno.h"
#include "kernel/string.h"

enum {
	/* Words of IDENTIFY DEVICE */
	ID_CONFIG = 0, ID_CYLINDERS = 1, ID_HEADS = 3, ID_SECTORS = 6, ID_MODEL = 27,
	ID_MULTIPLE = 47, ID_CAPABILITIES = 49, ID_VALID = 53, ID_CURRENT = 54,
	ID_LBA28 = 60, ID_MULTIWORD = 63, ID_COMMANDS = 83, ID_ULTRA = 88, ID_LBA48 = 100,
	/* Registers */
	DEVICE_LBA = 0x40, DEVICE_FIXED = 0xa0, DEVICE_SLAVE = 0x10,
	ATA_FLUSH = 0xe7, ATA_FLUSH_EXT = 0xea,
};
#define LBA28_SECTORS	0x0fffffffu
#define LBA48_SECTORS	0x0000ffffffffffffull

/* Commands by mode, then [write][ext]. */
static const uint8_t commands[IDE_MODE_COUNT][2][2] = {
	[IDE_SINGLE]   = { { 0x20, 0x24 }, { 0x30, 0x34 } },
	[IDE_MULTIPLE] = { { 0xc4, 0x29 }, { 0xc5, 0x39 } },
	[IDE_DMA]      = { { 0xc8, 0x25 }, { 0xca, 0x35 } },
};

/* Strings come with the two bytes of each word exchanged, padded with blanks. */
static void get_model(const uint16_t *words, char *model)
{
	size_t n = IDE_MODEL_BYTES - 1;

	for (size_t i = 0; i < n; i++) {
		uint16_t w = words[ID_MODEL + i / 2];
		char c = (char)(i % 2 ? w & 0xff : w >> 8);

		model[i] = c >= ' ' && c <= '~' ? c : ' ';
	}
	while (n > 0 && model[n - 1] == ' ')
		n--;
	model[n] = '\0';
}

/* Cylinders, heads, sectors: the translation in force if the drive tells it (word 53). */
static void get_geometry(const uint16_t *words, struct ide_identity *id)
{
	const uint16_t *w = &words[ID_CURRENT];

	if (words[ID_VALID] & BIT(0) && w[0] && w[1] && w[2]) {
		id->cylinders = w[0];
		id->heads = (uint8_t)w[1];
		id->sectors_per_track = (uint8_t)w[2];
	} else {
		id->cylinders = words[ID_CYLINDERS];
		id->heads = (uint8_t)words[ID_HEADS];
		id->sectors_per_track = (uint8_t)words[ID_SECTORS];
	}
}

static sector_t get_sectors(const uint16_t *words, const struct ide_identity *id)
{
	sector_t sectors = 0;

	for (unsigned i = 0; id->lba48 && i < 4; i++)
		sectors |= (sector_t)words[ID_LBA48 + i] << (16 * i);
	if (id->lba48 && sectors)
		return MIN(sectors, LBA48_SECTORS);
	if (id->lba)
		return words[ID_LBA28] | (sector_t)words[ID_LBA28 + 1] << 16;
	return (sector_t)id->cylinders * id->heads * id->sectors_per_track;
}

/* The largest power of two that the drive allows as a block, up to IDE_MULTIPLE_MAX. */
static uint8_t get_multiple(const uint16_t *words)
{
	uint8_t max = MIN(words[ID_MULTIPLE] & 0xff, IDE_MULTIPLE_MAX), m = 1;

	while (m * 2 <= max)
		m *= 2;
	return max > 1 ? m : 0;
}

int ide_identity_parse(const uint16_t words[IDE_IDENTIFY_WORDS], struct ide_identity *id)
{
	/* Bit 15 set: ATAPI, or the signature of a CompactFlash card, which is a disk. */
	bool atapi = words[ID_CONFIG] & BIT(15) && words[ID_CONFIG] != 0x848a;
	/* Bits 15 and 14 are 0 and 1 where words 82 to 84 mean something. */
	uint16_t sets = (words[ID_COMMANDS] & 0xc000) == 0x4000 ? words[ID_COMMANDS] : 0;

	memset(id, 0, sizeof(*id));
	if (atapi)
		return -ENODEV;
	get_model(words, id->model);
	id->lba = words[ID_CAPABILITIES] & BIT(9);
	id->lba48 = id->lba && sets & BIT(10);
	get_geometry(words, id);
	id->sectors = get_sectors(words, id);
	id->multiple = get_multiple(words);
	id->dma_able = words[ID_CAPABILITIES] & BIT(8);
	id->dma = id->dma_able && (words[ID_MULTIWORD] & 0x0700 ||
		  (words[ID_VALID] & BIT(2) && words[ID_ULTRA] & 0x7f00));
	id->flush = sets & BIT(12);
	id->flush_ext = id->lba48 && sets & BIT(13);
	return id->sectors && (id->lba || id->sectors_per_track) ? OK : -ENODEV;
}

/* The drive's heads and tracks, counted as its translation has it: sectors from 1. */
static void put_chs(const struct ide_identity *id, sector_t sector, struct ide_taskfile *tf)
{
	uint32_t n = (uint32_t)sector, track = n / id->sectors_per_track;
	uint32_t cylinder = track / id->heads;

	tf->lba[0] = (uint8_t)(n % id->sectors_per_track + 1);
	tf->lba[1] = (uint8_t)cylinder;
	tf->lba[2] = (uint8_t)(cylinder >> 8);
	tf->device |= (uint8_t)(track % id->heads);
}

/*
 * Fill *tf, the registers of one command, for drive `unit` (0 or 1) of identity `id`: `op` by
 * `mode` on [sector, sector + sectors). 48-bit addresses where the drive has them and the range
 * needs them, else 28-bit ones, else cylinder, head and sector by the drive's translation; 256
 * sectors are said by 0. A flush has no address (ATA-6, 8.12 and 8.27). No locks, never sleeps.
 */
void ide_taskfile_build(const struct ide_identity *id, unsigned unit,
			enum ide_operation op, enum ide_mode mode, sector_t sector,
			uint32_t sectors, struct ide_taskfile *tf)
{
	memset(tf, 0, sizeof(*tf));
	tf->device = DEVICE_FIXED | (unit ? DEVICE_SLAVE : 0);
	if (op == IDE_FLUSH) {
		tf->command = id->flush_ext ? ATA_FLUSH_EXT : ATA_FLUSH;
		return;
	}
	tf->ext = id->lba48 && sector + sectors > LBA28_SECTORS;
	tf->command = commands[mode][op == IDE_WRITE][tf->ext];
	tf->count = (uint8_t)sectors;			/* 256 is said by 0 */
	if (!id->lba) {
		put_chs(id, sector, tf);
		return;
	}
	tf->device |= DEVICE_LBA;
	for (unsigned i = 0; i < 3; i++)
		tf->lba[i] = (uint8_t)(sector >> (8 * i));
	if (tf->ext) {
		tf->count_high = (uint8_t)(sectors >> 8);
		for (unsigned i = 0; i < 3; i++)
			tf->lba_high[i] = (uint8_t)(sector >> (24 + 8 * i));
	} else {
		tf->device |= (uint8_t)(sector >> 24 & 0x0f);
	}
}
