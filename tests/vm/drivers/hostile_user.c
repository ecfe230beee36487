// SPDX-License-Identifier: MIT
/* hostile RESOURCE SEED ACCESSES: random loads and stores all over a card's mapped registers. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static uint64_t state;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33 ^ state;
}

static void touch(volatile char *at, unsigned int kind, uint64_t value)
{
	switch (kind) {
	case 0:
		*(volatile uint8_t *)at = value;
		break;
	case 1:
		*(volatile uint16_t *)at = value;
		break;
	case 2:
		*(volatile uint32_t *)at = value;
		break;
	case 3:
		*(volatile uint64_t *)at = value;
		break;
	case 4:
		(void)*(volatile uint32_t *)at;
		break;
	default:
		(void)*(volatile uint64_t *)at;
	}
}

int main(int argc, char **argv)
{
	int file = argc == 4 ? open(argv[1], O_RDWR) : -1;
	char *registers;
	long n;

	if (file < 0)
		return 1;
	registers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (registers == MAP_FAILED)
		return 1;
	state = strtoull(argv[2], NULL, 0);
	for (n = atol(argv[3]); n; n--) {
		/*
		 * Half of the offsets and values are small, as most registers are at
		 * the front.
		 */
		uint64_t at = draw() % 2 ? draw() % 0x160 : draw() % 4088;

		touch(registers + at, draw() % 6, draw() % 2 ? draw() % 0x160 : draw());
	}
	return 0;
}
