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
	     "fixed cost of each request from the medium, whatever the distance"),
	TIME(rotation_ns, drive.disk.rotation_ns,
	     "a whole rotation; each request from the medium waits for half of it; 0: "
	     "none"),
	YES(rotation_random, drive.arm.random_phase,
	    "1: each request instead waits for a time drawn from less than a whole "
	    "rotation"),
	SETTING(rotation_seed, drive.arm.seed, U64_MAX,
		"seed of these draws; a reset restarts them"),
	TIME(track_switch_ns, drive.disk.switch_ns,
	     "from the end of a track to the beginning of the next in one transfer"),
	SETTING(tracks_step, drive.disk.tracks.step, TRACKS_STEP_MAX,
		"2^-16 sectors of the disk to a track; 0: the arm's distances are "
		"counted in sectors"),
	SETTING(tracks_velocity, drive.disk.tracks.velocity, U64_MAX,
		"2^-64 turns in one ns; 0: it is not known when a sector passes under "
		"the head"),
	TIME(hit_ns, drive.bus.hit_ns,
	     "a read that the cache holds; with a buffer, without the transfer over "
	     "the bus"),
	SETTING(cache_segments, drive.cache.segments, DISK_CACHE_SEGMENTS_MAX,
		"segments of the papers' cache; 0: no cache"),
	SECTORS(cache_segment_sectors, drive.cache.segment_sectors,
		"size of each segment of the papers' cache"),
	SECTORS(cache_prefetch_sectors, drive.cache.prefetch_sectors,
		"sectors read ahead after each miss, into the papers' cache"),
	YES(buffered, drive.buffered,
	    "1: the drive has a buffer that works in time, and ignores cache_*; write "
	    "it last, since from then on the settings below have to agree"),
	SETTING(bus_sector_ps, drive.bus.sector_ps, DISK_SECTOR_PS_MAX,
		"transfer of a sector over the bus"),
	SETTING(bus_watermark_percent, drive.bus.watermark_percent, 100,
		"share of a read, or of the segment if that is shorter, in the buffer "
		"before the bus begins, if the buffer holds nothing of the read; 0: "
		"one sector"),
	TIME(write_ns, drive.bus.write_ns,
	     "a write that the drive accepts, without the transfer over the bus"),
	TIME(write_settle_ns, drive.writes.settle_ns,
	     "how much longer a write takes than a read to reach the medium"),
	SETTING(buffer_segments, drive.ahead.segments.nr, SEGMENTS_MAX,
		"segments of the buffer; the least recently used is given up for new "
		"data"),
	SECTORS(buffer_segment_sectors, drive.ahead.segments.sectors,
		"size of each segment of the buffer"),
	SECTORS(read_ahead_sectors, drive.ahead.sectors,
		"most sectors read ahead after each read from the medium"),
	SECTORS(read_reach_sectors, drive.ahead.reach_sectors,
		"a read that begins among this many next sectors waits until they "
		"pass; 0: the drive misses even the next sector"),
	YES(read_ahead_to_track_end, drive.ahead.to_track_end,
	    "1: reading ahead ends at the end of the track at the latest"),
	YES(read_ahead_overwrites, drive.ahead.overwrites,
	    "1: sectors read ahead reuse the room of the requested sectors once these "
	    "have left over the bus"),
	SETTING(after_hit, drive.ahead.after_hit, AFTER_HIT_RETURN,
		"reading ahead after a hit in sequence / in another segment: 0: stays "
		"ended / stops; 1: resumes / goes on; 2: resumes / stops, and an idle "
		"arm goes back to read ahead behind a segment hit in sequence"),
	SETTING(write_back_spans, drive.writes.spans_max, WRITE_BACK_SPANS_MAX,
		"how many writes may wait for the medium; 0: none"),
	SECTORS(write_back_sectors, drive.writes.sectors_max,
		"how many sectors of writes may wait for the medium"),
	TIME(write_back_idle_ns, drive.writes.idle_ns,
	     "how long a drive has been idle before it begins to destage"),
	TIME(write_back_full_idle_ns, drive.writes.full_idle_ns,
	     "the same for a drive whose cache was full, until it holds at most "
	     "write_back_low_sectors"),
	SECTORS(write_back_low_sectors, drive.writes.low_sectors,
		"down to this level a drive whose cache was full destages; "
		"write_back_sectors: being full changes nothing"),
	SETTING(write_back_order, drive.writes.order, WRITE_ASCENDING_FROM_LAST,
		"0: the soonest under the head; 1: ascending, then from the lowest "
		"again; 2: order of arrival (without an idle time each alone, already "
		"during its transfer); 3: ascending from the last one's end"),
	SETTING(queue_depth, drive.queue_depth, QUEUE_DEPTH_MAX,
		"how many of the oldest pending commands the drive chooses from, by "
		"shortest positioning time; 0 or 1: it serves them in order of "
		"arrival"),
	TIME(queue_age_limit_ns, drive.queue_age_ns,
	     "a command that has waited this long goes first"),
	SETTING(array_servers, array.servers, U32_MAX,
		"0: a disk; else an array of this many servers, from the next reset "
		"on; of the settings above only queue_depth counts then"),
	SETTING(array_service_ns, array.mean_service_ns, DISK_NS_MAX,
		"service time of a read or a write, whatever its size and place"),
	YES(array_exponential, array.exponential,
	    "1: that is the mean of an exponential distribution, drawn for each "
	    "request in order of dispatch"),
	SETTING(array_seed, array_seed, U64_MAX,
		"seed of these draws; a reset restarts them"),
	{ .name = "scale_milli",
	  .help = "k in thousandths; the command in service keeps its due time",
	  .offset = offsetof(struct timed_device, scale_milli),
	  .initial = 1000,
	  .min = 1,
	  .max = DEVICE_SCALE_MILLI_MAX },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(device_settings) <= DEVICE_SETTINGS_MAX, "too many");
const u32 nr_device_settings = ARRAY_SIZE(device_settings);
