// SPDX-License-Identifier: MIT
/*
 * The program of the Vesper assignments (SIGCSE 2006 section 3.1): ten threads read ten files of 10
 * KB, ten bytes at a time. It prints where the time went. With --log it also prints a line for each
 * request: thread, first sector, sectors, and the times of arrival, dispatch and completion in ns.
 *
 * The seed decides which thread reads which file, as in `understudy predict --workload
 * concurrent-read`, whose times this program has, to the nanosecond.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "os.h"
#include "vesper.h"

#define THREADS 10
#define FILE_BYTES 10000
#define READ_BYTES 10

static u32 file_of[THREADS];

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "concurrent_read: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	exit(1);
}

void *port_zalloc(size_t bytes)
{
	return calloc(1, bytes ? bytes : 1);
}

void port_free(void *memory)
{
	free(memory);
}

static void reader(u32 number)
{
	u32 file = file_of[number], at, i;
	char bytes[READ_BYTES];

	for (at = 0; at < file_bytes(file); at += READ_BYTES) {
		file_read(file, at, bytes, READ_BYTES);
		for (i = 0; i < READ_BYTES; i++) {
			if (bytes[i] != file_byte(file, at + i))
				panic("file %u: byte %u is wrong", file, at + i);
		}
	}
}

static void make_files(const struct options *options)
{
	u32 stride = options->blocks / THREADS;
	struct draw draw;
	u32 i;

	if (stride * BLOCK_BYTES < FILE_BYTES)
		panic("%u files of %u bytes do not fit: take more --blocks", THREADS,
		      FILE_BYTES);
	draw_seed(&draw, options->seed, 0);
	for (i = 0; i < THREADS; i++) {
		u32 k = draw_below(&draw, i + 1);

		file_create(i, i * stride, FILE_BYTES);
		file_of[i] = file_of[k];
		file_of[k] = i;
	}
}

static u64 number(const char *name, const char *text, u64 most)
{
	char *end;
	u64 value = strtoull(text, &end, 10);

	if (end == text || *end || *text == '-' || value > most)
		panic("%s: %s is not a number up to %llu", name, text,
		      (unsigned long long)most);
	return value;
}

static void help(void)
{
	const char *name;
	u32 i;

	printf("concurrent_read: ten threads read ten files on a simulated disk\n"
	       "  --disk NAME       a compiled-in profile [default: the first]:\n");
	for (i = 0; (name = vesper_profile_name(i)); i++)
		printf("                    %s\n", name);
	printf("  --blocks N        size of the disk, in blocks of %u bytes\n"
	       "  --cache PAGES     have a page cache\n"
	       "  --prefetch PAGES  longest prefetch\n"
	       "  --seed N          which thread reads which file\n"
	       "  --log             print each request\n",
	       BLOCK_BYTES);
}

static struct options parse(char **word)
{
	struct options options = { .profile = vesper_profile_name(0), .blocks = 256 };

	for (word++; *word; word++) {
		const char *name = *word;

		if (!strcmp(name, "--help")) {
			help();
			exit(0);
		}
		if (!strcmp(name, "--log")) {
			options.log = true;
			continue;
		}
		if (!word[1])
			panic("%s needs a value", name);
		word++;
		if (!strcmp(name, "--disk"))
			options.profile = *word;
		else if (!strcmp(name, "--blocks"))
			options.blocks = number(name, *word, 1 << 24);
		else if (!strcmp(name, "--cache"))
			options.cache_pages = number(name, *word, 1 << 20);
		else if (!strcmp(name, "--prefetch"))
			options.most_pages = number(name, *word, 1024);
		else if (!strcmp(name, "--seed"))
			options.seed = number(name, *word, U64_MAX);
		else
			panic("%s: there are --disk, --blocks, --cache, --prefetch, "
			      "--seed, --log and --help",
			      name);
	}
	return options;
}

int main(int count, char **word)
{
	struct options options = parse(word);
	u32 i;

	(void)count;
	disk_init(&options);
	cache_init(&options);
	make_files(&options);
	for (i = 0; i < THREADS; i++)
		thread_start(reader, i);
	threads_run();
	disk_report();
	cache_report();
	return 0;
}
