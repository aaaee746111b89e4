/*
 * What IDENTIFY says, and the registers of commands.
 * links: drivers/ide_command.c mm/frame.c mm/page.c
 */
#include <string.h>

#include "drivers/ide_command.h"
#include "kernel/abi/errno.h"
#include "shim.h"

static uint16_t words[IDE_IDENTIFY_WORDS];
static struct ide_identity id;
static struct ide_taskfile tf;

/* A drive of 1999: LBA28, 20 sectors a block at most, multiword DMA chosen. */
static void lba28_drive(void)
{
	memset(words, 0, sizeof(words));
	words[1] = 16383;
	words[3] = 16;
	words[6] = 63;
	for (unsigned i = 0; i < 20; i++)
		words[27 + i] = 0x2020;
	words[27] = 'Q' << 8 | 'U';
	words[28] = 'A' << 8 | 0x01;
	words[47] = 0x8014;
	words[49] = BIT(9) | BIT(8);
	words[60] = 0x5678;
	words[61] = 0x0123;
	words[63] = 0x0407;
}

static void test_identify(void)
{
	lba28_drive();
	CHECK(ide_identity_parse(words, &id) == OK);
	CHECK(id.sectors == 0x01235678 && id.lba && !id.lba48 && id.dma && !id.flush);
	CHECK(id.multiple == 16 && strcmp(id.model, "QUA") == 0);
	words[63] = 0x0007;
	CHECK(ide_identity_parse(words, &id) == OK && !id.dma && id.dma_able);
	words[83] = 0x4000 | BIT(10) | BIT(12) | BIT(13);
	words[100] = 0x1111;
	words[102] = 1;
	CHECK(ide_identity_parse(words, &id) == OK && id.lba48 && id.flush && id.flush_ext);
	CHECK(id.sectors == 0x0000000100001111ull);
	words[83] |= 0x8000;			/* not valid then */
	CHECK(ide_identity_parse(words, &id) == OK && !id.lba48 && id.sectors == 0x01235678);
	tap_checks("host-ide-01", "a drive's size, modes and name are read from its words");

	lba28_drive();
	words[49] = 0;
	CHECK(ide_identity_parse(words, &id) == OK && !id.lba && id.heads == 16);
	CHECK(id.sectors == 16383 * 16 * 63);
	words[53] = 1;
	words[54] = 500;
	words[55] = 32;
	words[56] = 50;
	CHECK(ide_identity_parse(words, &id) == OK && id.sectors == 500 * 32 * 50);
	words[47] = 0x8001;
	CHECK(ide_identity_parse(words, &id) == OK && id.multiple == 0);
	words[53] = words[6] = 0;
	CHECK(ide_identity_parse(words, &id) == -ENODEV);
	lba28_drive();
	words[0] = 0x8580;
	CHECK(ide_identity_parse(words, &id) == -ENODEV);
	tap_checks("host-ide-02", "geometry without LBA; a packet device is no disk");
}

static void test_registers(void)
{
	lba28_drive();
	CHECK(ide_identity_parse(words, &id) == OK);
	ide_taskfile_build(&id, 1, IDE_READ, IDE_DMA, 0x0a234567, 256, &tf);
	CHECK(tf.command == 0xc8 && tf.device == 0xfa && tf.count == 0 && !tf.ext);
	CHECK(tf.lba[0] == 0x67 && tf.lba[1] == 0x45 && tf.lba[2] == 0x23);
	ide_taskfile_build(&id, 0, IDE_WRITE, IDE_MULTIPLE, 5, 9, &tf);
	CHECK(tf.command == 0xc5 && tf.device == 0xe0 && tf.count == 9);
	ide_taskfile_build(&id, 0, IDE_FLUSH, IDE_SINGLE, 0, 0, &tf);
	CHECK(tf.command == 0xe7);
	tap_checks("host-ide-03", "LBA28 registers");

	id.lba48 = id.flush_ext = true;
	ide_taskfile_build(&id, 0, IDE_WRITE, IDE_DMA, 0x0fffff00, 0xff, &tf);
	CHECK(!tf.ext && tf.command == 0xca);
	ide_taskfile_build(&id, 0, IDE_WRITE, IDE_DMA, 0x0fffff00, 0x100, &tf);
	CHECK(tf.ext && tf.command == 0x35 && tf.count == 0 && tf.count_high == 1);
	CHECK(tf.lba[0] == 0x00 && tf.lba[2] == 0xff && tf.lba_high[0] == 0x0f);
	ide_taskfile_build(&id, 1, IDE_READ, IDE_SINGLE, 0xa1b2c3d4e5f6ull, 8, &tf);
	CHECK(tf.command == 0x24 && tf.device == 0xf0 && tf.lba[0] == 0xf6);
	CHECK(tf.lba_high[0] == 0xc3 && tf.lba_high[1] == 0xb2 && tf.lba_high[2] == 0xa1);
	ide_taskfile_build(&id, 0, IDE_FLUSH, IDE_SINGLE, 0, 0, &tf);
	CHECK(tf.command == 0xea);
	tap_checks("host-ide-04", "LBA48 registers, only where LBA28 doesn't reach");
}

/* Every sector has one address, and they rise in the order of cylinder, head, sector. */
static void test_chs(void)
{
	uint32_t last = 0, at;

	memset(&id, 0, sizeof(id));
	id.cylinders = 300;
	id.heads = 5;
	id.sectors_per_track = 17;
	for (uint32_t s = 0; s < 300 * 5 * 17; s++) {
		ide_taskfile_build(&id, 0, IDE_READ, IDE_SINGLE, s, 1, &tf);
		at = (uint32_t)tf.lba[2] << 24 | (uint32_t)tf.lba[1] << 16 |
		     (tf.device & 15u) << 8 | tf.lba[0];
		CHECK((tf.device & 0xf0) == 0xa0 && tf.lba[0] >= 1 && tf.lba[0] <= 17);
		CHECK((tf.device & 15) < 5 && at > last);
		last = at;
	}
	CHECK((last >> 16) == 299);
	tap_checks("host-ide-05", "CHS registers walk the disk in order");
}

int main(void)
{
	test_identify();
	test_registers();
	test_chs();
	return tap_done();
}
