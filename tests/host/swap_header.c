/*
 * The header of a swap area: what mkswap writes is taken, whatever else stands there is
 * refused in words.
 * links: mm/swap/header.c mm/frame.c mm/page.c
 */
#include <string.h>

#include "kernel/abi/errno.h"
#include "mm/swap/area.h"
#include "shim.h"

enum { VERSION = 1024 / 4, LAST = 1028 / 4, BAD_COUNT = 1032 / 4, BAD = 1536 / 4, SIGNATURE = 4086,
       BAD_MOST = (SIGNATURE - 1536) / 4, PAGES = 1000, SECTORS = PAGES * 8 };

static uint32_t header[PAGE_SIZE / 4];
static struct swap_header_info info;

static void good(void)
{
	memset(header, 0, sizeof(header));
	header[VERSION] = 1;
	header[LAST] = PAGES - 1;
	memcpy((char *)header + SIGNATURE, "SWAPSPACE2", 10);
	memset(&info, 0, sizeof(info));
}

static bool taken(sector_t sectors)
{
	return swap_header_parse(header, sectors, &info) == 0 && info.why == NULL;
}

static bool refused(const char *word)
{
	return swap_header_parse(header, SECTORS, &info) == -EINVAL && info.why && strstr(info.why, word);
}

static void set(unsigned word, uint32_t value)
{
	good();
	header[word] = value;
}

static void test_sizes(void)
{
	good();
	CHECK(taken(SECTORS) && info.size == PAGES && info.bad_count == 0);
	CHECK(taken(SECTORS + 7) && !taken(SECTORS - 1));
	tap_checks("swap-header-01", "mkswap's header is taken if the partition is long enough");

	set(LAST, PAGES);
	CHECK(refused("longer"));
	set(LAST, 0xffffffff);
	CHECK(refused("longer"));
	set(LAST, 0);
	CHECK(refused("empty"));
	set(VERSION, 0);
	CHECK(refused("version"));
	set(VERSION, 1u << 24);
	CHECK(refused("byte order"));
	tap_checks("swap-header-02", "wrong sizes and versions are refused in words");
}

static void test_signatures(void)
{
	static const struct { const char *text, *word; } other[] = {
		{ "S1SUSPEND", "hibernated" }, { "S2SUSPEND", "hibernated" }, { "ULSUSPEND", "hibernated" },
		{ "LINHIB0001", "hibernated" }, { "SWAP-SPACE", "old" }, { "SWAPSPACE3", "signature" },
		{ "swapspace2", "signature" }, { "", "signature" },
	};

	for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		good();
		memset((char *)header + SIGNATURE, 0, 10);
		memcpy((char *)header + SIGNATURE, other[i].text, strlen(other[i].text));
		CHECK(refused(other[i].word));
	}
	tap_checks("swap-header-03", "other signatures are refused in words, hibernated systems as such");
}

static void test_bad_pages(void)
{
	set(BAD_COUNT, 2);
	header[BAD] = 5;
	header[BAD + 1] = PAGES - 1;
	CHECK(taken(SECTORS) && info.bad_count == 2 && info.bad[0] == 5 && info.bad[1] == PAGES - 1);
	header[BAD] = 0;
	CHECK(refused("damaged"));
	header[BAD] = PAGES;
	CHECK(refused("damaged"));
	set(BAD_COUNT, BAD_MOST + 1);
	CHECK(refused("more bad pages"));
	set(BAD_COUNT, 0xffffffff);
	CHECK(refused("more bad pages"));
	tap_checks("swap-header-04", "bad pages are read, a damaged list is refused");
}

int main(void)
{
	test_sizes();
	test_signatures();
	test_bad_pages();
	return tap_done();
}
