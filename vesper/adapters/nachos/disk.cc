// SPDX-License-Identifier: MIT
//
// The disk of Nachos with the timing of a real one: replaces machine/disk.cc, and leaves disk.h as it
// is. docs/vesper.md says how, and with which version of Nachos it was tried.
//
// Data stay in the UNIX file, in Nachos's format. A tick is VESPER_TICK_NS, a microsecond as
// machine/stats.h says. The environment variable VESPER_DISK names another profile. When Nachos
// halts, the disk prints where its time went.

#include "copyright.h"
#include "disk.h"
#include "system.h"
#include "vesper.h"

#ifndef VESPER_TICK_NS
#define VESPER_TICK_NS 1000
#endif
#ifndef VESPER_PROFILE
#define VESPER_PROFILE "vesper-zoned"
#endif

static const int diskMagic = 0x456789ab; // the file's first word
static const int headerBytes = sizeof(int);

static struct vesper vesper;

static void Check(int result)
{
    if (result)
        fprintf(stderr, "disk: %s\n", vesper_error(result));
    ASSERT(!result);
}

static uint64_t NowNs(void)
{
    return stats->totalTicks * (uint64_t)VESPER_TICK_NS;
}

//----------------------------------------------------------------------
// Storage: the UNIX file
//----------------------------------------------------------------------

static int ReadSectors(void *file, uint64_t start, uint32_t sectors, void *data)
{
    Lseek(*(int *)file, headerBytes + start * SectorSize, SEEK_SET);
    Read(*(int *)file, data, sectors * SectorSize);
    return 0;
}

static int WriteSectors(void *file, uint64_t start, uint32_t sectors, const void *data)
{
    Lseek(*(int *)file, headerBytes + start * SectorSize, SEEK_SET);
    WriteFile(*(int *)file, data, sectors * SectorSize);
    return 0;
}

static int OpenStorage(const char *name)
{
    int file = OpenForReadWrite(name, FALSE);
    int word = 0;

    if (file >= 0) {
        Read(file, &word, sizeof(word));
        ASSERT(word == diskMagic);
        return file;
    }
    file = OpenForWrite(name);
    WriteFile(file, &diskMagic, sizeof(diskMagic));
    Lseek(file, headerBytes + NumSectors * SectorSize - sizeof(word), SEEK_SET);
    WriteFile(file, &word, sizeof(word));
    return file;
}

//----------------------------------------------------------------------
// The disk
//----------------------------------------------------------------------

static void Completed(void *disk, const struct vesper_done *done)
{
    Check(done->result);
    ((Disk *)disk)->HandleInterrupt();
}

static void Due(void *disk)
{
    (void)disk;
    Check(vesper_advance(&vesper, NowNs()));
}

Disk::Disk(const char *name, VoidFunctionPtr callWhenDone, void *callArg)
{
    static struct vesper_config config;
    const char *profile = getenv("VESPER_DISK");

    handler = callWhenDone;
    handlerArg = callArg;
    lastSector = bufferInit = 0;
    active = FALSE;
    fileno = OpenStorage(name);
    config.profile = profile ? profile : VESPER_PROFILE;
    config.blocks = NumSectors;
    config.block_bytes = SectorSize;
    config.interrupt = Completed;
    config.context = this;
    config.storage.read = ReadSectors;
    config.storage.write = WriteSectors;
    config.storage.context = &fileno;
    config.now_ns = NowNs();
    Check(vesper_init(&vesper, &config));
}

Disk::~Disk()
{
    struct vesper_totals sums;

    vesper_statistics(&vesper, &sums);
    printf("Disk %s: requests %llu, elapsed %.3f ms, seek %.3f, rotation %.3f, "
           "transfer %.3f, cache %.3f, idle %.3f\n",
           getenv("VESPER_DISK") ? getenv("VESPER_DISK") : VESPER_PROFILE,
           (unsigned long long)sums.requests, sums.elapsed_ns / 1e6, sums.seek_ns / 1e6,
           sums.rotation_ns / 1e6, sums.transfer_ns / 1e6, sums.cache_ns / 1e6,
           sums.idle_ns / 1e6);
    vesper_exit(&vesper);
    Close(fileno);
    fileno = -1;
}

// Return in how many ticks a request to newSector would complete if it were issued now. Nothing in
// Nachos but the disk itself calls this function; a request's interrupt is scheduled with it.
int Disk::ComputeLatency(int, bool)
{
    uint64_t due = (vesper_next_ns(&vesper) + VESPER_TICK_NS - 1) / VESPER_TICK_NS;

    return due - stats->totalTicks;
}

void Disk::ReadRequest(int sectorNumber, void *data)
{
    Check(vesper_advance(&vesper, NowNs()));
    Check(vesper_read(&vesper, sectorNumber, 1, data));
    active = TRUE;
    stats->numDiskReads++;
    interrupt->Schedule(Due, this, ComputeLatency(sectorNumber, FALSE), DiskInt);
}

void Disk::WriteRequest(int sectorNumber, const void *data)
{
    Check(vesper_advance(&vesper, NowNs()));
    Check(vesper_write(&vesper, sectorNumber, 1, data));
    active = TRUE;
    stats->numDiskWrites++;
    interrupt->Schedule(Due, this, ComputeLatency(sectorNumber, TRUE), DiskInt);
}

void Disk::HandleInterrupt(void)
{
    active = FALSE;
    (*handler)(handlerArg);
}
