/* The PCI bus: found, listed, asked for devices by class. Configuration mechanism 1. */
#ifndef DRIVERS_PCI_H
#define DRIVERS_PCI_H

#include "kernel/types.h"

/* Registers of configuration space, in bytes (PCI Local Bus Specification 2.2, 6.1). */
enum {
	PCI_VENDOR = 0x00, PCI_DEVICE = 0x02, PCI_COMMAND = 0x04, PCI_PROG_IF = 0x09,
	PCI_SUBCLASS = 0x0a, PCI_CLASS = 0x0b, PCI_HEADER_TYPE = 0x0e, PCI_BAR0 = 0x10,
	PCI_SECONDARY_BUS = 0x19, PCI_INTERRUPT_LINE = 0x3c,
};
enum { PCI_COMMAND_IO = BIT(0), PCI_COMMAND_MASTER = BIT(2) };

struct pci_device {
	uint8_t	 bus, slot, function;
	uint8_t	 class, subclass, prog_if;
	uint16_t vendor, device;
};

void pci_init(void);			/* scan and log; no bus is no error */
/* The n-th device of a class, from 0; NULL if there are fewer. */
const struct pci_device *pci_find_class(uint8_t class, uint8_t subclass, unsigned n);

uint8_t	 pci_read8(const struct pci_device *d, unsigned reg);
uint16_t pci_read16(const struct pci_device *d, unsigned reg);
uint32_t pci_read32(const struct pci_device *d, unsigned reg);
void	 pci_write16(const struct pci_device *d, unsigned reg, uint16_t value);

/* First port of base address register n; 0 if it is none, or is memory. */
uint16_t pci_io_base(const struct pci_device *d, unsigned n);
/* Let the device answer on its ports and access memory by itself. */
void pci_enable_bus_master(const struct pci_device *d);

#endif
