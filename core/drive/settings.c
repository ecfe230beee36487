// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "settings.h"

#define SETTING(name_, member_, max_, help_)                                   \
	{                                                                      \
		.name = #name_, .help = help_,                                 \
		.offset = offsetof(struct timed_device, member_), .max = max_, \
	}
#define TIME(name_, member_, help_) SETTING(name_, member_, DISK_NS_MAX, help_)
#define SECTORS(name_, member_, help_) SETTING(name_, member_, U32_MAX, help_)
#define YES(name_, member_, help_) SETTING(name_, member_, 1, help_)

/* clang-format off */
const struct sched_field device_settings[] = {
	TIME(intercept_ns, drive.disk.intercept_ns,
	     "what each request from the medium costs whatever the distance"),
	TIME(rotation_ns, drive.disk.rotation_ns,
	     "a whole rotation, of which each request from the medium waits for half; 0: none"),
	YES(rotation_random, drive.arm.random_phase,
	    "it waits for a time drawn from less than a whole one"),
	SETTING(rotation_seed, drive.arm.seed, U64_MAX, "of these draws, which begin with a reset"),
	TIME(track_switch_ns, drive.disk.switch_ns,
	     "from the end of a track to the beginning of the next in one transfer"),
	SETTING(tracks_step, drive.disk.tracks.step, TRACKS_STEP_MAX,
		"2^-16 sectors of the disk to a track; 0: the arm's way is counted in sectors"),
	SETTING(tracks_velocity, drive.disk.tracks.velocity, U64_MAX,
		"2^-64 turns in one ns; 0: it is not known when a sector of the tracks passes"),
	TIME(hit_ns, drive.bus.hit_ns,
	     "a read that the cache holds; with a buffer, without its transfer over the bus"),
	SETTING(cache_segments, drive.cache.segments, DISK_CACHE_SEGMENTS_MAX,
		"of the papers' cache; 0: none"),
	SECTORS(cache_segment_sectors, drive.cache.segment_sectors, "size of each"),
	SECTORS(cache_prefetch_sectors, drive.cache.prefetch_sectors,
		"what a miss reads besides"),
	YES(buffered, drive.buffered,
	    "the drive has a buffer that works in time, and cache_* are not looked at; written "
	    "last, as the settings below have to agree from then on"),
	SETTING(bus_sector_ps, drive.bus.sector_ps, DISK_SECTOR_PS_MAX,
		"a sector's transfer over the bus"),
	SETTING(bus_watermark_percent, drive.bus.watermark_percent, 100,
		"so much of a read, or of the segment if that is less, has to be in the buffer "
		"before the bus begins, if nothing of it is held; 0: one sector"),
	TIME(write_ns, drive.bus.write_ns, "of a write, besides the bus"),
	TIME(write_settle_ns, drive.writes.settle_ns,
	     "what a write takes longer than a read to reach the medium"),
	SETTING(buffer_segments, drive.ahead.segments.nr, SEGMENTS_MAX,
		"of the buffer; the least recently used is given up for new data"),
	SECTORS(buffer_segment_sectors, drive.ahead.segments.sectors, "size of each"),
	SECTORS(read_ahead_sectors, drive.ahead.sectors,
		"read after each read from the medium, at most"),
	SECTORS(read_reach_sectors, drive.ahead.reach_sectors,
		"a read that begins with one of so many sectors that come next waits for it; 0: it "
		"misses even the next one"),
	YES(read_ahead_to_track_end, drive.ahead.to_track_end,
	    "and at most to the end of the track"),
	YES(read_ahead_overwrites, drive.ahead.overwrites,
	    "what is read ahead takes the room of what was asked for, once that has left"),
	SETTING(after_hit, drive.ahead.after_hit, AFTER_HIT_RETURN,
		"to reading ahead. 0: a hit in sequence leaves it where it has ended, one in another "
		"segment stops it; 1: the first has it go on, the second lets it go on; 2: the first "
		"has it go on, the second stops it, and an idle arm goes back to read on behind a "
		"segment that was hit in sequence"),
	SETTING(write_back_spans, drive.writes.spans_max, WRITE_BACK_SPANS_MAX,
		"how many writes may wait for the medium; 0: none"),
	SECTORS(write_back_sectors, drive.writes.sectors_max, "of them together"),
	TIME(write_back_idle_ns, drive.writes.idle_ns,
	     "how long a drive has been idle when it begins to destage"),
	TIME(write_back_full_idle_ns, drive.writes.full_idle_ns,
	     "the same of one that was full, until it holds no more than write_back_low_sectors"),
	SECTORS(write_back_low_sectors, drive.writes.low_sectors,
		"to which a drive that was full destages; write_back_sectors: being full changes "
		"nothing"),
	SETTING(write_back_order, drive.writes.order, WRITE_ASCENDING_FROM_LAST,
		"0: the soonest under the head, 1: upwards and then from the lowest again, 2: as they "
		"come, each by itself, while its data still come over the bus, if the drive does not "
		"wait, 3: upwards from the last one's end"),
	SETTING(queue_depth, drive.queue_depth, QUEUE_DEPTH_MAX,
		"among how many of those that wait in the drive it chooses the one with the shortest "
		"positioning time; 0 or 1: it takes them as they came"),
	TIME(queue_age_limit_ns, drive.queue_age_ns,
	     "one that has waited for so long goes first"),
	SETTING(array_servers, array.servers, U32_MAX,
		"0: it is a disk; else an array of so many servers, from the next reset on, and what "
		"is above does not count but for queue_depth"),
	SETTING(array_service_ns, array.mean_service_ns, DISK_NS_MAX,
		"of a read or a write, whatever its size and place"),
	YES(array_exponential, array.exponential,
	    "that is the mean of an exponential distribution, drawn for each in order of dispatch"),
	SETTING(array_seed, array_seed, U64_MAX, "of these draws, which begin with a reset"),
	{ .name = "scale_milli",
	  .help = "k in thousandths; what is being served keeps its time",
	  .offset = offsetof(struct timed_device, scale_milli),
	  .initial = 1000,
	  .min = 1,
	  .max = DEVICE_SCALE_MILLI_MAX },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(device_settings) <= DEVICE_SETTINGS_MAX, "too many");
const u32 nr_device_settings = ARRAY_SIZE(device_settings);
