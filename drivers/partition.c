/*
 * The parser of MBR partition tables. Whatever it doubts it refuses, with the reason in
 * words: what is swapped to a partition that isn't one destroys somebody's data.
 *
 * Layout (IBM PC/AT; the same in every description since): four entries of 16 bytes from byte 446,
 * the signature 55 AA at byte 510. An entry: active flag, 3 bytes of CHS, type, 3 bytes
 * of CHS, first sector and count as little-endian 32-bit numbers. A logical partition
 * begins relative to its own table, the next table relative to the extended partition.
 */
#include "drivers/partition.h"
#include "kernel/abi/errno.h"
#include "kernel/string.h"

enum {
	MBR_ENTRIES = 446, MBR_ENTRY_BYTES = 16, MBR_SIGNATURE = 510,
	MBR_TYPE_GPT = 0xee,
};

struct raw_entry {
	uint8_t  active, type;
	uint32_t first, sectors;
};

static uint32_t get_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static struct raw_entry get_entry(const uint8_t *sector, unsigned n)
{
	const uint8_t *p = sector + MBR_ENTRIES + n * MBR_ENTRY_BYTES;

	return (struct raw_entry){ p[0], p[4], get_le32(p + 8), get_le32(p + 12) };
}

static bool has_signature(const uint8_t *sector)
{
	return sector[MBR_SIGNATURE] == 0x55 && sector[MBR_SIGNATURE + 1] == 0xaa;
}

static bool is_extended(uint8_t type)
{
	return type == 0x05 || type == 0x0f || type == 0x85;
}

static bool overlap(sector_t a, sector_t a_sectors, sector_t b, sector_t b_sectors)
{
	return a < b + b_sectors && b < a + a_sectors;
}

static struct partition *add_entry(struct partition_table *t, unsigned number, uint8_t type,
				   sector_t first, sector_t sectors)
{
	struct partition *p = &t->entries[t->count++];

	*p = (struct partition){ .number = number, .type = type, .first = first,
				 .sectors = sectors };
	return p;
}

/* What is wrong with an entry by itself, between sectors `low` and `high`. */
static const char *entry_fault(const struct partition *p, sector_t low, sector_t high,
			       const char *beyond)
{
	if (p->sectors == 0)
		return "it has no sectors";
	if (p->first <= low)
		return "it begins at or before its own table";
	if (p->first + p->sectors > high)
		return beyond;
	return NULL;
}

/* The four entries of the MBR. */
static void scan_primary(struct partition_table *t, const uint8_t *mbr, sector_t disk_sectors)
{
	bool extended_seen = false;

	for (unsigned n = 0; n < PARTITION_PRIMARY; n++) {
		struct raw_entry e = get_entry(mbr, n);
		struct partition *p;

		if (e.type == 0)
			continue;
		p = add_entry(t, n + 1, e.type, e.first, e.sectors);
		p->extended = is_extended(e.type);
		p->fault = entry_fault(p, 0, disk_sectors,
				       "it ends beyond the end of the disk");
		if (p->extended && extended_seen && !p->fault)
			p->fault = "it is a second extended partition";
		extended_seen |= p->extended;
	}
}

/* Why the MBR can't be believed as a whole; NULL if it can. */
static const char *table_fault(const uint8_t *mbr)
{
	for (unsigned n = 0; n < PARTITION_PRIMARY; n++) {
		struct raw_entry e = get_entry(mbr, n);

		if (e.type == MBR_TYPE_GPT)
			return "it protects a GPT, which is not supported";
		if (e.active != 0 && e.active != 0x80)
			return "what stands there is no partition table";
	}
	return NULL;
}

/* Note that a table of the chain lies at `sector`. False: it was there before. */
static bool note_table(struct partition_table *t, sector_t sector)
{
	for (unsigned i = 0; i < t->table_count; i++)
		if (t->tables[i] == sector)
			return false;
	t->tables[t->table_count++] = sector;
	return true;
}

/*
 * Follow the chain inside `outer`; each table holds a logical partition and the way to
 * the next one. `buffer` is for the tables. Returns what is wrong with the chain, or NULL.
 */
static const char *scan_chain(partition_read read, void *arg, uint8_t buffer[SECTOR_BYTES],
			      struct partition_table *t, const struct partition *outer)
{
	sector_t table = outer->first, end = outer->first + outer->sectors;
	unsigned number = PARTITION_PRIMARY + 1;

	for (;;) {
		struct raw_entry e, next;

		if (t->table_count == ARRAY_LEN(t->tables))
			return "the chain of tables is too long";
		if (!note_table(t, table))
			return "the chain of tables runs in a loop";
		if (read(arg, table, buffer) != OK)
			return "a table of the chain can't be read";
		if (!has_signature(buffer))
			return "a table of the chain has no signature";
		e = get_entry(buffer, 0);
		next = get_entry(buffer, 1);
		if (e.type != 0) {
			struct partition *p = add_entry(t, number++, e.type,
							table + e.first, e.sectors);

			p->fault = entry_fault(p, table, end,
					       "it ends beyond its extended partition");
		}
		if (next.type == 0)
			return NULL;
		if (!is_extended(next.type) || next.first == 0 ||
		    next.first >= outer->sectors)
			return "the chain of tables leads out of the extended partition";
		table = outer->first + next.first;
	}
}

/* Logical partitions begin in entries[] where the primary ones end. */
static void scan_logical(partition_read read, void *arg, uint8_t buffer[SECTOR_BYTES],
			 struct partition_table *t)
{
	unsigned primary = t->count;
	const char *fault = NULL;

	for (unsigned i = 0; i < primary; i++) {
		struct partition *p = &t->entries[i];

		if (!p->extended || p->fault)
			continue;
		fault = scan_chain(read, arg, buffer, t, p);
		p->fault = fault;
		break;		/* a second extended one has a fault */
	}
	for (unsigned i = primary; fault && i < t->count; i++)
		if (!t->entries[i].fault)
			t->entries[i].fault = fault;
}

/* An extended partition contains its logical ones; all other pairs must be apart. */
static bool may_contain(const struct partition *a, const struct partition *b)
{
	return (a->extended && b->number > PARTITION_PRIMARY) ||
	       (b->extended && a->number > PARTITION_PRIMARY);
}

/* Refuse both of two that overlap, and what covers a table (part.1). */
static void check_overlaps(struct partition_table *t)
{
	for (unsigned i = 0; i < t->count; i++) {
		struct partition *a = &t->entries[i];

		for (unsigned k = 0; k < t->table_count && !a->extended; k++)
			if (overlap(a->first, a->sectors, t->tables[k], 1) && !a->fault)
				a->fault = "it covers a partition table";
		for (unsigned j = i + 1; j < t->count; j++) {
			struct partition *b = &t->entries[j];

			if (may_contain(a, b) ||
			    !overlap(a->first, a->sectors, b->first, b->sectors))
				continue;
			a->fault = a->fault ? a->fault : "it overlaps another partition";
			b->fault = b->fault ? b->fault : "it overlaps another partition";
		}
	}
}

int partition_scan(partition_read read, void *arg, sector_t sectors,
		   struct partition_table *t)
{
	uint8_t mbr[SECTOR_BYTES];
	int error;

	memset(t, 0, sizeof(*t));
	error = read(arg, 0, mbr);
	if (error)
		return error;
	if (!has_signature(mbr))
		return OK;
	t->refused = table_fault(mbr);
	if (t->refused)
		return OK;
	note_table(t, 0);
	scan_primary(t, mbr, sectors);
	scan_logical(read, arg, mbr, t);		/* the MBR is done with */
	check_overlaps(t);
	return OK;
}
