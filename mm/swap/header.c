/*
 * What mkswap wrote into slot 0 of an area, and what else may stand there. Only a
 * version 1 header in the SWAPSPACE2 format is accepted; everything that somebody may
 * still need (a hibernated system, an unknown signature) is refused in words.
 *
 * Layout (util-linux, include/swapheader.h; little-endian 32-bit words):
 *   1024 version, 1028 last_page, 1032 nr_badpages, 1036 uuid[16], 1052 label[16],
 *   1536 badpages[], 4086 signature of 10 bytes
 */
#include "kernel/abi/errno.h"
#include "kernel/string.h"
#include "mm/swap/area.h"

enum {
	SIGNATURE_AT = 4086, SIGNATURE_BYTES = 10,
	VERSION_AT = 1024, LAST_PAGE_AT = 1028, BAD_COUNT_AT = 1032, UUID_AT = 1036,
	BAD_PAGES_AT = 1536, BAD_PAGES_MAX = (SIGNATURE_AT - BAD_PAGES_AT) / 4,
	SLOTS_MAX = 1 << 24,		/* what a swap entry can name */
};

static const struct {
	const char *signature, *why;
} refused[] = {
	{ "SWAP-SPACE", "the old swap format, make it anew with mkswap" },
	{ "S1SUSPEND",	"it holds a hibernated system" },
	{ "S2SUSPEND",	"it holds a hibernated system" },
	{ "ULSUSPEND",	"it holds a hibernated system" },
	{ "LINHIB0001", "it holds a hibernated system" },
};

static uint32_t word_at(const void *header, unsigned byte)
{
	uint32_t w;

	memcpy(&w, (const char *)header + byte, sizeof(w));
	return w;
}

static const char *signature_refusal(const void *header)
{
	const char *found = (const char *)header + SIGNATURE_AT;

	if (!memcmp(found, "SWAPSPACE2", SIGNATURE_BYTES))
		return NULL;
	for (unsigned i = 0; i < ARRAY_LEN(refused); i++)
		if (!memcmp(found, refused[i].signature, strlen(refused[i].signature)))
			return refused[i].why;
	return "it has no swap signature that we know";
}

static const char *bad_pages_refusal(const struct swap_header_info *info)
{
	if (info->bad_count > BAD_PAGES_MAX)
		return "its header lists more bad pages than fit there";
	for (uint32_t i = 0; i < info->bad_count; i++)
		if (info->bad[i] == 0 || info->bad[i] >= info->size)
			return "its list of bad pages is damaged";
	return NULL;
}

/*
 * Read the header page of a partition of `sectors` sectors into *info, by the layout at the
 * head of this file. Returns OK, or -EINVAL with info->why in words. `info` points into the
 * page. No locks, no side effects; never sleeps.
 */
int swap_header_parse(const void *header, sector_t sectors, struct swap_header_info *info)
{
	uint32_t last_page = word_at(header, LAST_PAGE_AT);
	sector_t fits = sectors / SECTORS_PER_PAGE;

	info->why = signature_refusal(header);
	if (!info->why && word_at(header, VERSION_AT) != 1)
		info->why = "its header has an unknown version (or the other byte order)";
	if (!info->why && last_page == 0)
		info->why = "it is empty";
	if (!info->why && (last_page >= fits || last_page >= SLOTS_MAX))
		info->why = "its header says that it is longer than its partition";
	if (info->why)
		return -EINVAL;
	info->size = last_page + 1;
	info->bad_count = word_at(header, BAD_COUNT_AT);
	info->bad = (const uint32_t *)((const char *)header + BAD_PAGES_AT);
	info->uuid = (const uint8_t *)header + UUID_AT;
	info->why = bad_pages_refusal(info);
	return info->why ? -EINVAL : 0;
}
