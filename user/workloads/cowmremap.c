/*
 * cowmremap [PAGES]: what moving memory costs, and what it leaves behind, with each reverse
 * map (docs/history.md 5.5, 5.6, 6.3).
 *
 * A parent, a mover and a witness share PAGES pages copy on write, and each writes some. Then
 * the mover moves all. A map that finds pages by their address must copy those that somebody
 * else still maps; one that goes by vmas copies none. All three then look at every page.
 *
 * After that mappings are split and joined in three ways. Each time it is told how many vmas
 * are left of one range, and whether the whole of it can be moved at once: not over a seam.
 *
 * Prints a line for each of these figures. Status 0 if all contents were right and nothing else happened.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>

enum { PAGES_DEFAULT = 49, PAGES_MAX = 4096, WORDS = CLOCKHAND_PAGE / 4, GAME_PAGES = 8,
       ROOM_PAGES = 64, TEXT_BYTES = 8192, ROWS_MAX = 64 };
enum who { PARENT, MOVER, WITNESS, EVERYBODY };

static const unsigned every[] = { [PARENT] = 2, [MOVER] = 3, [WITNESS] = 5 };
static unsigned pages = PAGES_DEFAULT;
static int ready;			/* where children tell that they have come so far */

static void die(const char *what)
{
	fprintf(stderr, "cowmremap: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- Figures of the kernel ---- */

static unsigned copied_so_far(void)
{
	static char text[TEXT_BYTES];
	int n = sys_sysinfo(SYSINFO_COUNTERS, text, sizeof(text) - 1);

	if (n < 0)
		die("counters");
	text[n] = '\0';
	return (unsigned)counter_find(text, "mremap_cows");
}

static unsigned own_vmas(void)
{
	static struct abi_task_row rows[ROWS_MAX];
	int n = sys_sysinfo(SYSINFO_TASKS, rows, sizeof(rows));

	for (int i = 0; i < n / (int)sizeof(rows[0]); i++) {
		if (rows[i].pid == getpid())
			return rows[i].vmas;
	}
	die("tasks");
	return 0;
}

/* ---- Pages ---- */

static int writes(enum who who, unsigned page)
{
	return who == EVERYBODY || page % every[who] == 0;
}

static void fill(volatile uint32_t *base, unsigned count, enum who who)
{
	for (unsigned i = 0; i < count; i++) {
		if (writes(who, i)) {
			base[i * WORDS] = who << 16 | i;
			base[i * WORDS + WORDS - 1] = ~i;
		}
	}
}

/* Are the pages what the parent put there and `who` wrote since? */
static int right(volatile uint32_t *base, unsigned count, enum who who)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t wanted = (writes(who, i) ? who : EVERYBODY) << 16 | i;

		if (base[i * WORDS] != wanted || base[i * WORDS + WORDS - 1] != ~i) {
			fprintf(stderr, "cowmremap: page %u of %u holds %#x, wanted %#x\n", i, who,
				(unsigned)base[i * WORDS], (unsigned)wanted);
			return 0;
		}
	}
	return 1;
}

