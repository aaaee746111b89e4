/*
 * PCI by configuration mechanism 1: an address to port 0xcf8, the register at 0xcfc.
 * Machines without PCI have nothing at these ports; the scan finds that out and is content.
 */
#include "drivers/pci.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"

enum {
	PCI_ADDRESS_PORT = 0xcf8, PCI_DATA_PORT = 0xcfc,
	PCI_SLOTS = 32, PCI_FUNCTIONS = 8, PCI_DEVICES_MAX = 32, PCI_BUSES_MAX = 8,
	PCI_NO_VENDOR = 0xffff, PCI_MULTI_FUNCTION = 0x80,
	PCI_CLASS_BRIDGE = 0x06, PCI_SUBCLASS_PCI_BRIDGE = 0x04,
};
#define PCI_ADDRESS_ENABLE 0x80000000u

static struct pci_device devices[PCI_DEVICES_MAX];	/* constant after boot */
static unsigned device_count;

static void select(const struct pci_device *d, unsigned reg)
{
	outl(PCI_ADDRESS_PORT, PCI_ADDRESS_ENABLE | (uint32_t)d->bus << 16 |
	     (uint32_t)d->slot << 11 | (uint32_t)d->function << 8 | (reg & 0xfc));
}

uint32_t pci_read32(const struct pci_device *d, unsigned reg)
{
	select(d, reg);
	return inl(PCI_DATA_PORT);
}

uint16_t pci_read16(const struct pci_device *d, unsigned reg)
{
	select(d, reg);
	return inw((uint16_t)(PCI_DATA_PORT + (reg & 2)));
}

uint8_t pci_read8(const struct pci_device *d, unsigned reg)
{
	select(d, reg);
	return inb((uint16_t)(PCI_DATA_PORT + (reg & 3)));
}

void pci_write16(const struct pci_device *d, unsigned reg, uint16_t value)
{
	select(d, reg);
	outw((uint16_t)(PCI_DATA_PORT + (reg & 2)), value);
}

uint16_t pci_io_base(const struct pci_device *d, unsigned n)
{
	uint32_t bar = pci_read32(d, PCI_BAR0 + 4 * n);

	return bar & 1 ? (uint16_t)(bar & 0xfffc) : 0;
}

void pci_enable_bus_master(const struct pci_device *d)
{
	pci_write16(d, PCI_COMMAND, pci_read16(d, PCI_COMMAND) | PCI_COMMAND_IO |
				    PCI_COMMAND_MASTER);
}

const struct pci_device *pci_find_class(uint8_t class, uint8_t subclass, unsigned n)
{
	for (unsigned i = 0; i < device_count; i++)
		if (devices[i].class == class && devices[i].subclass == subclass && n-- == 0)
			return &devices[i];
	return NULL;
}

/* The address register keeps what is written to it where there is PCI. */
static bool present(void)
{
	uint32_t before = inl(PCI_ADDRESS_PORT);
	bool found;

	outl(PCI_ADDRESS_PORT, PCI_ADDRESS_ENABLE);
	found = inl(PCI_ADDRESS_PORT) == PCI_ADDRESS_ENABLE;
	outl(PCI_ADDRESS_PORT, before);
	return found;
}

/* Look at one function; false if nothing is there. A bridge's bus joins `buses`. */
static bool scan_function(struct pci_device d, uint8_t *buses, unsigned *bus_count)
{
	d.vendor = pci_read16(&d, PCI_VENDOR);
	if (d.vendor == PCI_NO_VENDOR || d.vendor == 0)
		return false;
	d.device = pci_read16(&d, PCI_DEVICE);
	d.class = pci_read8(&d, PCI_CLASS);
	d.subclass = pci_read8(&d, PCI_SUBCLASS);
	d.prog_if = pci_read8(&d, PCI_PROG_IF);
	printk("pci: %02x:%02x.%u %04x:%04x class %02x.%02x.%02x\n", d.bus, d.slot, d.function,
	       d.vendor, d.device, d.class, d.subclass, d.prog_if);
	if (d.class == PCI_CLASS_BRIDGE && d.subclass == PCI_SUBCLASS_PCI_BRIDGE &&
	    *bus_count < PCI_BUSES_MAX)
		buses[(*bus_count)++] = pci_read8(&d, PCI_SECONDARY_BUS);
	if (device_count < PCI_DEVICES_MAX)
		devices[device_count++] = d;
	return true;
}

static void scan_bus(uint8_t bus, uint8_t *buses, unsigned *bus_count)
{
	for (uint8_t slot = 0; slot < PCI_SLOTS; slot++) {
		struct pci_device d = { .bus = bus, .slot = slot };
		bool multi;

		if (!scan_function(d, buses, bus_count))
			continue;
		multi = pci_read8(&d, PCI_HEADER_TYPE) & PCI_MULTI_FUNCTION;
		for (d.function = 1; multi && d.function < PCI_FUNCTIONS; d.function++)
			scan_function(d, buses, bus_count);
	}
}

void pci_init(void)
{
	uint8_t buses[PCI_BUSES_MAX] = { 0 };
	unsigned bus_count = 1;

	if (!present()) {
		printk("pci: none\n");
		return;
	}
	for (unsigned i = 0; i < bus_count; i++)
		scan_bus(buses[i], buses, &bus_count);
}
