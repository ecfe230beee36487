/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The mechanics of a profiled disk: how long the medium takes for one request,
 * given where the head is.
 *
 *	intercept + seek(distance) + rotation / 2 + sectors * transfer(first sector)
 *
 * Both functions are sampled curves.  That is the model of Vesper (SIGCSE 2006
 * section 2.1): a latency of half a rotation for every request, the next one in
 * line too, and one transfer rate for the whole request, that of its first sector.
 * The line of PERFORM 2010 section 4 and Jones 2010 section 4.2, R/2 + S * (d/D), is
 * the special case of two samples, no rotation and no transfer.
 *
 * Where tracks are known, a transfer that goes over the end of one takes a switch of
 * heads or tracks each time.  Where angles are known as well (core/drive/platter.h), they say when
 * sectors pass, and neither half a rotation nor the curve of transfers is looked at.
 *
 * Places are sectors of the disk that stands in; whoever fills the curves scales
 * them to that size, so any virtual size stands in for any real one.
 */
#ifndef UNDERSTUDY_DISK_H
#define UNDERSTUDY_DISK_H

#include "curve.h"
#include "platter.h"
#include "tracks.h"

#define DISK_NS_MAX 60000000000ull /* of intercept, rotation and each seek */
#define DISK_SECTOR_PS_MAX 100000000000ull /* of a sector's transfer: 5 KB/s */

/**
 * struct disk - a disk without its cache
 * @capacity_sectors: size
 * @intercept_ns: what every request costs, whatever the distance
 * @rotation_ns: a whole rotation; 0 if none is modelled
 * @seek: time for each distance, ns, from 0 to @capacity_sectors
 * @transfer: time for one sector to pass under the head, picoseconds, by place, from
 *	0 to @capacity_sectors; no samples if transfer takes no time of its own.  It is
 *	the time that is a line between two samples, not the throughput
 * @tracks: the layout (core/drive/tracks.h), with angles or without
 * @switch_ns: from the end of one to the beginning of the next, in a transfer
 */
struct disk {
	u64 capacity_sectors;
	u64 intercept_ns;
	u64 rotation_ns;
	struct curve seek;
	struct curve transfer;
	struct tracks tracks;
	u64 switch_ns;
};

/* The line: the full stroke takes full_seek_ns; its samples are put into memory of the caller's. */
void disk_set_linear(struct disk *disk, struct curve_point line[2],
		     u64 capacity_sectors, u64 intercept_ns, u64 full_seek_ns);

/*
 * The samples, zones and slips have been moved, together: what was at from is at to.  For memory
 * that processes share.
 */
void disk_moved(struct disk *disk, u64 from, const void *to);

/* 0, or -EINVAL if it is not as promised above. */
int disk_check(const struct disk *disk);

/*
 * Where the arm is for a sector; where it still is once all up to the head's has passed: counted in
 * tracks, on the last one's; and how long it takes from one such place to another, ns.
 */
u64 disk_place(const struct disk *disk, u64 sector);
u64 disk_arm_place(const struct disk *disk, u64 head);
u64 disk_move_ns(const struct disk *disk, u64 from, u64 to);

/* To reach the first sector without a wait for it, ns: intercept and seek. */
u64 disk_reach_ns(const struct disk *disk, u64 head, u64 sector);

/* For sectors to pass under the head one after the other, ns. */
u64 disk_transfer_ns(const struct disk *disk, u64 sector, u64 sectors);

/* The sector after the last one of the track that holds this one; U64_MAX if unknown. */
u64 disk_track_end(const struct disk *disk, u64 sector);

/* Sectors that pass in one rotation from there on; 0 if nothing turns or none takes time. */
u64 disk_turn(const struct disk *disk, u64 sector);

/* Is it known when a sector passes? */
static inline bool disk_knows_angles(const struct disk *disk)
{
	return disk->tracks.velocity;
}

/* Are places of the arm tracks, and not sectors? */
static inline bool disk_counts_tracks(const struct disk *disk)
{
	return disk->tracks.step;
}

/* When sectors have passed, of which the first one begins to pass at from_ns. */
u64 disk_end_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns);

/* When they are over the bus as well (platter_sent_ns); last_ns: when they have passed. */
u64 disk_sent_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns,
		 u64 bus_ps, u64 *last_ns);

/* When the sector behind these begins to pass, if the first one does at from_ns. */
u64 disk_next_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns);

/* How many of these have passed at that time, which is not before from_ns. */
u64 disk_passed(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns,
		u64 now_ns);

/* Service time from the medium, ns; each term is rounded down. */
u64 disk_service_ns(const struct disk *disk, u64 head, u64 sector, u32 sectors);

/* No request of that length takes longer, whatever the latency. */
u64 disk_slowest_ns(const struct disk *disk, u64 sectors);

#endif
