# Clockhand. `make help` lists what there is; the rules are in tools/make/.
RMAP   ?= anon_vma
WERROR ?= 1
B      := build/$(RMAP)
export RMAP WERROR
.DEFAULT_GOAL := all

include tools/make/host.mk
include $(wildcard tools/make/kernel.mk tools/make/user.mk)
