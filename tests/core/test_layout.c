// SPDX-License-Identifier: MIT
/* Sector positions of files, against files that are laid out sector by sector. */
#include "../../sim/layout.h"
#include "check.h"

#define FILES 6
#define EXTENTS 5
#define LENGTH 9

static u64 start[FILES * EXTENTS], length[FILES * EXTENTS];
static u64 first[FILES + 1], bytes[FILES];
static const struct layout layout = { FILES, bytes, first, start, length };

static void random_files(struct draw *draw)
{
	u64 extent = 0;
	u32 file;

	for (file = 0; file < FILES; file++) {
		u32 extents = 1 + draw_below(draw, EXTENTS);

		first[file] = extent;
		for (; extents; extents--, extent++) {
			start[extent] = draw_below(draw, 1000);
			length[extent] = 1 + draw_below(draw, LENGTH);
		}
	}
	first[FILES] = extent;
}

static void check_file(u32 file)
{
	u64 at = 0;
	u64 extent, i;

	for (extent = first[file]; extent < first[file + 1]; extent++) {
		for (i = 0; i < length[extent]; i++, at++) {
			u64 run;

			CHECK_EQ(layout_find(&layout, file, at, &run),
				 start[extent] + i);
			CHECK_EQ(run, length[extent] - i);
		}
	}
}

static void random_case(struct draw *draw)
{
	u32 file;

	random_files(draw);
	for (file = 0; file < FILES; file++)
		check_file(file);
}

int main(void)
{
	check_seeds(200, random_case);
	return 0;
}
