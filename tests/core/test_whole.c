// SPDX-License-Identifier: MIT
/* Requests in pieces that are served in any order, against sums kept separately. */
#include "../../sim/whole.h"
#include "check.h"
#include "host.h"

#define AT_ONCE 20

static struct wholes wholes;

/* The outstanding requests, by the number that wholes_begin returned. */
static struct {
	u64 pieces, left, sum_ns;
} want[AT_ONCE];

static u32 begin(struct draw *draw)
{
	u64 pieces = 1 + draw_below(draw, 5);
	u32 i = wholes_begin(&wholes, pieces);

	if (i == NO_SLOT)
		return 0;
	CHECK(i < AT_ONCE && !want[i].left);
	want[i].pieces = want[i].left = pieces;
	want[i].sum_ns = 0;
	return 1;
}

static u32 serve(struct draw *draw, u32 i)
{
	u64 response_ns = draw_below(draw, 1000);
	bool last = want[i].left == 1;

	want[i].left--;
	want[i].sum_ns += response_ns;
	CHECK_EQ(wholes_served(&wholes, i, &response_ns), last);
	if (last)
		CHECK_EQ(response_ns, want[i].sum_ns / want[i].pieces);
	return last;
}

static void any_order(struct draw *draw)
{
	u32 outstanding = 0, refused = 0, i;

	CHECK_EQ(wholes_init(&wholes, AT_ONCE), 0);
	memset(want, 0, sizeof(want));
	for (i = 0; i < 2000; i++) {
		u32 which = draw_below(draw, AT_ONCE);

		if (draw_below(draw, 3) == 0) {
			bool full = outstanding == AT_ONCE;

			CHECK_EQ(begin(draw), !full);
			refused += full;
			outstanding += !full;
		} else if (want[which].left) {
			outstanding -= serve(draw, which);
		}
	}
	CHECK(refused);
	wholes_exit(&wholes);
}

/* Test sums beyond 64 bits, and the maximum number of pieces. */
static void largest(void)
{
	u64 response_ns = 1ull << 63;
	u32 i;

	CHECK_EQ(wholes_init(&wholes, 1), 0);
	CHECK_EQ(wholes_begin(&wholes, 3), 0);
	CHECK_EQ(wholes_begin(&wholes, 3), NO_SLOT);
	for (i = 0; i < 2; i++)
		CHECK(!wholes_served(&wholes, 0, &response_ns));
	CHECK(wholes_served(&wholes, 0, &response_ns));
	CHECK_EQ(response_ns, 1ull << 63);
	wholes_exit(&wholes);
}

static void no_memory(void)
{
	u32 granted;

	for (granted = 0; granted < 2; granted++) {
		wholes = (struct wholes){ 0 };
		port_grant(granted);
		CHECK_EQ(wholes_init(&wholes, 5), -ENOMEM);
		wholes_exit(&wholes);
	}
	port_grant(2);
	CHECK_EQ(wholes_init(&wholes, 5), 0);
	wholes_exit(&wholes);
}

int main(void)
{
	check_seeds(50, any_order);
	largest();
	no_memory();
	return 0;
}
