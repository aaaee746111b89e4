/*
 * Partition tables, from well-formed to hostile.
 * links: drivers/partition.c mm/frame.c mm/page.c
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/partition.h"
#include "kernel/abi/errno.h"
#include "kernel/time.h"
#include "shim.h"

enum { TABLES = 80, DISK_SECTORS = 1000000 };

/* A disk of which only the sectors with tables exist; others read as zeros. */
static struct { sector_t sector; uint8_t data[SECTOR_BYTES]; } sectors[TABLES];
static unsigned sector_count, reads;
static sector_t bad_sector;

static int disk_read(void *arg, sector_t sector, void *buffer)
{
	reads++;
	CHECK(sector < *(sector_t *)arg);
	if (sector == bad_sector)
		return -EIO;
	memset(buffer, 0, SECTOR_BYTES);
	for (unsigned i = 0; i < sector_count; i++)
		if (sectors[i].sector == sector)
			memcpy(buffer, sectors[i].data, SECTOR_BYTES);
	return OK;
}

static void new_disk(void)
{
	sector_count = reads = 0;
	bad_sector = ~0ull;
	memset(sectors, 0, sizeof(sectors));
}

static uint8_t *table(sector_t sector)
{
	uint8_t *d = sectors[sector_count].data;

	sectors[sector_count++].sector = sector;
	d[510] = 0x55;
	d[511] = 0xaa;
	return d;
}

static void entry(uint8_t *table_data, unsigned n, uint8_t type, uint32_t first, uint32_t count)
{
	uint8_t *p = table_data + 446 + 16 * n;

	p[4] = type;
	for (unsigned i = 0; i < 4; i++) {
		p[8 + i] = (uint8_t)(first >> 8 * i);
		p[12 + i] = (uint8_t)(count >> 8 * i);
	}
}

static struct partition_table t;

static int scan(void)
{
	sector_t size = DISK_SECTORS;

	return partition_scan(disk_read, &size, size, &t);
}

static const struct partition *numbered(unsigned number)
{
	for (unsigned i = 0; i < t.count; i++)
		if (t.entries[i].number == number)
			return &t.entries[i];
	return NULL;
}

static bool usable(unsigned number)
{
	const struct partition *p = numbered(number);

	return p && !p->fault;
}

static bool refused(unsigned number, const char *word)
{
	const struct partition *p = numbered(number);

	return p && p->fault && strstr(p->fault, word);
}

static void test_plain(void)
{
	uint8_t *mbr;

	new_disk();
	CHECK(scan() == OK && t.count == 0 && !t.refused);
	tap_checks("host-part-01", "a disk without the signature has no partitions");

	new_disk();
	mbr = table(0);
	entry(mbr, 0, 0x83, 2048, 1000);
	entry(mbr, 1, 0x82, 3048, 500);
	entry(mbr, 3, 0x0b, 999000, 1000);
	CHECK(scan() == OK && t.count == 3);
	CHECK(usable(1) && usable(2) && usable(4) && !numbered(3));
	CHECK(numbered(2)->type == 0x82 && numbered(2)->first == 3048);
	CHECK(numbered(4)->sectors == 1000);
	tap_checks("host-part-02", "primary entries keep number, type and place");

	new_disk();
	mbr = table(0);
	entry(mbr, 0, 0x83, 2048, 1000);
	entry(mbr, 1, 0x82, 3047, 500);
	entry(mbr, 2, 0x83, 5000, 10);
	CHECK(scan() == OK && refused(1, "overlaps") && refused(2, "overlaps") && usable(3));
	tap_checks("host-part-03", "both of two overlapping partitions are refused");

	new_disk();
	mbr = table(0);
	entry(mbr, 0, 0x82, 999000, 1001);
	entry(mbr, 1, 0x82, 5000, 0);
	entry(mbr, 2, 0x82, 0, 100);
	entry(mbr, 3, 0x82, 0xffffffff, 0xffffffff);
	CHECK(scan() == OK && refused(1, "beyond") && refused(2, "no sectors"));
	CHECK(refused(3, "its own table") && refused(4, "beyond"));
	tap_checks("host-part-04", "overlong, empty and misplaced entries are refused");
}

/* Three logical partitions in a chain at 10000. */
static uint8_t *chain(uint8_t *last[3])
{
	uint8_t *mbr = table(0);

	entry(mbr, 0, 0x83, 2048, 1000);
	entry(mbr, 1, 0x05, 10000, 50000);
	for (unsigned i = 0; i < 3; i++) {
		last[i] = table(10000 + i * 10000);
		entry(last[i], 0, 0x82, 63, 9000);
		if (i < 2)
			entry(last[i], 1, 0x05, (i + 1) * 10000, 10000);
	}
	return mbr;
}

