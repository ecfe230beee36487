// SPDX-License-Identifier: MIT
/*
 * Register accesses of drivers and programs, as seen by compilers.  Each function does to a page
 * what its name says, and returns what it read.  Functions in `exact` use volatile accesses, so
 * their accesses match the source, in order.  The compiler may change the accesses of functions in
 * `free_of_order`.
 */
#include "idioms.h"

#include <string.h>

struct card {
	uint32_t control, status;
	uint16_t width, height;
	uint8_t red, green, blue, mode;
	uint64_t ring;
	int32_t head, tail;
	int16_t x, y;
	int8_t dx, dy;
	struct {
		uint32_t enable : 1, level : 3, vector : 8, rest : 20;
	} interrupt;
	uint8_t data[64];
	float scale;
	double ratio;
	uint64_t vertices[16];
};

typedef volatile struct card card;

/* --- volatile ----------------------------------------------------------------------- */

static uint64_t read_each_width(void *page)
{
	card *c = page;

	return c->control + c->width + c->mode + c->ring + c->head + c->x + c->dx;
}

static uint64_t write_each_width(void *page)
{
	card *c = page;

	c->control = 0x12345678;
	c->width = 0x9abc;
	c->mode = 0xde;
	c->ring = 0x123456789abcdef0;
	c->ring = -3;
	c->tail = c->head;
	c->dy = c->x;
	return 0;
}

static uint64_t set_and_clear_bits(void *page)
{
	card *c = page;

	c->control |= 1;
	c->control &= ~0x100u;
	c->control ^= 0x80000000;
	c->mode |= 0x80;
	c->width &= 0xff;
	c->ring |= 1ull << 40;
	c->ring &= ~(1ull << 63);
	c->ring ^= 1ull << 35;
	return c->mode;
}

static uint64_t count(void *page)
{
	card *c = page;

	c->head++;
	--c->tail;
	c->width += 3;
	c->red -= 7;
	c->ring += c->control;
	c->height = -c->height;
	c->green = ~c->green;
	return c->head - c->tail;
}

static uint64_t shift_and_multiply(void *page)
{
	card *c = page;

	c->control <<= 3;
	c->head >>= 1;
	c->ring >>= c->dx & 7;
	c->width *= 10;
	c->tail *= c->x;
	c->status = c->control / (c->width | 1);
	return c->ring * c->status + (c->control << 5) + c->control % 10;
}

static uint64_t compare(void *page)
{
	card *c = page;
	uint64_t seen = 0;

	if (c->status == 5)
		seen |= 1;
	if (c->status & 0x8)
		seen |= 2;
	if (c->ring > c->control)
		seen |= 4;
	if (!c->mode)
		seen |= 8;
	if (c->x < 0)
		seen |= 16;
	if (c->status & 1u << (c->mode & 31))
		seen |= 32;
	return seen + (c->x > c->y ? c->head : c->tail);
}

static uint64_t swap(void *page)
{
	card *c = page;
	uint32_t expected = c->control;
	uint64_t seen = __atomic_exchange_n(&c->status, 7, __ATOMIC_SEQ_CST);

	seen += __atomic_fetch_add(&c->ring, 5, __ATOMIC_SEQ_CST);
	seen += __atomic_compare_exchange_n(&c->control, &expected, 99, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	seen += __atomic_compare_exchange_n(&c->control, &expected, 98, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	__atomic_or_fetch(&c->mode, 4, __ATOMIC_SEQ_CST);
	return seen + expected;
}

static uint64_t fill_by_bytes(void *page)
{
	card *c = page;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(c->data); i++)
		c->data[i] = i * 7;
	for (i = 0; i < sizeof(c->data); i++)
		sum = sum * 31 + c->data[i];
	return sum;
}

static uint64_t reals(void *page)
{
	card *c = page;
	float scale = c->scale;
	double ratio = c->ratio;

	c->scale = 1.5f;
	c->ratio = c->control;
	return (scale > 0) + 2 * (ratio < 0);
}

/* The string instructions of the kernel's memcpy_toio and memset_io. */
static uint64_t move_strings(void *page)
{
	card *c = page;
	uint8_t ordinary[40];
	void *to = (void *)c->data, *from = ordinary;
	unsigned long n = sizeof(ordinary);

	memset(ordinary, 0x5a, sizeof(ordinary));
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
	to = ordinary;
	from = (void *)c->vertices;
	n = 5;
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n)::"memory");
	to = (void *)c->vertices;
	n = 9;
	__asm__ volatile("rep stosl"
			 : "+D"(to), "+c"(n)
			 : "a"((uint32_t)ordinary[3])
			 : "memory");
	return ordinary[0] + ordinary[39];
}

/* --- accesses that the compiler may change ---------------------------------------- */

static uint64_t set_bit_fields(void *page)
{
	card *c = page;

	c->interrupt.enable = 1;
	c->interrupt.level = 5;
	c->interrupt.vector++;
	return c->interrupt.level;
}

static uint64_t copy_whole(void *page)
{
	struct card *c = page, copy = *c;

	copy.control++;
	copy.vertices[3] ^= copy.vertices[12];
	*c = copy;
	return copy.control;
}

static uint64_t copy_parts(void *page)
{
	struct card *c = page;
	uint8_t data[64];

	memcpy(data, c->data, sizeof(data));
	data[3]++;
	memcpy(c->vertices, data, 48);
	memset(c->data, 0, 31);
	memmove(c->data + 8, c->vertices, 17);
	return memcmp(c->data, c->vertices, 24) > 0;
}

static uint64_t add_arrays(void *page)
{
	struct card *c = page;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 16; i++)
		sum += c->vertices[i];
	for (i = 0; i < 64; i++)
		c->data[i] += 3;
	for (i = 0; i < 16; i++)
		c->vertices[i] = c->vertices[i] * 2 + i;
	return sum;
}

static uint64_t set_fields(void *page)
{
	struct card *c = page;

	c->control = c->status = 0;
	c->width = c->height = 0;
	c->red = c->green = c->blue = c->mode = 1;
	c->ring = 0;
	c->head = c->tail = 0;
	c->scale = c->ratio = 0;
	return c->interrupt.vector;
}

const struct idiom exact[] = {
	{ "read_each_width", read_each_width },
	{ "write_each_width", write_each_width },
	{ "set_and_clear_bits", set_and_clear_bits },
	{ "count", count },
	{ "shift_and_multiply", shift_and_multiply },
	{ "compare", compare },
	{ "swap", swap },
	{ "fill_by_bytes", fill_by_bytes },
	{ "reals", reals },
	{ "move_strings", move_strings },
	{ NULL, NULL },
};

const struct idiom free_of_order[] = {
	{ "set_bit_fields", set_bit_fields }, { "copy_whole", copy_whole },
	{ "copy_parts", copy_parts },	      { "add_arrays", add_arrays },
	{ "set_fields", set_fields },	      { NULL, NULL },
};
