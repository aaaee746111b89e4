# Programs: newlib (once), libclockhand, the servers, the shell, tools, workloads,
# guest tests, and the two boot archives. Programs do not depend on RMAP; they are
# built in build/user and only the archives are copied into each build.

NEWLIB_TAR ?= /usr/src/newlib/newlib-3.3.0.tar.xz
WERROR     ?= 1
U          := build/user
UCC        := build/bin/i386-clockhand-gcc
ARCHIVE_MAX := 524288

# -MD, not -MMD: the compiler takes all of our headers for system headers.
UFLAGS := -Os -std=gnu11 -ffunction-sections -fdata-sections -MD -MP -I. \
	-Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes
ifneq ($(WERROR),0)
UFLAGS += -Werror
endif
# The programs of the system print no floating point: newlib's integer-only printf
# is a third of the size and needs no FPU.
SYSTEM_FLAGS := -include user/bin/small_stdio.h

user_obj = $(patsubst %,$(U)/%.o,$(basename $(1)))

LIBC_SRC  := $(wildcard user/libc/*.c user/libc/*.asm)
LIBC_OBJ  := $(call user_obj,$(filter-out user/libc/crt0.asm,$(LIBC_SRC)) kernel/div64.c)
PROC_OBJ  := $(call user_obj,$(wildcard user/servers/*.c user/servers/*.asm)) $(U)/user/libc/stubs.o \
	$(U)/user/libc/stack_image.o $(U)/kernel/div64.o
INIT_OBJ  := $(call user_obj,$(wildcard user/init/*.c))
SH_OBJ    := $(call user_obj,$(wildcard user/sh/*.c))
BOX_OBJ   := $(call user_obj,$(wildcard user/bin/*.c))
WORKLOADS := $(notdir $(basename $(wildcard user/workloads/*.c)))
GUEST_TESTS := $(notdir $(basename $(wildcard user/tests/t_*.c)))
BOX_LINKS := echo cat ls true false sleep kill pwd time vmstat free ps swapon swapoff \
	audit fault params counters dropcaches trace poweroff uname hexdump leaks

SYSTEM_PROGS := $(addprefix $(U)/bin/,proc init sh clockbox $(WORKLOADS))
# What only replays need is in the build that they run on: the archive is in memory, of which the others have a budget.
ARCHIVED     := $(if $(filter scan,$(RMAP)),$(SYSTEM_PROGS),$(filter-out %/idle,$(SYSTEM_PROGS)))
TEST_PROGS   := $(addprefix $(U)/tests/,$(GUEST_TESTS) stress fuzz allocfail swaprule idle22)
STRESS_OBJ   := $(call user_obj,$(wildcard user/tests/stress/*.c))

.PHONY: user system newlib guest-tests user-check
user: $(UCC) $(SYSTEM_PROGS) $(TEST_PROGS)
system: $(B)/system.arc
guest-tests: $(B)/tests.arc
newlib: build/newlib/stamp

build/newlib/stamp: user/libc/build-newlib
	@user/libc/build-newlib $(NEWLIB_TAR) build/newlib build/newlib.log

$(UCC): user/libc/i386-clockhand-gcc
	@mkdir -p $(@D)
	@ln -sf ../../user/libc/i386-clockhand-gcc $@
	@touch -h $@

# Whoever wants to compile a program for Clockhand needs these.
user: $(U)/lib/crt0.o $(U)/lib/libclockhand.a

$(U)/%.o: %.c tools/make/user.mk $(UCC) build/newlib/stamp
	@mkdir -p $(@D)
	@echo "  UCC     $<"
	@$(UCC) $(UFLAGS) $(OBJ_FLAGS) -c -o $@ $<

$(U)/%.o: %.asm tools/make/user.mk
	@mkdir -p $(@D)
	@echo "  NASM    $<"
	@nasm -f elf32 -o $@ $<

$(INIT_OBJ) $(SH_OBJ) $(BOX_OBJ): OBJ_FLAGS = $(SYSTEM_FLAGS)
$(patsubst %,$(U)/user/workloads/%.o,$(WORKLOADS)): OBJ_FLAGS = $(SYSTEM_FLAGS) -O2
$(U)/user/tests/%.o: OBJ_FLAGS = $(SYSTEM_FLAGS)

$(U)/lib/crt0.o: $(U)/user/libc/crt0.o
	@mkdir -p $(@D)
	@cp $< $@

$(U)/lib/libclockhand.a: $(LIBC_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	@ar rcs $@ $^

ULIBS := $(U)/lib/crt0.o $(U)/lib/libclockhand.a
link_program = @mkdir -p $(@D); echo "  ULINK   $@"; \
	$(UCC) -o $@.debug $(filter %.o,$(filter-out $(U)/lib/%,$^)) $(LINK_FLAGS) && strip -o $@ $@.debug

# proc has no libc behind it but string functions: no stdio, no heap.
$(U)/bin/proc: $(PROC_OBJ) build/newlib/stamp
	@mkdir -p $(@D); echo "  ULINK   $@"
	@$(UCC) -nostdlib -Wl,-e,_start -o $@.debug $(PROC_OBJ) -lc -lgcc && strip -o $@ $@.debug
$(U)/bin/init: $(INIT_OBJ) $(ULIBS)
	$(link_program)
$(U)/bin/sh: $(SH_OBJ) $(ULIBS)
	$(link_program)
$(U)/bin/clockbox: $(BOX_OBJ) $(ULIBS)
	$(link_program)
$(addprefix $(U)/bin/,$(WORKLOADS)): $(U)/bin/%: $(U)/user/workloads/%.o $(ULIBS)
	$(link_program)
$(TEST_PROGS): $(U)/tests/%: $(U)/user/tests/%.o $(U)/user/tests/tap.o $(ULIBS)
	$(link_program)
$(U)/tests/stress: $(STRESS_OBJ)

$(B)/system.arc: $(SYSTEM_PROGS) tools/mkarchive tools/make/user.mk $(wildcard user/etc/*)
	@mkdir -p $(@D)
	@echo "  ARCHIVE $@"
	@tools/mkarchive --max $(ARCHIVE_MAX) -o $@ \
		$(foreach p,$(ARCHIVED),/bin/$(notdir $(p))=$(p)) \
		$(foreach f,$(wildcard user/etc/*),/etc/$(notdir $(f))=$(f)) \
		$(foreach l,$(BOX_LINKS),/bin/$(l)=@/bin/clockbox) /tmp/

BAD_PROGRAMS := not_a_program cut_program empty_program low_program

$(U)/bad/stamp: $(U)/bin/hogmem user/tests/mkbad
	@user/tests/mkbad $< $(@D)
	@touch $@

$(B)/tests.arc: $(TEST_PROGS) $(U)/bad/stamp tools/mkarchive
	@mkdir -p $(@D)
	@echo "  ARCHIVE $@"
	@tools/mkarchive -o $@ $(foreach p,$(TEST_PROGS),/bin/$(notdir $(p))=$(p)) \
		$(foreach p,$(BAD_PROGRAMS),/bin/$(p)=$(U)/bad/$(p)) /etc/data=$(U)/bad/data

# Nothing that a 486 lacks may be in any program.
user-check: $(SYSTEM_PROGS) $(TEST_PROGS)
	@for p in $^; do ! objdump -d $$p | grep -E 'cmov|%xmm|endbr|%mm[0-7]|sysenter' || \
		{ echo "$$p: not for a 486"; exit 1; }; done; echo "programs: 486 only"

-include $(LIBC_OBJ:.o=.d) $(PROC_OBJ:.o=.d) $(INIT_OBJ:.o=.d) $(SH_OBJ:.o=.d) $(BOX_OBJ:.o=.d) \
	$(patsubst %,$(U)/user/workloads/%.d,$(WORKLOADS)) $(patsubst %,$(U)/user/tests/%.d,$(GUEST_TESTS) tap stress fuzz allocfail swaprule idle22) $(STRESS_OBJ:.o=.d)
