/*
 * The drive model that Linux is measured on (diskmodel.c, an nbdkit plugin, which is not part
 * of this repository), fed with arrivals: its clock is made to stand at each arrival. Compiled
 * and called by tests/drive/peer.py.
 *
 * Standard input: a line "MICROSECONDS r|w SECTOR SECTORS" a request. Standard output: a line
 * a request with the microseconds it took; then "= " and microseconds of reads, of writes, and
 * of seeks, rotation and transfer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double fake_now;

static int fake_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	t->tv_sec = (time_t)fake_now;
	t->tv_nsec = (long)((fake_now - (double)t->tv_sec) * 1e9);
	fake_now += 1e-6;		/* who spins gets on */
	return 0;
}

static int fake_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left)
{
	(void)id;
	(void)flags;
	(void)left;
	fake_now = (double)t->tv_sec + (double)t->tv_nsec / 1e9;
	return 0;
}

#define clock_gettime fake_gettime
#define clock_nanosleep fake_nanosleep
#include DISKMODEL

void nbdkit_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	exit(1);
}

char *nbdkit_absolute_path(const char *path)
{
	return strdup(path);
}

int main(int argc, char **argv)
{
	static char buffer[256 * SECTOR];
	unsigned long long us, sector;
	unsigned sectors;
	char kind;

	for (int i = 1; i + 1 < argc; i += 2)
		registered->config(argv[i], argv[i + 1]);
	registered->get_ready();
	while (scanf("%llu %c %llu %u", &us, &kind, &sector, &sectors) == 4) {
		double before = st.read_s + st.write_s;

		fake_now = (double)us / 1e6;
		if (kind == 'w')
			registered->pwrite(NULL, buffer, sectors * SECTOR, sector * SECTOR, 0);
		else
			registered->pread(NULL, buffer, sectors * SECTOR, sector * SECTOR, 0);
		printf("%.0f\n", (st.read_s + st.write_s - before) * 1e6);
	}
	printf("= %.0f %.0f %.0f %.0f %.0f\n", st.read_s * 1e6, st.write_s * 1e6, st.seek_s * 1e6,
	       st.rot_s * 1e6, st.xfer_s * 1e6);
	return 0;
}
