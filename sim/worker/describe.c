// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "describe.h"

struct text {
	char *at;
	size_t left;
	int error;
};

static void put(struct text *text, const char *item)
{
	int length = snprintf(text->at, text->left, "%s", item ? item : "");

	if (length < 0 || (size_t)length >= text->left) {
		text->error = -ENOSPC;
		return;
	}
	text->at += length + 1;
	text->left -= length + 1;
}

static void put_number(struct text *text, u64 number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	put(text, digits);
}

int describe(const struct declaration *declaration, bool needs_model, char *text,
	     size_t bytes)
{
	struct text into = { .at = text, .left = bytes };
	const struct sched_field *field;
	u32 i;

	put(&into, declaration->name);
	put(&into, declaration->summary);
	put_number(&into, needs_model);
	put_number(&into, declaration->nr_tunables);
	for (i = 0; i < declaration->nr_tunables && !into.error; i++) {
		field = &declaration->tunables[i];
		put(&into, field->name);
		put(&into, field->help);
		put_number(&into, field->initial);
		put_number(&into, field->min);
		put_number(&into, field->max);
	}
	put_number(&into, declaration->nr_counters);
	for (i = 0; i < declaration->nr_counters && !into.error; i++) {
		field = &declaration->counters[i];
		put(&into, field->name);
		put(&into, field->help);
	}
	return into.error;
}

/* FNV-1a in the low bits, the two numbers in the high ones. */
u64 describe_digest(const struct declaration *declaration, bool needs_model)
{
	static char text[DESCRIBE_BYTES];
	u64 hash = 14695981039346656037ull;
	size_t i;

	memset(text, 0, sizeof(text));
	describe(declaration, needs_model, text, sizeof(text));
	for (i = 0; i < sizeof(text); i++)
		hash = (hash ^ (u8)text[i]) * 1099511628211ull;
	return hash >> 16 | (declaration->nr_tunables + 1ull) << 56 |
	       (u64)declaration->nr_counters << 48;
}
