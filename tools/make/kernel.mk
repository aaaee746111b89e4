# The kernel: `make kernel` builds $(B)/clockhand.elf (with debug information) and
# $(B)/clockhand, the same without it, for disks. Included by ../../Makefile, which
# sets RMAP and B. Sources are found by wildcard: a new file needs no line here.
#
# The link runs twice: the first gives the addresses of all functions, from which
# tools/mksyms makes the table that backtraces are printed from. LDLIBS may name objects
# that a test adds.
# It stands alone too: `make -f tools/make/kernel.mk kernel`.
RMAP     ?= anon_vma
B        ?= build/$(RMAP)
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
	-fno-stack-protector -fcf-protection=none -fno-omit-frame-pointer \
	-fno-asynchronous-unwind-tables -fno-strict-aliasing -mpreferred-stack-boundary=2 \
	-nostdinc -isystem $(GCC_INCLUDE) -I. -Imm/rmap/$(RMAP) \
	-Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes
ifneq ($(WERROR),0)
KCFLAGS += -Werror
endif

KSOURCES := $(sort $(wildcard boot/*.c kernel/*.c drivers/*.c mm/*.c mm/reclaim/*.c \
	mm/swap/*.c mm/oom/*.c mm/rmap/*.c mm/rmap/$(RMAP)/*.c))
KASM     := $(sort $(wildcard boot/*.asm kernel/*.asm))
KOBJECTS := $(KASM:%.asm=$(B)/%.asm.o) $(KSOURCES:%.c=$(B)/%.o)

KLINK = $(LD) -m elf_i386 -T boot/kernel.ld -z noexecstack --no-warn-rwx-segments

.PHONY: kernel
kernel: $(B)/clockhand.elf $(B)/clockhand

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

$(B)/syms-1.asm: tools/mksyms
	@mkdir -p $(@D)
	@tools/mksyms </dev/null >$@

$(B)/clockhand-1.elf: $(KOBJECTS) $(B)/syms-1.asm.o boot/kernel.ld
	@$(KLINK) -o $@ $(KOBJECTS) $(B)/syms-1.asm.o $(LDLIBS)

$(B)/syms-2.asm: $(B)/clockhand-1.elf tools/mksyms
	@nm -n $< | tools/mksyms >$@.new && mv $@.new $@

$(B)/syms-%.asm.o: $(B)/syms-%.asm
	@$(NASM) -f elf32 -o $@ $<

$(B)/clockhand.elf: $(KOBJECTS) $(B)/syms-2.asm.o boot/kernel.ld
	@echo "  LD    $@"
	@$(KLINK) -Map $(B)/clockhand.map -o $@ $(KOBJECTS) $(B)/syms-2.asm.o $(LDLIBS)

$(B)/clockhand: $(B)/clockhand.elf
	@strip -s -o $@ $<

-include $(KOBJECTS:.o=.d)
