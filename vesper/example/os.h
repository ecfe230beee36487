/* SPDX-License-Identifier: MIT */
/*
 * A small operating system for exercises with disks: threads, files, a page cache and a disk driver,
 * on the simulated disk of vesper.h. It is a program of the host, but its time is the disk's alone:
 * computing takes none, so a run depends on its input only, whatever else the host does.
 *
 * A program (concurrent_read.c) calls thread_start(), file_create() and file_read(). What students
 * replace are three files, chosen when the program is built (Makefile): the disk scheduler
 * (core/scheduler.h), the prefetcher (core/prefetch.h) and the replacement policy
 * (core/replacement.h) of the cache.
 */
#ifndef OS_H
#define OS_H

#include "scheduler.h"
#include "vesper.h"

#define BLOCK_BYTES 512
#define FILES_MAX 64
#define THREADS_MAX 64
#define NO_SLOT U32_MAX

struct options {
	const char *profile;
	u32 blocks; /* of the disk */
	u32 cache_pages; /* 0: no cache */
	u32 most_pages; /* longest prefetch */
	u64 seed;
	bool log; /* print each request */
};

/* Print a message and end the program with code 1. */
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- thread.c: threads take turns; a thread runs until it waits or ends ---------------- */

struct thread;

void thread_start(void (*run)(u32 number), u32 number);
struct thread *thread_current(void);
u32 thread_number(const struct thread *thread);

/* Let the current thread wait until another one calls thread_wake() for it. */
void thread_wait(void);
void thread_wake(struct thread *thread);

/* Run all threads to their end; time passes when none can run. */
void threads_run(void);

/* ---- disk.c: the driver, with a queue of requests --------------------------------------- */

void disk_init(const struct options *options);

/* The contents of the disk, for mkfs only: no time passes. */
void *disk_contents(u32 block);

/* Read blocks, and wake or call back when they are there. */
void disk_read(u32 block, u32 blocks, void *data, void (*ready)(void *argument),
	       void *argument);

/* Read blocks, and wait. */
void disk_read_now(u32 block, u32 blocks, void *data);

/* Let the disk do something: start a request or advance to the next interrupt. False: nothing. */
bool disk_turn(void);
void disk_report(void);

/* ---- file.c: files, each in one piece --------------------------------------------------- */

/* Create a file of this length at this block, before the threads run. */
void file_create(u32 file, u32 block, u32 bytes);

/* Read bytes from a place in a file, through the cache if there is one. */
void file_read(u32 file, u32 at, void *to, u32 bytes);
u32 file_bytes(u32 file);

/* The byte that file_create() put there, to check what file_read() brings. */
char file_byte(u32 file, u32 at);

/* ---- cache.c: pages of files, a block each ---------------------------------------------- */

void cache_init(const struct options *options);
bool cache_is_on(void);

/* A page of a file, which has file_pages pages and begins at file_block. */
struct page_place {
	u32 file, page;
	u32 file_pages;
	u32 file_block;
};

/* Read bytes of a page, after waiting for it if necessary. */
void cache_read(const struct page_place *place, u32 within, void *to, u32 bytes);
void cache_report(void);

#endif
