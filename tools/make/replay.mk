# The replays: a target a job, which share nothing, and the report of them all. `make replay` calls this when
# kernel and programs are built; a job runs again when these are newer or the tables give it another command.
ROWS ?=
OUT  ?= build/replay
MAP  := scan
REPLAY  := tools/replay --out $(OUT) $(if $(ROWS),--rows $(ROWS))
TARGETS := $(shell $(REPLAY) --targets)
STALE   := $(shell $(REPLAY) --stale)

.PHONY: report $(STALE)
report: $(TARGETS)
	@$(REPLAY) --collect

$(TARGETS): $(OUT)/jobs/%.json: build/$(MAP)/clockhand build/$(MAP)/system.arc
	@tools/replay --out $(OUT) --job $*

build/$(MAP)/clockhand build/$(MAP)/system.arc:
	@echo '$@ is not there: RMAP=$(MAP) make kernel system' >&2; exit 1
