// SPDX-License-Identifier: MIT
//
// The program of the Vesper assignments (SIGCSE 2006 section 3.1) in the kernel of Nachos: ten threads
// read ten files of 10 KB, ten bytes at a time. Replaces threads/threadtest.cc; build it in filesys/.
//
// The file system that comes with Nachos has no files above 3,840 bytes, so each file here is a row of
// sectors, read through the SynchDisk. With a file system of a course's own, replace ReadBytes() by
// OpenFile::ReadAt().

#include "copyright.h"
#include "synch.h"
#include "synchdisk.h"
#include "system.h"

static const int threads = 10;
static const int fileBytes = 10000;
static const int readBytes = 10;
static const int fileStride = NumSectors / threads;

static Semaphore *finished;

static void ReadBytes(int file, int at, char *to)
{
    char sectors[2 * SectorSize];
    int first = at / SectorSize, last = (at + readBytes - 1) / SectorSize;

    for (int sector = first; sector <= last; sector++)
        synchDisk->ReadSector(file * fileStride + sector,
                              sectors + (sector - first) * SectorSize);
    memcpy(to, sectors + at % SectorSize, readBytes);
}

static void Reader(void *argument)
{
    int file = (long)argument;
    char bytes[readBytes];

    for (int at = 0; at < fileBytes; at += readBytes) {
        ReadBytes(file, at, bytes);
        for (int i = 0; i < readBytes; i++)
            ASSERT(bytes[i] == (char)(file + (at + i) / SectorSize));
    }
    finished->V();
}

static void WriteFiles(void)
{
    char sector[SectorSize];

    for (int file = 0; file < threads; file++) {
        for (int at = 0; at * SectorSize < fileBytes; at++) {
            memset(sector, file + at, sizeof(sector));
            synchDisk->WriteSector(file * fileStride + at, sector);
        }
    }
}

void ThreadTest(void)
{
    // an order that jumps over the disk: 0, 7, 4, 1, 8, 5, 2, 9, 6, 3
    WriteFiles();
    long long began = stats->totalTicks;
    finished = new Semaphore("readers", 0);
    for (int i = 0; i < threads; i++)
        (new Thread("reader"))->Start(Reader, (void *)(long)(i * 7 % threads));
    for (int i = 0; i < threads; i++)
        finished->P();
    printf("concurrent read: %lld ticks\n", stats->totalTicks - began);
}
