// SPDX-License-Identifier: MIT
/*
 * Runs instructions that the bus does not know on a 64-bit register at a multiple of 4, and on the
 * MSI-X table beside the registers of the card odd (/dev/odd).  Then does so with a fault, where
 * the registers do not answer.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD 0x120
#define SPLIT 0x144
#define ENTRY 0xa00

static volatile uint8_t *page;

static uint64_t load_odd(unsigned int offset)
{
	uint64_t value;

	__asm__ volatile("fildll (%1)\n"
			 "fistpll %0"
			 : "=m"(value)
			 : "r"(page + offset)
			 : "memory");
	return value;
}

static void store_odd(unsigned int offset, uint64_t value)
{
	__asm__ volatile("fildll %0\n"
			 "fistpll (%1)" ::"m"(value),
			 "r"(page + offset)
			 : "memory");
}

static volatile uint64_t *at(unsigned int offset)
{
	return (volatile uint64_t *)(page + offset);
}

static void split(void)
{
	uint64_t low, whole, high;

	*at(SPLIT) = 0x1122334455667788;
	low = load_odd(SPLIT - 4);
	whole = load_odd(SPLIT);
	high = load_odd(SPLIT + 4);
	printf("split %lx %lx %lx\n", low, whole, high);
	store_odd(SPLIT, 0x123456789abcdef0);
	store_odd(SPLIT + 4, 0x2468ace0);
	printf("both %lx\n", *at(SPLIT));
}

static void use_table(void)
{
	printf("entry %lx\n", load_odd(ENTRY + 8));
	store_odd(ENTRY + 8, 0x55);
	printf("stored %lx\n", *at(ENTRY + 8));
}

static int set_fault(const char *text)
{
	int file = open("/sys/kernel/vpcib/fault", O_WRONLY);
	int done = file >= 0 && write(file, text, strlen(text)) > 0;

	close(file);
	return done;
}

/* The card is silent for 20 ms. */
static int use_table_of_a_silent_card(void)
{
	if (!set_fault("ones 1"))
		return 1;
	printf("silent %x\n", *(volatile uint32_t *)at(WORD));
	*(volatile uint32_t *)at(ENTRY) = 0x1234;
	printf("address %x\n", *(volatile uint32_t *)at(ENTRY));
	if (!set_fault("none"))
		return 1;
	printf("again %lx\n", load_odd(WORD));
	if (!set_fault("ones 1"))
		return 1;
	printf("gone %lx\n", load_odd(WORD));
	return !set_fault("none");
}

int main(void)
{
	int file = open("/dev/odd", O_RDWR);

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		return 1;
	printf("odd %ld\n", syscall(SYS_gettid));
	split();
	use_table();
	return use_table_of_a_silent_card();
}
