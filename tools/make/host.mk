# What people type: run, test, image, gdb. Each first installs what it needs, then builds in a
# second make, whose rules ask the compiler things and so can't be read before it is there.

JOBS  := $(shell nproc 2>/dev/null || echo 1)
BUILD := $(MAKE) -s --no-print-directory -j$(JOBS)

# The tests run with every reverse mapping, or with the one that was named.
RMAP_NAMED := $(if $(filter environment command,$(firstword $(origin RMAP))),$(RMAP))
RMAPS      := $(notdir $(patsubst %/,%,$(dir $(wildcard mm/rmap/*/rmap_types.h))))
TEST_RMAPS := $(or $(RMAP_NAMED),$(RMAPS))
BUILD_FOR_TESTS = @set -e; for r in $(TEST_RMAPS); do $(BUILD) RMAP=$$r kernel system guest-tests; done
TEST_OPTIONS = $(if $(T),--name '$(T)') $(if $(RMAP_NAMED),--rmap '$(RMAP)') $(if $(SEED),--seed '$(SEED)')

WITHOUT_COMPILER := help run test test-quick image gdb doctor check clean figures replay

.PHONY: help all run boot test test-quick image gdb figures replay doctor check clean host-units compile-commands

help:
	@echo 'make run          install what is missing, build, boot here: a big sort, then a shell'
	@echo 'make test         all tests;  T=NAME those whose name has it;  SEED=N;  TESTS=FOLDER other ones'
	@echo '                  (what concerns memory with each reverse mapping, or with RMAP=NAME only)'
	@echo 'make test-quick   one minute of them'
	@echo 'make              kernel and programs, without running anything'
	@echo 'make image        build/clockhand.img, a disk that boots by itself'
	@echo 'make gdb          the machine stopped before its first instruction, gdb attached'
	@echo 'make replay       the threads of 1999 and 2001 again: build/replay/index.html, up to an hour;  ROWS=Q3,Z1'
	@echo 'make figures      measure what docs/performance.md says, some 15 minutes'
	@echo 'make doctor       is everything here that it takes?'
	@echo 'make check        rules of the source tree'
	@echo 'make clean        remove build/'
	@echo
	@echo 'RMAP=NAME         which reverse mapping: $(RMAPS) (each has its build in build/RMAP; anon_vma if none is named)'
	@echo 'WERROR=0          warnings are not errors'
	@echo 'tools/run --help  one command in a machine without a screen'

all: kernel system compile-commands

run:
	@tools/setup run
	@$(BUILD) boot

boot: kernel system
	@exec tools/boot

test:
	@tools/setup run test
	$(BUILD_FOR_TESTS)
	@$(BUILD) image-file
	@exec tests/run $(if $(TESTS),--folder '$(TESTS)') $(TEST_OPTIONS)

test-quick:
	@tools/setup run test
	@$(BUILD) kernel system guest-tests
	@exec tests/run --quick $(TEST_OPTIONS)

image:
	@tools/setup run image
	@$(BUILD) image-file
	@echo 'build/clockhand.img: qemu-system-i386 -hda build/clockhand.img'

.PHONY: image-file
image-file: kernel system
	@tools/image --if-newer build/clockhand.img

gdb:
	@tools/setup run gdb
	@$(BUILD) kernel system
	@exec tools/gdb

figures:
	@tools/setup run
	@exec tools/figures

# As many jobs at once as -j says, or as there are CPUs.
replay:
	@tools/setup run
	@$(BUILD) RMAP=scan kernel system
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS)) -f tools/make/replay.mk ROWS='$(ROWS)'

doctor:
	@exec tools/doctor

check:
	@exec tools/check

clean:
	rm -rf build

# The compiler's command for each file, for editors. Taken from make itself, when a rule or the
# files of a folder have changed.
compile-commands: compile_commands.json
compile_commands.json: tools/compile-commands $(wildcard tools/make/*.mk) \
		$(wildcard boot/. kernel/. drivers/. mm/. mm/*/. mm/rmap/*/. user/*/.)
	@tools/compile-commands $@ $(MAKE) $(RMAP) $(filter-out $(RMAP),$(RMAPS))
