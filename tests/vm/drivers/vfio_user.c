// SPDX-License-Identifier: GPL-2.0
/*
 * vfio DEVICE GROUP: drives a copier from a process, by vfio-pci.
 *
 * Copies two pages that are far apart in memory and neighbours for the card, waits for the
 * interrupt, and has the card access addresses that it must not.  Prints a line for each step.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "copier_registers.h"

#define PAGE 4096
#define FROM 0x100000ull
#define TO 0x7ffff0000000ull

static volatile uint8_t *registers;
static int container, event;

static int check(int result, const char *what)
{
	if (result < 0) {
		printf("%s: %s\n", what, strerror(errno));
		exit(1);
	}
	return result;
}

static uint32_t get(uint32_t offset)
{
	return *(volatile uint32_t *)(registers + offset);
}

static void set(uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(registers + offset) = value;
}

static void set_address(uint32_t offset, uint64_t value)
{
	*(volatile uint64_t *)(registers + offset) = value;
}

static void map(void *memory, uint64_t address, uint32_t rights)
{
	struct vfio_iommu_type1_dma_map map = { .argsz = sizeof(map),
						.flags = rights,
						.vaddr = (uintptr_t)memory,
						.iova = address,
						.size = PAGE };

	check(ioctl(container, VFIO_IOMMU_MAP_DMA, &map), "map");
}

static void unmap(uint64_t address)
{
	struct vfio_iommu_type1_dma_unmap unmap = { .argsz = sizeof(unmap),
						    .iova = address,
						    .size = PAGE };

	check(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap), "unmap");
}

static int opened(const char *name, const char *number)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	char path[64];
	int group;

	snprintf(path, sizeof(path), "/dev/vfio/%s", number);
	container = check(open("/dev/vfio/vfio", O_RDWR), "container");
	group = check(open(path, O_RDWR), path);
	check(ioctl(group, VFIO_GROUP_GET_STATUS, &status), "status");
	printf("viable %u\n", status.flags & VFIO_GROUP_FLAGS_VIABLE);
	check(ioctl(group, VFIO_GROUP_SET_CONTAINER, &container), "set container");
	check(ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), "set IOMMU");
	return check(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, name), name);
}

static void map_registers(int device)
{
	struct vfio_region_info info = { .argsz = sizeof(info),
					 .index = VFIO_PCI_BAR0_REGION_INDEX };

	check(ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &info), "region");
	registers = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, device,
			 (off_t)info.offset);
	check(registers == MAP_FAILED ? -1 : 0, "mmap");
}

static void take_master(int device)
{
	struct vfio_region_info info = { .argsz = sizeof(info),
					 .index = VFIO_PCI_CONFIG_REGION_INDEX };
	uint16_t command;
	off_t at;

	check(ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &info), "configuration space");
	at = (off_t)info.offset + PCI_COMMAND;
	check((int)pread(device, &command, 2, at), "read command");
	command |= PCI_COMMAND_MASTER;
	check((int)pwrite(device, &command, 2, at), "write command");
}

static void take_interrupt(int device)
{
	struct {
		struct vfio_irq_set set;
		int32_t event;
	} wanted = { .set = { .argsz = sizeof(wanted),
			      .flags = VFIO_IRQ_SET_DATA_EVENTFD |
				       VFIO_IRQ_SET_ACTION_TRIGGER,
			      .index = VFIO_PCI_MSI_IRQ_INDEX,
			      .count = 1 } };

	event = check(eventfd(0, EFD_CLOEXEC), "eventfd");
	memcpy(wanted.set.data, &event, sizeof(event));
	check(ioctl(device, VFIO_DEVICE_SET_IRQS, &wanted), "interrupt");
}

/* Has the card copy, and prints what it said. */
static void copy(const char *what, uint64_t from, uint64_t to, uint32_t bytes)
{
	struct pollfd waits = { .fd = event, .events = POLLIN };
	uint64_t interrupts = 0;

	set_address(COPIER_SOURCE, from);
	set_address(COPIER_DESTINATION, to);
	set(COPIER_LENGTH, bytes);
	set(COPIER_START, 1);
	if (poll(&waits, 1, 20000) == 1)
		check((int)read(event, &interrupts, sizeof(interrupts)), "event");
	printf("%s: interrupts %d, failed %d, error %u\n", what, interrupts > 0,
	       !!(get(COPIER_STATUS) & COPIER_STATUS_FAILED_MASK), get(COPIER_ERROR));
	set(COPIER_STATUS, COPIER_STATUS_DONE_MASK | COPIER_STATUS_FAILED_MASK);
}

int main(int argc, char **argv)
{
	uint8_t *memory = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int device, i;

	if (argc != 3)
		return 2;
	device = opened(argv[1], argv[2]);
	map_registers(device);
	take_master(device);
	take_interrupt(device);
	for (i = 0; i < 8 * PAGE; i++)
		memory[i] = (uint8_t)(i * 7 + i / PAGE);
	map(memory + 5 * PAGE, FROM, VFIO_DMA_MAP_FLAG_READ);
	map(memory + 1 * PAGE, FROM + PAGE, VFIO_DMA_MAP_FLAG_READ);
	map(memory + 7 * PAGE, TO, VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE);
	set(COPIER_COMMAND, 0);
	set(COPIER_ENABLE, COPIER_ENABLE_DONE_MASK | COPIER_ENABLE_FAILED_MASK);
	copy("across pages", FROM + PAGE / 2, TO, PAGE);
	printf("equal %d\n",
	       !memcmp(memory + 7 * PAGE, memory + 5 * PAGE + PAGE / 2, PAGE / 2) &&
		       !memcmp(memory + 7 * PAGE + PAGE / 2, memory + 1 * PAGE,
			       PAGE / 2));
	copy("past the end", FROM + PAGE, TO + PAGE / 2, PAGE);
	copy("to what it may only read", TO, FROM, 64);
	copy("its own physical address", 0x1000000, TO, 64);
	unmap(TO);
	copy("unmapped", FROM, TO, 64);
	map(memory + 3 * PAGE, TO, VFIO_DMA_MAP_FLAG_WRITE);
	copy("mapped anew", FROM, TO, 64);
	printf("equal %d\n", !memcmp(memory + 3 * PAGE, memory + 5 * PAGE, 64));
	return 0;
}
