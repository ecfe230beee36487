// SPDX-License-Identifier: MIT
/* What waits to be put away: a list that is as long as it may be. */
#include "../../core/drive/write_cache.h"
#include "check.h"

#define EACH 10

static struct write_cache cache;

static void fill(void)
{
	u64 i;

	cache = (struct write_cache){ .spans_max = WRITE_CACHE_SPANS_MAX,
				      .sectors_max = U32_MAX };
	for (i = 0; i < WRITE_CACHE_SPANS_MAX; i++)
		write_cache_add(&cache, (struct write_span){ i * EACH, i * EACH + 8 });
	CHECK(!write_cache_has_room(&cache, 0, 1));
}

static void one_is_taken_and_the_others_stay(u32 index)
{
	u32 i;

	fill();
	cache.under_way = (struct write_span){ 7777, 7778 };
	CHECK_EQ(write_cache_take(&cache, index).start, index * EACH);
	CHECK_EQ(cache.nr, WRITE_CACHE_SPANS_MAX - 1);
	for (i = 0; i < cache.nr; i++)
		CHECK_EQ(cache.span[i].start, (i + (i >= index)) * EACH);
	CHECK_EQ(cache.under_way.start, 7777);
	CHECK_EQ(cache.under_way.end, 7778);
}

int main(void)
{
	one_is_taken_and_the_others_stay(0);
	one_is_taken_and_the_others_stay(WRITE_CACHE_SPANS_MAX / 2);
	one_is_taken_and_the_others_stay(WRITE_CACHE_SPANS_MAX - 1);
	return 0;
}
