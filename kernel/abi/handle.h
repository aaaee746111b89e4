/* Handles as programs see them: docs/formats.md, "Handles". */
#ifndef ABI_HANDLE_H
#define ABI_HANDLE_H

#define HANDLE_FD_MAX		1024	/* descriptors are 0 to 1023 */
#define HANDLE_SYSTEM_FIRST	1024	/* system handles lie from here on */
#define HANDLE_SYSTEM_MAX	256

/* System handles that every program is born with. */
#define HANDLE_PROC		1024	/* endpoint: the proc server */
#define HANDLE_FS		1025	/* endpoint: who resolves paths (proc, until fs is there) */
#define HANDLE_SELF		1026	/* reserved */
#define HANDLE_CWD		1027	/* reserved */
#define HANDLE_SYSTEM_RESERVED	4	/* so many are never given to a new handle */

/* Rights. A handle that is passed on may only lose some. */
#define HANDLE_RIGHT_CALL	0x01	/* endpoint: call, notify                */
#define HANDLE_RIGHT_RECEIVE	0x02	/* endpoint: receive; held by its server */
#define HANDLE_RIGHT_READ	0x04	/* file, object                          */
#define HANDLE_RIGHT_WRITE	0x08	/* file, object                          */
#define HANDLE_RIGHT_MAP	0x10	/* object: mmap                          */
#define HANDLE_RIGHT_ALL	0x1f

#define HANDLE_CLOEXEC		0x01	/* flag, as FD_CLOEXEC */

#endif
