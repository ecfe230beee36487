/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A simulated disk for a teaching operating system, with the timing of a real one: the interface of
 * Vesper (DeRosa, Shen, Stewart and Pearson, SIGCSE 2006, Figure 2). docs/vesper.md is the manual.
 *
 *	struct vesper disk;                              // zeroed: static, or = { 0 }
 *	struct vesper_config config = {
 *		.profile = "vesper-zoned", .blocks = 256, .block_bytes = 512,
 *		.interrupt = disk_interrupt, .memory = data,
 *	};
 *	vesper_init(&disk, &config);
 *	vesper_read(&disk, 17, 1, buffer);               // returns at once
 *	vesper_advance(&disk, vesper_next_ns(&disk));    // runs disk_interrupt
 *
 * The caller gives all memory; the library allocates none, calls no libc and reads no clock. Time
 * is what the caller says it is: vesper_advance() moves the disk's clock forward and runs the
 * interrupt handler for each request that has completed by then. vesper_next_ns() says when the
 * next request completes, so that the event queue of a simulated machine can include the disk. In a
 * kernel with a timer, set the timer to vesper_next_ns() and call vesper_advance() from the timer's
 * interrupt. vesper_wall.h has a timer thread for programs.
 *
 * The library has no lock: the caller makes one call at a time (in a kernel: with interrupts off).
 * A handler may call every function but vesper_advance() and vesper_exit(), so it may issue the
 * next request.
 *
 * A request's buffer belongs to the disk until the request's interrupt: data are moved then, in
 * both directions, as by DMA.
 */
#ifndef VESPER_H
#define VESPER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VESPER_DEPTH_MAX 32
#define VESPER_NEVER UINT64_MAX
#define VESPER_STATE_BYTES 51200

/* What functions return. vesper_error() returns a sentence about each. */
enum vesper_result {
	VESPER_OK = 0,
	VESPER_NOT_READY = -1, /* the disk was not initialised */
	VESPER_TWICE = -2, /* the disk is initialised already; vesper_exit() first */
	VESPER_NO_PROFILE = -3, /* no profile of this name, or a damaged table */
	VESPER_BAD_SIZE =
		-4, /* block size, number of blocks, or profile of another size */
	VESPER_NO_STORAGE = -5, /* no memory and no storage functions */
	VESPER_BAD_DEPTH =
		-6, /* deeper than VESPER_DEPTH_MAX or than the drive's queue */
	VESPER_NO_HANDLER = -7, /* no interrupt handler */
	VESPER_NULL = -8, /* a pointer is NULL */
	VESPER_EMPTY = -9, /* a request of no blocks */
	VESPER_PAST_END = -10, /* a request ends past the end of the disk */
	VESPER_BUSY = -11, /* as many requests are pending as the disk takes */
	VESPER_OVERLAP =
		-12, /* shares a block with a pending request, and one of both writes */
	VESPER_BACKWARDS = -13, /* the time is before the disk's clock */
	VESPER_IN_HANDLER = -14, /* an interrupt handler must not call this function */
	VESPER_IO = -15, /* the storage functions failed: only in vesper_done.result */
	VESPER_RESULTS = 16
};

const char *vesper_error(int result);

/* A completed request, as its interrupt handler sees it; times are on the caller's clock. */
struct vesper_done {
	uint64_t start_block;
	uint32_t blocks;
	uint8_t writes; /* 1: vesper_write() */
	uint8_t hit; /* 1: the drive's cache held it */
	int result; /* VESPER_OK or VESPER_IO */
	void *data;
	uint64_t issued_ns; /* when it was issued */
	uint64_t start_ns; /* when the drive began with it */
	uint64_t
		done_ns; /* when it completed; the handler may run later, never earlier */
};

/* Runs when a request completes; it may issue the next request. */
typedef void vesper_interrupt(void *context, const struct vesper_done *done);

/*
 * Where the data are, if they are not in memory. Both functions move whole blocks, and return 0 or
 * a negative number. vesper_file.h keeps them in a file.
 */
struct vesper_storage {
	int (*read)(void *context, uint64_t start_block, uint32_t blocks, void *data);
	int (*write)(void *context, uint64_t start_block, uint32_t blocks,
		     const void *data);
	void *context;
};

/* Whether the tracks are scaled to a small disk (section 2.3 of the paper). */
enum vesper_scaling {
	VESPER_SCALE_SMALL =
		0, /* by the profile; without its word, disks below 16 MB */
	VESPER_SCALE_NEVER = 1,
	VESPER_SCALE_ALWAYS = 2
};

