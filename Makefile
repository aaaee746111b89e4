# Clockhand. `make help` lists what there is; the rules are in tools/make/.
RMAP   ?= anon_vma
WERROR ?= 1
B      := build/$(RMAP)
export RMAP WERROR
.DEFAULT_GOAL := all

include tools/make/host.mk
# The rules of kernel and programs ask the compiler things. What only starts a second make does
# without them: the compiler may not be installed yet.
ifneq ($(filter-out $(WITHOUT_COMPILER),$(or $(MAKECMDGOALS),all)),)
include tools/make/kernel.mk tools/make/user.mk
endif
