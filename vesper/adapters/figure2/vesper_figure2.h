/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The three functions of Figure 2 (SIGCSE 2006), as they are there, for a course whose text has
 * them. One file of the operating system includes this header. The disk has VESPER_FIGURE2_BLOCKS
 * blocks of 512 bytes, in memory; a wrong call panics, since the functions return nothing.
 * vesper_disk is the disk for vesper_next_ns(), vesper_advance() and vesper_statistics().
 */
#ifndef VESPER_FIGURE2_H
#define VESPER_FIGURE2_H

#include "vesper.h"

#ifndef VESPER_FIGURE2_BLOCKS
#define VESPER_FIGURE2_BLOCKS 256 /* 128 KB, the disk of Nachos */
#endif
#ifndef VESPER_FIGURE2_PANIC
#define VESPER_FIGURE2_PANIC(words) __builtin_trap()
#endif

typedef void (*FuncPtr)(void);

struct vesper vesper_disk;
static char vesper_figure2_data[VESPER_FIGURE2_BLOCKS * 512];
static FuncPtr vesper_figure2_handler;

static void vesper_figure2_interrupt(void *context, const struct vesper_done *done)
{
	(void)context;
	(void)done;
	vesper_figure2_handler();
}

static void vesper_figure2_check(int result)
{
	if (result)
		VESPER_FIGURE2_PANIC(vesper_error(result));
}

static void Init(const char *profile, FuncPtr interrupt_hdr)
{
	static struct vesper_config config; /* all 0, in C and in C++ */

	config.profile = profile;
	config.blocks = VESPER_FIGURE2_BLOCKS;
	config.block_bytes = 512;
	config.interrupt = interrupt_hdr ? vesper_figure2_interrupt : 0;
	config.memory = vesper_figure2_data;
	vesper_figure2_handler = interrupt_hdr;
	vesper_figure2_check(vesper_init(&vesper_disk, &config));
}

static void Read(int start_block, int len, char *data)
{
	vesper_figure2_check(vesper_read(&vesper_disk, start_block, len, data));
}

static void Write(int start_block, int len, char *data)
{
	vesper_figure2_check(vesper_write(&vesper_disk, start_block, len, data));
}

#endif
