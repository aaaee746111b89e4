# The kernel: `make kernel` builds $(B)/clockhand.elf (with debug information) and
# $(B)/clockhand, the same without it, for disks. Included by ../../Makefile, which
# sets RMAP and B. Sources are found by wildcard: a new file needs no line here.
#
# The link runs twice: the first gives the addresses of all functions, from which
# tools/mksyms makes the table that backtraces are printed from. LDLIBS may name objects
# that a test adds. FOR=mm/frame.c BY=FILE KERNEL_OUT=FOLDER exchanges one object: FILE, which may lie
# anywhere, is compiled for mm/frame.c, and the kernel goes to FOLDER (tools/seam).
# It stands alone too: `make -f tools/make/kernel.mk kernel`.
RMAP     ?= anon_vma
B        ?= build/$(RMAP)
KERNEL_OUT ?= $(B)
KCC      ?= gcc
NASM     ?= nasm
LD       ?= ld
WERROR   ?= 1

ifeq ($(wildcard mm/rmap/$(RMAP)/rmap_types.h),)
$(error RMAP=$(RMAP): there is no such reverse mapping; there is $(notdir $(patsubst %/,%,$(dir $(wildcard mm/rmap/*/rmap_types.h)))))
endif

GCC_INCLUDE := $(shell $(KCC) -m32 -print-file-name=include)

# Arguments in eax, edx, ecx: the assembler files know it.
KCFLAGS := -m32 -mregparm=3 -march=i486 -mtune=i486 -std=gnu11 -O2 -g -ffreestanding -fno-pic -fno-pie \
	-falign-functions=4 -falign-jumps=1 -falign-loops=1 \
	-fno-stack-protector -fcf-protection=none -fno-omit-frame-pointer \
	-fno-asynchronous-unwind-tables -fno-strict-aliasing -mpreferred-stack-boundary=2 \
	-nostdinc -isystem $(GCC_INCLUDE) -I. -Imm/rmap/$(RMAP) \
	-Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes
ifneq ($(WERROR),0)
KCFLAGS += -Werror
endif

KSOURCES := $(sort $(wildcard boot/*.c kernel/*.c drivers/*.c mm/*.c mm/reclaim/*.c mm/reclaim/$(if $(filter scan,$(RMAP)),scan,rmap)/*.c \
	mm/swap/*.c mm/oom/*.c mm/rmap/*.c mm/rmap/$(RMAP)/*.c))
KASM     := $(sort $(wildcard boot/*.asm kernel/*.asm))
KOBJECTS := $(KASM:%.asm=$(B)/%.asm.o) $(KSOURCES:%.c=$(B)/%.o)
ifdef FOR
KOBJECTS := $(patsubst $(B)/$(FOR:.c=.o),$(KERNEL_OUT)/exchanged.o,$(KOBJECTS))
endif

KLINK = $(LD) -m elf_i386 -T boot/kernel.ld -n -z noexecstack --no-warn-rwx-segments

.PHONY: kernel
kernel: $(KERNEL_OUT)/clockhand.elf $(KERNEL_OUT)/clockhand

$(B)/%.o: %.c tools/make/kernel.mk
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(KCC) $(KCFLAGS) $(KCFLAGS_$(notdir $*)) -MMD -MP -c -o $@ $<

$(B)/%.asm.o: %.asm tools/make/kernel.mk
	@mkdir -p $(@D)
	@echo "  NASM  $<"
	@$(NASM) -f elf32 -g -F dwarf -MD $(@:.o=.d) -MP -o $@ $<

# gcc would turn the loops of strlen and memcpy into calls of themselves.
KCFLAGS_syscall := -Wno-override-init
KCFLAGS_string := -fno-tree-loop-distribute-patterns

# What is exchanged is somebody's work at its beginning: helpers may have no user yet.
$(KERNEL_OUT)/exchanged.o: $(BY)
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(KCC) $(KCFLAGS) $(KCFLAGS_$(notdir $(FOR:.c=))) -Wno-unused -Wno-unused-parameter -c -o $@ $<

$(KERNEL_OUT)/syms-1.asm: tools/mksyms
	@mkdir -p $(@D)
	@tools/mksyms </dev/null >$@

$(KERNEL_OUT)/clockhand-1.elf: $(KOBJECTS) $(KERNEL_OUT)/syms-1.asm.o boot/kernel.ld
	@$(KLINK) -o $@ $(KOBJECTS) $(KERNEL_OUT)/syms-1.asm.o $(LDLIBS)

$(KERNEL_OUT)/syms-2.asm: $(KERNEL_OUT)/clockhand-1.elf tools/mksyms
	@nm -n $< | tools/mksyms >$@.new && mv $@.new $@

$(KERNEL_OUT)/syms-%.asm.o: $(KERNEL_OUT)/syms-%.asm
	@$(NASM) -f elf32 -o $@ $<

$(KERNEL_OUT)/clockhand.elf: $(KOBJECTS) $(KERNEL_OUT)/syms-2.asm.o boot/kernel.ld
	@echo "  LD    $@"
	@$(KLINK) -Map $(KERNEL_OUT)/clockhand.map -o $@ $(KOBJECTS) $(KERNEL_OUT)/syms-2.asm.o $(LDLIBS)

$(KERNEL_OUT)/clockhand: $(KERNEL_OUT)/clockhand.elf
	@strip -s -o $@ $<

-include $(KOBJECTS:.o=.d)
