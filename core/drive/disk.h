/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The mechanics of a profiled disk: the time that the medium needs for one request, given the
 * position of the head.
 *
 *	intercept + seek(distance) + rotation / 2 + sectors * transfer(first sector)
 *
 * The functions seek and transfer are sampled curves. This is the model of Vesper (SIGCSE 2006
 * section 2.1): every request, even the next in sequence, has a latency of half a rotation, and all
 * sectors of a request have the transfer rate of the first. The linear model of PERFORM 2010
 * section 4 and Jones 2010 section 4.2, R/2 + S * (d/D), is a special case: a seek curve with two
 * samples, no rotation and no transfer time.
 *
 * Where tracks are known, a switch of heads or tracks adds its time at each end of a track within a
 * transfer. Where angles are known as well (core/drive/platter.h), the angles determine when
 * sectors pass, and neither half a rotation nor the transfer curve is used.
 *
 * Arguments of the curves are in sectors of the virtual disk. The host scales the curves to the
 * size of the virtual disk, so a virtual disk of any size can represent any real disk.
 */
#ifndef UNDERSTUDY_DISK_H
#define UNDERSTUDY_DISK_H

#include "curve.h"
#include "platter.h"
#include "tracks.h"

#define DISK_NS_MAX 60000000000ull /* limit of intercept, rotation and seek */
#define DISK_SECTOR_PS_MAX 100000000000ull /* limit of a sector: 5 KB/s */

/**
 * struct disk - a disk without its cache
 * @capacity_sectors: size
 * @intercept_ns: fixed cost of every request, whatever the distance
 * @rotation_ns: a whole rotation; 0 if none is modelled
 * @seek: seek time in ns, by distance, from 0 to @capacity_sectors
 * @transfer: time for one sector to pass under the head, in picoseconds, by sector number, from 0
 *	to @capacity_sectors; no samples if transfers take no time. The time, not the throughput, is
 *	linear between two samples
 * @tracks: the layout (core/drive/tracks.h), with angles or without
 * @switch_ns: time of a switch from the end of a track to the beginning of the next, within a
 *	transfer
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

/*
 * Set the linear model: a seek across the whole disk takes full_seek_ns, and rotation and transfer
 * take no time. The samples are stored in the caller's line[].
 */
void disk_set_linear(struct disk *disk, struct curve_point line[2],
		     u64 capacity_sectors, u64 intercept_ns, u64 full_seek_ns);

/*
 * Adjust the disk's pointers after its samples, zones and slips have moved together from address
 * `from` to `to`, as in memory that processes share.
 */
void disk_moved(struct disk *disk, u64 from, const void *to);

/* Returns 0, or -EINVAL if the disk violates a condition stated above. */
int disk_check(const struct disk *disk);

/*
 * disk_place() returns the arm position for a sector. disk_arm_place() returns the arm position
 * when all sectors before `head` have passed; if arm positions are counted in tracks, this is the
 * track of the last of these sectors. disk_move_ns() returns intercept plus seek time from one arm
 * position to another, ns.
 */
u64 disk_place(const struct disk *disk, u64 sector);
u64 disk_arm_place(const struct disk *disk, u64 head);
u64 disk_move_ns(const struct disk *disk, u64 from, u64 to);

/*
 * Return intercept plus seek: the time to reach the track of a sector, without rotational latency,
 * ns.
 */
u64 disk_reach_ns(const struct disk *disk, u64 head, u64 sector);

/* Return the time in which these sectors pass under the head, including switches, ns. */
u64 disk_transfer_ns(const struct disk *disk, u64 sector, u64 sectors);

/* Return the first sector after the track that holds this sector; U64_MAX if unknown. */
u64 disk_track_end(const struct disk *disk, u64 sector);

/*
 * Return the number of sectors, from this one on, that pass in one rotation; 0 without rotation or
 * transfer times.
 */
u64 disk_turn(const struct disk *disk, u64 sector);

/* Return whether it is known when a sector passes under the head. */
static inline bool disk_knows_angles(const struct disk *disk)
{
	return disk->tracks.velocity;
}

/* Return whether arm positions are counted in tracks instead of sectors. */
static inline bool disk_counts_tracks(const struct disk *disk)
{
	return disk->tracks.step;
}

/* Return when all these sectors have passed, if the first begins to pass at from_ns. */
u64 disk_end_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns);

/*
 * Return when these sectors have passed and have been sent over the bus (platter_sent_ns()). Set
 * *last_ns to the time at which they have passed.
 */
u64 disk_sent_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns,
		 u64 bus_ps, u64 *last_ns);

/* Return when the sector after these begins to pass, if the first begins to pass at from_ns. */
u64 disk_next_ns(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns);

/* Return how many of these sectors have passed at now_ns, which is not before from_ns. */
u64 disk_passed(const struct disk *disk, u64 sector, u64 sectors, u64 from_ns,
		u64 now_ns);

/* Return the service time from the medium, ns; each term is rounded down. */
u64 disk_service_ns(const struct disk *disk, u64 head, u64 sector, u32 sectors);

/* Return the longest service time of a request of this length, with the longest latency. */
u64 disk_slowest_ns(const struct disk *disk, u64 sectors);

#endif
