// SPDX-License-Identifier: MIT
/* The segments of a drive's cache against a naive implementation of their rules. */
#include "../../core/drive/segments.h"
#include "check.h"

#define SIZE 30
#define PLACES 100

static struct segments segments;

static void set(u64 nr)
{
	segments = (struct segments){ .nr = nr, .sectors = SIZE };
}

static u32 fill(u64 start, u64 end)
{
	u32 index = segments_take(&segments);

	segments.segment[index].start = start;
	segments.segment[index].end = end;
	return index;
}

/* Segments beyond a reduced limit are not found, but keep their contents. */
static void only_as_many_as_there_are_count(void)
{
	set(2);
	fill(10, 20);
	fill(50, 60);
	segments.nr = 1;
	CHECK_EQ(segments_find(&segments, 55), SEGMENTS_NONE);
	segments_drop(&segments, 0, PLACES);
	segments.nr = 2;
	CHECK_EQ(segments_find(&segments, 15), SEGMENTS_NONE);
	CHECK_EQ(segments_find(&segments, 55), 1);
	segments.nr = 1;
	CHECK_EQ(segments_take(&segments), 0);
	CHECK_EQ(segments_take(&segments), 0);
}

static void a_full_one_keeps_its_tail(void)
{
	set(1);
	fill(10, 10 + SIZE);
	segments_trim(&segments, 0, 10 + SIZE);
	CHECK_EQ(segments.segment[0].start, 10);
	segments_trim(&segments, 0, 11 + SIZE);
	CHECK_EQ(segments.segment[0].start, 11);
}

/* A log of uses; longest_ago returns the segment whose last use is the oldest. */
struct diary {
	u32 of[1000];
	u32 lines;
};

static u32 longest_ago(const struct diary *diary, u32 nr)
{
	u32 oldest = 0, oldest_line = U32_MAX;
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 line = diary->lines;

		while (line && diary->of[line - 1] != i)
			line--;
		if (line < oldest_line) {
			oldest_line = line;
			oldest = i;
		}
	}
	return oldest;
}

static void uses_as_in_a_diary(struct draw *draw)
{
	static struct diary diary;
	u32 nr = 1 + draw_below(draw, 6);

	diary.lines = 0;
	set(nr);
	while (diary.lines < ARRAY_SIZE(diary.of)) {
		u32 index = draw_below(draw, nr);

		if (draw_below(draw, 2)) {
			index = longest_ago(&diary, nr);
			CHECK_EQ(segments_take(&segments), index);
		} else {
			segments_use(&segments, index);
		}
		diary.of[diary.lines++] = index;
	}
}

/* The sectors that each segment holds, as a map. */
static bool map[6][PLACES + 1];
static u64 behind[6]; /* what each holds; 0: nothing */

/*
 * Return the segment that holds the sector, or ends there, and reaches farthest; of equals, the
 * first.
 */
static u32 found_on_the_map(u32 nr, u64 sector)
{
	u32 best = SEGMENTS_NONE;
	u32 i;

	for (i = 0; i < nr; i++) {
		bool there = map[i][sector] || (sector && behind[i] == sector);

		if (there && (best == SEGMENTS_NONE || behind[i] > behind[best]))
			best = i;
	}
	return best;
}

static bool touches(u32 index, u64 sector, u64 sectors)
{
	while (sectors--) {
		if (map[index][sector + sectors])
			return true;
	}
	return false;
}

static void spans_as_on_a_map(struct draw *draw)
{
	u32 nr = 1 + draw_below(draw, ARRAY_SIZE(map));
	u32 round, i;

	set(nr);
	memset(map, 0, sizeof(map));
	memset(behind, 0, sizeof(behind));
	for (round = 0; round < 60; round++) {
		u64 sectors = 1 + draw_below(draw, 20);
		u64 sector = draw_below(draw, PLACES - sectors);

		if (draw_below(draw, 3)) {
			u32 index = fill(sector, sector + sectors);

			memset(map[index], false, sizeof(map[index]));
			memset(map[index] + sector, true, sectors);
			behind[index] = sector + sectors;
		} else {
			segments_drop(&segments, sector, sectors);
			for (i = 0; i < nr; i++) {
				if (!touches(i, sector, sectors))
					continue;
				memset(map[i], false, sizeof(map[i]));
				behind[i] = 0;
			}
		}
		for (sector = 0; sector < PLACES; sector++)
			CHECK_EQ(segments_find(&segments, sector),
				 found_on_the_map(nr, sector));
	}
	segments_clear(&segments);
	CHECK_EQ(segments_find(&segments, draw_below(draw, PLACES)), SEGMENTS_NONE);
}

int main(void)
{
	only_as_many_as_there_are_count();
	a_full_one_keeps_its_tail();
	check_seeds(100, uses_as_in_a_diary);
	check_seeds(100, spans_as_on_a_map);
	return 0;
}
