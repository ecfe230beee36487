/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Where tracks end: a disk is divided into zones, from the outer edge to the inner, whose
 * tracks are equally long (Ruemmler and Wilkes 1994, "Data layout").
 *
 * They are samples of a curve, here read as steps: the first sector of a zone, where a
 * track begins, and the sectors in each of its tracks.  Places are sectors of the disk
 * that stands in; tracks have the real disk's length.  No samples: nobody knows.
 */
#ifndef UNDERSTUDY_TRACKS_H
#define UNDERSTUDY_TRACKS_H

#include "curve.h"

#define TRACKS_SECTORS_MAX (1u << 20) /* in one track */

/* 0, or -EINVAL unless zones begin at 0, ascend, and hold a track each. */
int tracks_check(const struct curve *tracks, u64 capacity_sectors);

/* Index of the zone that holds the sector; there must be zones. */
u32 tracks_zone(const struct curve *tracks, u64 sector);

/* The sector after the last one of the track that holds this one; U64_MAX if unknown. */
u64 tracks_end(const struct curve *tracks, u64 sector);

/* Sectors of the shortest track; U64_MAX if unknown. */
u64 tracks_shortest(const struct curve *tracks);

#endif
