# SPDX-License-Identifier: MIT
"""What `--with hosted` adds: data in a file, and a disk on the host's clock."""

import subprocess
from pathlib import Path

import pytest
from vesper_builds import STRICT, compiled, output_of, understudy

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("vesper_hosted")]

FILE = """
#include <stdio.h>
#include <string.h>
#include "vesper_file.h"

static struct vesper disk;

static void ready(void *context, const struct vesper_done *done)
{
	*(int *)context = done->result ? done->result : 1;
}

/* use FILE BLOCKS write|read TEXT: at block 5 */
int main(int count, char **word)
{
	struct vesper_config config = { .profile = "vesper-flat", .block_bytes = 512 };
	char data[1024] = { 0 };
	struct vesper_file file;
	int result, ran = 0;
	unsigned blocks;

	(void)count;
	sscanf(word[2], "%u", &blocks);
	config.blocks = blocks;
	config.interrupt = ready;
	config.context = &ran;
	result = vesper_file_open(&file, word[1], &config);
	if (result) {
		printf("%s\\n", strerror(-result));
		return 1;
	}
	if (vesper_init(&disk, &config))
		return 1;
	if (!strcmp(word[3], "write")) {
		strcpy(data + 512, word[4]);
		result = vesper_write(&disk, 5, 2, data);
	} else {
		result = vesper_read(&disk, 5, 2, data);
	}
	vesper_advance(&disk, vesper_next_ns(&disk));
	printf("%d %d %s\\n", result, ran, data + 512);
	vesper_exit(&disk);
	vesper_file_close(&file);
	return 0;
}
"""

WALL = """
#include <stdio.h>
#include <time.h>
#include "vesper_wall.h"

#define READS 30

static struct vesper_wall wall;
static char data[256 * 512], buffer[512];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done_reads, early;

static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void ready(void *context, const struct vesper_done *done)
{
	(void)context;
	pthread_mutex_lock(&mutex);
	early += now() < done->done_ns;
	done_reads++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	if (done_reads < READS && vesper_wall_read(&wall, done_reads * 8, 1, buffer))
		early = 100;
}

int main(void)
{
	struct vesper_config config = { .profile = "cheetah-15k4", .block_bytes = 512 };
	struct vesper_totals t;
	unsigned long long began;

	config.blocks = 256;
	config.memory = data;
	config.interrupt = ready;
	if (vesper_wall_init(&wall, &config))
		return 1;
	if (vesper_wall_init(&wall, &config) != VESPER_TWICE)
		return 2;
	began = now();
	if (vesper_wall_read(&wall, 200, 1, buffer))
		return 3;
	if (vesper_wall_read(&wall, 1, 1, buffer) != VESPER_BUSY)
		return 4;
	pthread_mutex_lock(&mutex);
	while (done_reads < READS)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	vesper_wall_statistics(&wall, &t);
	printf("%d %llu %llu %llu\\n", early, (unsigned long long)t.requests,
		(unsigned long long)(t.seek_ns + t.cache_ns), now() - began);
	return vesper_wall_exit(&wall);
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the library and its parts for programs of the host."""
    folder = tmp_path_factory.mktemp("hosted")
    understudy("vesper", "--out", folder, "--with", "hosted")
    return folder


def test_a_file_keeps_the_data(library: Path, tmp_path: Path) -> None:
    (library / "file.c").write_text(FILE)
    sources = ("file.c", "vesper_file.c", "vesper.c")
    program = compiled(library, "use-file", *STRICT, "-fsanitize=address,undefined", *sources)
    kept = tmp_path / "disk"
    assert output_of(program, kept, 64, "write", "hello") == "0 1 hello\n"
    assert kept.stat().st_size == 64 * 512
    assert kept.read_bytes()[6 * 512 :].startswith(b"hello\0")
    assert output_of(program, kept, 64, "read") == "0 1 hello\n"


@pytest.mark.parametrize(("name", "reason"), [("other", "File exists"), ("none/disk", "No such")])
def test_files_that_are_refused(library: Path, tmp_path: Path, name: str, reason: str) -> None:
    """A file of another size is somebody's."""
    (library / "file.c").write_text(FILE)
    program = compiled(library, f"use-{name[:4]}", "file.c", "vesper_file.c", "vesper.c")
    (tmp_path / "other").write_text("a letter")
    command = [str(program), str(tmp_path / name), "64", "read"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert reason in done.stdout
    assert (tmp_path / "other").read_text() == "a letter"


def test_interrupts_on_the_hosts_clock_are_never_early(library: Path) -> None:
    (library / "wall.c").write_text(WALL)
    sources = ("wall.c", "vesper_wall.c", "vesper.c", "-pthread")
    program = compiled(library, "use-wall", *STRICT, "-fsanitize=thread", *sources)
    early, requests, modelled_ns, wall_ns = map(int, output_of(program).split())
    assert early == 0
    assert requests == 30
    assert modelled_ns > 30 * 250_000
    assert wall_ns >= modelled_ns
