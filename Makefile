# Clockhand. `make help` lists what there is; the parts are in tools/make/.
RMAP    ?= anon_vma
B       := build/$(RMAP)
include tools/make/kernel.mk
include tools/make/user.mk
include tools/make/host.mk
