// SPDX-License-Identifier: MIT
/*
 * PNG (ISO/IEC 15948): a signature and chunks, each with its length and CRC.  The pixels are
 * a zlib stream (RFC 1950) of "stored" blocks (RFC 1951 section 3.2.4), a chunk each;
 * the last block is empty.
 */
#include "png.h"

#include <errno.h>

#define BLOCK_BYTES_MAX 65535
#define BLOCK_HEADER 5
#define ADLER_MODULUS 65521
#define IS_LAST 1

/* The present block, and the checksum of the stream so far. */
struct png {
	FILE *file;
	uint32_t sum, sum_of_sums;
	uint32_t bytes; /* bytes behind the header */
	uint8_t block[BLOCK_HEADER + BLOCK_BYTES_MAX];
};

static void put_number(uint8_t to[4], uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t crc(uint32_t state, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		state ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			state = state >> 1 ^ (state & 1 ? 0xedb88320 : 0);
	}
	return state;
}

/* Write errors are not checked here: ferror() shows them at the end. */
static void write_chunk(FILE *file, const char *type, const uint8_t *data,
			uint32_t bytes)
{
	uint32_t state = crc(UINT32_MAX, (const uint8_t *)type, 4);
	uint8_t number[4];

	put_number(number, bytes);
	fwrite(number, 1, 4, file);
	fwrite(type, 1, 4, file);
	fwrite(data, 1, bytes, file);
	put_number(number, ~crc(state, data, bytes));
	fwrite(number, 1, 4, file);
}

static void write_header(FILE *file, const struct picture *picture)
{
	static const uint8_t signature[8] = "\x89PNG\r\n\x1a\n";
	static const uint8_t zlib[2] = { 0x78, 0x01 };
	uint8_t header[13] = { [8] = 8, [9] = 2 }; /* bits a channel, red green blue */

	put_number(&header[0], picture->width);
	put_number(&header[4], picture->height);
	fwrite(signature, 1, sizeof(signature), file);
	write_chunk(file, "IHDR", header, sizeof(header));
	write_chunk(file, "IDAT", zlib, sizeof(zlib));
}

static void write_block(struct png *png, uint8_t is_last)
{
	png->block[0] = is_last;
	png->block[1] = (uint8_t)png->bytes;
	png->block[2] = (uint8_t)(png->bytes >> 8);
	png->block[3] = (uint8_t)~png->block[1];
	png->block[4] = (uint8_t)~png->block[2];
	write_chunk(png->file, "IDAT", png->block, BLOCK_HEADER + png->bytes);
	png->bytes = 0;
}

static void put(struct png *png, uint8_t byte)
{
	png->sum = (png->sum + byte) % ADLER_MODULUS;
	png->sum_of_sums = (png->sum_of_sums + png->sum) % ADLER_MODULUS;
	png->block[BLOCK_HEADER + png->bytes++] = byte;
	if (png->bytes == BLOCK_BYTES_MAX)
		write_block(png, 0);
}

static void put_row(struct png *png, const struct picture *picture, uint32_t y)
{
	const uint32_t *pixel = picture->pixel + (size_t)y * (picture->stride / 4);

	put(png, 0); /* not filtered */
	for (uint32_t x = 0; x < picture->width; x++)
		for (int shift = 16; shift >= 0; shift -= 8)
			put(png, (uint8_t)(pixel[x] >> shift));
}

int png_write(FILE *file, const struct picture *picture)
{
	struct png png = { .file = file, .sum = 1 };
	uint8_t adler[4];

	if (!picture->width || !picture->height) {
		errno = EINVAL;
		return -1;
	}
	write_header(file, picture);
	for (uint32_t y = 0; y < picture->height; y++)
		put_row(&png, picture, y);
	write_block(&png, 0);
	write_block(&png, IS_LAST);
	put_number(adler, png.sum_of_sums << 16 | png.sum);
	write_chunk(file, "IDAT", adler, sizeof(adler));
	write_chunk(file, "IEND", adler, 0);
	return fflush(file) || ferror(file) ? -1 : 0;
}
