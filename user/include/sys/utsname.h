/* What system this is. */
#ifndef _SYS_UTSNAME_H
#define _SYS_UTSNAME_H

struct utsname {
	char sysname[32], nodename[32], release[32], version[32], machine[32];
};

int uname(struct utsname *name);

#endif
