// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "broken.h"

void broken_say(char *text, const char *words)
{
	u32 at = 0;

	while (text[at])
		at++;
	for (; *words && at < CONTRACT_TEXT - 1; words++)
		text[at++] = *words >= ' ' && *words <= '~' ? *words : '?';
	text[at] = '\0';
}

static void say_number(char *text, u64 number)
{
	char digits[21] = { 0 };
	u32 at = 20;

	do
		digits[--at] = '0' + number % 10;
	while (number /= 10);
	broken_say(text, digits + at);
}

bool broken_by(char *text, const char *before, const char *name, const char *after)
{
	broken_say(text, before);
	broken_say(text, name);
	broken_say(text, after);
	return false;
}

bool broken_number(char *text, const char *before, u64 number, const char *after)
{
	broken_say(text, before);
	say_number(text, number);
	broken_say(text, after);
	return false;
}