/* `count` pages at `addr`, or anywhere. */
static void *map(void *addr, unsigned count)
{
	void *p = mmap(addr, count * CLOCKHAND_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (addr ? MAP_FIXED : 0), -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

/* Where `count` pages have room, with nothing on either side to merge with. */
static void *find_room(unsigned count)
{
	char *p = map(NULL, count + 2);

	munmap(p, (count + 2) * CLOCKHAND_PAGE);
	return p + CLOCKHAND_PAGE;
}

static void *move(void *from, unsigned count, void *to)
{
	return mremap(from, count * CLOCKHAND_PAGE, count * CLOCKHAND_PAGE,
		      MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

/* ---- Three processes ---- */

/* Tell the parent, and go on when it says so. */
static void meet(enum who who)
{
	struct ipc_message m = { .label = who };

	fflush(stdout);
	if (sys_ipc_call(ready, &m) < 0)
		die("call");
}

/* The pages that somebody else than the mover still maps. */
static unsigned shared_with_mover(void)
{
	unsigned shared = 0;

	for (unsigned i = 0; i < pages; i++)
		shared += !writes(MOVER, i) && !(writes(PARENT, i) && writes(WITNESS, i));
	return shared;
}

static int mover(volatile uint32_t *base)
{
	unsigned copied, before = copied_so_far();
	volatile uint32_t *to = find_room(pages);
	int ok;

	if (move((void *)base, pages, (void *)to) != to)
		die("mremap");
	copied = copied_so_far() - before;
	printf("pages moved: %u\nof them shared: %u\ncopied for it: %u\n", pages, shared_with_mover(),
	       copied);
	ok = right(to, pages, MOVER) && (copied == 0 || copied == shared_with_mover());
	ok = ok && move((void *)base, 1, (void *)to) == MAP_FAILED && errno == EFAULT;
	ok = ok && sys_machine(MACHINE_AUDIT, 0) == 0;	/* does the map find all where it is now? */
	fill(to, pages, EVERYBODY);
	ok = ok && right(to, pages, EVERYBODY);
	meet(MOVER);
	return ok;
}

static pid_t start(enum who who, volatile uint32_t *base)
{
	pid_t pid = fork();
	int ok;

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	fill(base, pages, who);
	meet(who);
	ok = who == MOVER ? mover(base) : right(base, pages, who);
	_exit(ok ? 0 : 1);
}

/* Wait until `who` has come so far; returns the token that lets it go on. */
static uint32_t await(enum who who)
{
	struct ipc_message m = { 0 };

	if (sys_ipc_receive(ready, &m) < 0 || m.label != who)
		die("a child");
	return m.token;
}

static void let_go(uint32_t token)
{
	struct ipc_message m = { 0 };

	if (sys_ipc_reply(token, &m) < 0)
		die("reply");
}

static int move_shared(void)
{
	volatile uint32_t *base = map(NULL, pages);
	uint32_t mover_waits, witness_waits;
	int status, ok;

	fill(base, pages, EVERYBODY);
	start(MOVER, base);
	mover_waits = await(MOVER);
	start(WITNESS, base);
	witness_waits = await(WITNESS);
	fill(base, pages, PARENT);
	let_go(mover_waits);
	mover_waits = await(MOVER);
	ok = right(base, pages, PARENT);
	let_go(witness_waits);
	let_go(mover_waits);
	while (wait(&status) > 0)
		ok = ok && status == 0;
	munmap((void *)base, pages * CLOCKHAND_PAGE);
	return ok;
}

/* ---- Seams ---- */

/* GAME_PAGES pages at `at` are all written. Tell how many vmas they are, `before` being those
 * of all the rest, and try to move them as one. */
static int tell(const char *name, uint32_t *at, unsigned before)
{
	unsigned vmas = own_vmas() - before;
	void *to = find_room(GAME_PAGES), *got;
	int ok = right(at, GAME_PAGES, EVERYBODY);

	errno = 0;
	got = move(at, GAME_PAGES, to);
	printf("%s: %u vma%s, mremap of the whole %s%s\n", name, vmas, vmas == 1 ? "" : "s",
	       got == to ? "works" : "fails: ", got == to ? "" : strerror(errno));
	ok = ok && (vmas == 1 ? got == to : got == MAP_FAILED && errno == EFAULT);
	ok = ok && right(vmas == 1 ? to : at, GAME_PAGES, EVERYBODY);
	munmap(vmas == 1 ? to : at, GAME_PAGES * CLOCKHAND_PAGE);
	return ok;
}

static void protect(uint32_t *at, int prot)
{
	if (mprotect(at, CLOCKHAND_PAGE, prot) < 0)
		die("mprotect");
}

/* A page in the middle becomes read-only and writable again, when all were touched: split and
 * merge, whatever the map. */
static int toggled(uint32_t *at)
{
	unsigned before = own_vmas();

	map(at, GAME_PAGES);
	fill(at, GAME_PAGES, EVERYBODY);
	protect(at + 3 * WORDS, PROT_READ);
	protect(at + 3 * WORDS, PROT_READ | PROT_WRITE);
	return tell("split and joined", at, before);
}

/* The same before anything was touched, and both sides are touched while they are apart. */
static int touched_apart(uint32_t *at)
{
	unsigned before = own_vmas();

	map(at, GAME_PAGES);
	protect(at + 3 * WORDS, PROT_READ);
	at[0] = at[GAME_PAGES * WORDS - 1] = 1;
	protect(at + 3 * WORDS, PROT_READ | PROT_WRITE);
	fill(at, GAME_PAGES, EVERYBODY);
	return tell("split, touched and joined", at, before);
}

/* The second half was made elsewhere and is moved beside the first. */
static int moved_beside(uint32_t *at)
{
	unsigned before = own_vmas();
	uint32_t *back = at + GAME_PAGES / 2 * WORDS, *elsewhere = back + ROOM_PAGES / 2 * WORDS;

	map(at, GAME_PAGES / 2);
	map(elsewhere, GAME_PAGES / 2);
	at[0] = elsewhere[0] = 1;
	if (move(elsewhere, GAME_PAGES / 2, back) != back)
		die("mremap");
	fill(at, GAME_PAGES, EVERYBODY);
	return tell("moved side by side", at, before);
}

int main(int argc, char **argv)
{
	uint32_t *room;
	int ok;

	if (argc > 1)
		pages = (unsigned)atoi(argv[1]);
	if (argc > 2 || pages < 1 || pages > PAGES_MAX) {
		fprintf(stderr, "usage: cowmremap [PAGES]\n");
		return 2;
	}
	ready = sys_endpoint_create();
	ok = move_shared();
	room = find_room(ROOM_PAGES);
	ok = toggled(room) && ok;
	ok = touched_apart(room) && ok;
	ok = moved_beside(room) && ok;
	return ok ? 0 : 1;
}
