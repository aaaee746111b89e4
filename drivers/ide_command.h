/*
 * ATA in data: what IDENTIFY DEVICE says, and the registers of each command. Nothing here
 * touches a port, so that the host can test it. Numbers: ATA/ATAPI-6 (T13/1410D).
 */
#ifndef DRIVERS_IDE_COMMAND_H
#define DRIVERS_IDE_COMMAND_H

#include "kernel/types.h"

enum {
	IDE_IDENTIFY_WORDS = 256, IDE_MODEL_BYTES = 41, IDE_MULTIPLE_MAX = 16,
	ATA_IDENTIFY = 0xec, ATA_SET_MULTIPLE = 0xc6, ATA_INIT_PARAMETERS = 0x91,
};

struct ide_identity {
	char	 model[IDE_MODEL_BYTES];
	sector_t sectors;
	uint16_t cylinders;		/* the translation in force; used without LBA */
	uint8_t	 heads, sectors_per_track;
	uint8_t	 multiple;		/* sectors a block of READ MULTIPLE; 0: can't */
	bool	 lba, lba48;
	bool	 dma;			/* can, and a mode was chosen by the BIOS */
	bool	 dma_able;		/* can */
	bool	 flush, flush_ext;
};

enum ide_operation { IDE_READ, IDE_WRITE, IDE_FLUSH };
enum ide_mode { IDE_SINGLE, IDE_MULTIPLE, IDE_DMA, IDE_MODE_COUNT };

/* The registers of a command. `ext`: the high bytes go first, into the same ports. */
struct ide_taskfile {
	uint8_t command, device;
	uint8_t count, lba[3];
	uint8_t count_high, lba_high[3];
	bool	ext;
};

/* -ENODEV if the words describe no disk that can be used. */
int ide_identity_parse(const uint16_t words[IDE_IDENTIFY_WORDS], struct ide_identity *id);
/* The registers to move `sectors` (1 to 256; not for a flush) at `sector` on drive `unit`. */
void ide_taskfile_build(const struct ide_identity *id, unsigned unit,
			enum ide_operation op, enum ide_mode mode, sector_t sector,
			uint32_t sectors, struct ide_taskfile *tf);

#endif
