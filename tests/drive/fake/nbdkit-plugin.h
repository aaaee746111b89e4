/* As much of nbdkit's interface as a plugin needs to be compiled into tests/drive/peer.c. */
#ifndef FAKE_NBDKIT_PLUGIN_H
#define FAKE_NBDKIT_PLUGIN_H

#include <stdint.h>

#define NBDKIT_THREAD_MODEL_SERIALIZE_ALL_REQUESTS 0
#define NBDKIT_REGISTER_PLUGIN(plugin) \
	const struct nbdkit_plugin *const registered = &(plugin);

struct nbdkit_plugin {
	const char *name, *longname, *description;
	int (*config)(const char *key, const char *value);
	int (*get_ready)(void);
	void (*unload)(void);
	void *(*open)(int readonly);
	void (*close)(void *handle);
	int64_t (*get_size)(void *handle);
	int (*pread)(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags);
	int (*pwrite)(void *handle, const void *buffer, uint32_t count, uint64_t offset,
		      uint32_t flags);
	int (*flush)(void *handle, uint32_t flags);
};

void nbdkit_error(const char *format, ...);
char *nbdkit_absolute_path(const char *path);

#endif