/* Set all unused members to 0. */
struct vesper_config {
	const char *profile; /* a name that vesper_profile_name() returns */
	const struct vesper_profile
		*table; /* or a table of `understudy disks export` */
	uint64_t blocks; /* size of the disk */
	uint32_t block_bytes; /* 64, 128, 256, or a multiple of 512 up to 1 MiB */
	uint32_t depth; /* requests pending at once; 0: one */
	vesper_interrupt *interrupt;
	void *context; /* first argument of the handler */
	void *memory; /* blocks * block_bytes bytes, which the disk keeps its data in */
	struct vesper_storage storage; /* or functions */
	int timing_only; /* 1: no data are kept, and buffers may be NULL */
	int scaling; /* enum vesper_scaling */
	uint64_t seed; /* of random latencies, if the profile has any */
	uint64_t now_ns; /* the clock's time now */
};

/* The disk. Opaque; the caller provides it zeroed, and doesn't move it while it is in use. */
struct vesper {
	uint64_t state[VESPER_STATE_BYTES / 8];
};

/* Return VESPER_OK, or the error, with which the disk stays as it was. */
int vesper_init(struct vesper *disk, const struct vesper_config *config);

/* Forget pending requests without interrupts; the memory may be used for vesper_init() again. */
int vesper_exit(struct vesper *disk);

/*
 * Issue a request at the disk's current time. Return VESPER_OK at once, with the interrupt to
 * follow, or an error, with no interrupt and nothing changed.
 */
int vesper_read(struct vesper *disk, uint64_t start_block, uint32_t blocks, void *data);
int vesper_write(struct vesper *disk, uint64_t start_block, uint32_t blocks,
		 const void *data);

/* Return when the next request completes, or VESPER_NEVER if none is pending. */
uint64_t vesper_next_ns(const struct vesper *disk);

/*
 * Set the clock, and run the handler for each request completed by now_ns, in order. The handler's
 * own requests are issued at now_ns.
 */
int vesper_advance(struct vesper *disk, uint64_t now_ns);

/* Return the disk's clock: the time of the last vesper_advance(). */
uint64_t vesper_now_ns(const struct vesper *disk);

/*
 * What the disk has done since vesper_init() or vesper_restart_statistics(). With no request pending,
 *
 *	elapsed_ns = seek_ns + rotation_ns + transfer_ns + cache_ns + idle_ns
 *
 * A request in service adds its times when it completes. For a drive with a buffer that works in
 * time, seek, rotation and transfer are those of the request without the buffer, as far as the
 * request took that long; the rest is cache_ns.
 */
struct vesper_totals {
	uint64_t elapsed_ns;
	uint64_t seek_ns; /* moving the arm, including the fixed cost of a request */
	uint64_t rotation_ns; /* waiting for the first sector */
	uint64_t
		transfer_ns; /* sectors passing under the head, including switches of tracks */
	uint64_t cache_ns; /* hits, transfers over the bus, waits for earlier writes */
	uint64_t idle_ns; /* no request in service */
	uint64_t requests; /* completed */
	uint64_t hits;
	uint64_t
		sectors; /* of 512 bytes, moved by completed requests (rounded up for each) */
};

int vesper_statistics(const struct vesper *disk, struct vesper_totals *statistics);
/* Begin again, best with no request pending: one in service counts whole, when it completes. */
int vesper_restart_statistics(struct vesper *disk);

/* Return the name of a profile that is compiled in, from number 0 on; NULL after the last. */
const char *vesper_profile_name(uint32_t number);

/*
 * A profile as a table, which `understudy disks export` makes from a TOML file. Its fields are for
 * the library.
 */
struct vesper_point {
	uint64_t at; /* in parts of `whole` */
	uint64_t value;
};

struct vesper_curve {
	uint64_t whole; /* the disk, or the longest seek */
	uint32_t points;
	const struct vesper_point *point;
};

struct vesper_setting {
	const char *name; /* core/drive/settings.c */
	uint64_t value;
};

struct vesper_profile {
	const char *name;
	uint64_t sectors; /* the only size that the table is for; 0: any */
	uint32_t queue_depth; /* most requests that the drive queues */
	struct vesper_curve seek; /* ns */
	struct vesper_curve
		rates; /* bytes a second from each place on, or if @sectors: ps a sector */
	uint32_t real_track_sectors,
		track_sectors; /* scaling; 0: as VESPER_SCALE_SMALL says */
	uint32_t settings, zones, slips;
	const struct vesper_setting *setting;
	const uint64_t (*zone)[13]; /* struct track_zone */
	const uint64_t (*slip)[2]; /* struct track_slip */
};

#ifdef __cplusplus
}
#endif

#endif