static void test_chain(void)
{
	uint8_t *e[3];

	new_disk();
	chain(e);
	CHECK(scan() == OK && t.count == 5 && numbered(2)->extended);
	CHECK(usable(1) && usable(5) && usable(6) && usable(7));
	CHECK(numbered(6)->first == 20063 && numbered(7)->first == 30063);
	tap_checks("host-part-05", "logical partitions are numbered from 5 and lie where they say");

	new_disk();
	chain(e);
	entry(e[2], 1, 0x05, 10000, 10000);
	CHECK(scan() == OK && usable(1));
	CHECK(refused(5, "loop") && refused(6, "loop") && refused(7, "loop"));
	entry(e[2], 1, 0x05, 20000, 10000);		/* itself */
	CHECK(scan() == OK && refused(7, "loop"));
	tap_checks("host-part-06", "a chain that loops refuses its partitions, and ends");

	new_disk();
	chain(e);
	entry(e[1], 1, 0x05, 50000, 10);
	CHECK(scan() == OK && refused(5, "leads out") && refused(6, "leads out"));
	entry(e[1], 1, 0x83, 20000, 10);
	CHECK(scan() == OK && refused(5, "leads out"));
	tap_checks("host-part-07", "a chain that leaves its extended partition is refused");

	new_disk();
	chain(e);
	entry(e[0], 0, 0x82, 63, 12000);		/* covers the second table */
	entry(e[2], 0, 0x82, 63, 40000);		/* ends outside */
	CHECK(scan() == OK && refused(5, "covers a partition table"));
	CHECK(refused(7, "beyond its extended") && !refused(1, ""));
	tap_checks("host-part-08", "a logical partition over a table, or too long, is refused");

	new_disk();
	chain(e);
	bad_sector = 20000;
	CHECK(scan() == OK && usable(1) && refused(5, "can't be read"));
	bad_sector = 0;
	CHECK(scan() == -EIO && t.count == 0);
	tap_checks("host-part-09", "a read error is told, and refuses what depends on it");
}

static void test_long_chain(void)
{
	uint8_t *mbr;

	new_disk();
	mbr = table(0);
	entry(mbr, 0, 0x0f, 100, 500000);
	for (unsigned i = 0; i < 59; i++) {
		uint8_t *e = table(100 + i * 100);

		entry(e, 0, 0x83, 1, 99);
		if (i < 58)
			entry(e, 1, 0x05, (i + 1) * 100, 100);
	}
	CHECK(scan() == OK && t.count == 60 && usable(63) && reads == 60);
	entry(sectors[59].data, 1, 0x05, 5900, 100);
	entry(table(6000), 0, 0x83, 1, 99);
	CHECK(scan() == OK && t.count == 60 && refused(63, "too long"));
	tap_checks("host-part-10", "59 logical partitions are read, a longer chain is refused");
}

static void test_whole(void)
{
	uint8_t *mbr;

	new_disk();
	mbr = table(0);
	entry(mbr, 0, 0xee, 1, 999999);
	CHECK(scan() == OK && t.count == 0 && t.refused && strstr(t.refused, "GPT"));
	tap_checks("host-part-11", "a protective GPT entry refuses the table by name");

	new_disk();
	mbr = table(0);
	entry(mbr, 0, 0x82, 2048, 1000);
	mbr[446 + 32] = 'x';
	CHECK(scan() == OK && t.count == 0 && t.refused);
	tap_checks("host-part-12", "a boot sector that is no table is refused");

	new_disk();
	mbr = table(0);
	entry(mbr, 0, 0x05, 1000, 1000);
	entry(mbr, 1, 0x0f, 3000, 1000);
	entry(table(1000), 0, 0x83, 1, 100);
	CHECK(scan() == OK && refused(2, "second") && usable(5) && t.count == 3);
	tap_checks("host-part-13", "of two extended partitions the second is refused");
}

/* Whatever the tables say, usable entries obey part.1. */
static void check_part_1(void)
{
	for (unsigned i = 0; i < t.count; i++) {
		const struct partition *a = &t.entries[i];

		if (a->fault || a->extended)
			continue;
		CHECK(a->first > 0 && a->sectors > 0);
		CHECK(a->first + a->sectors <= DISK_SECTORS);
		for (unsigned k = 0; k < t.table_count; k++)
			CHECK(t.tables[k] < a->first || t.tables[k] >= a->first + a->sectors);
		for (unsigned j = i + 1; j < t.count; j++) {
			const struct partition *b = &t.entries[j];

			if (b->fault || b->extended)
				continue;
			CHECK(a->first + a->sectors <= b->first ||
			      b->first + b->sectors <= a->first);
		}
	}
}

static void test_random(void)
{
	static const uint8_t types[] = { 0, 0x05, 0x0f, 0x82, 0x83, 0x85 };

	for (unsigned round = 0; round < 20000; round++) {
		new_disk();
		for (unsigned i = 0; i < 8; i++) {
			uint8_t *d = table(i ? random_u32() % 64 * 100 : 0);

			for (unsigned n = 0; n < 4; n++)
				entry(d, n, types[random_u32() % sizeof(types)],
				      random_u32() % 64 * 100, random_u32() % 2000);
		}
		CHECK(scan() == OK);
		CHECK(reads <= 1 + PARTITION_LOGICAL_MAX);
		check_part_1();
	}
	tap_checks("host-part-14", "random tables: usable partitions are inside and apart");
}

int main(void)
{
	shim_seed(getenv("SEED") ? (uint32_t)atoi(getenv("SEED")) : 1);
	test_plain();
	test_chain();
	test_long_chain();
	test_whole();
	test_random();
	return tap_done();
}
