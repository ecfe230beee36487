# SPDX-License-Identifier: MIT
"""Samples of formats of traces, made by hand after the tools' own output."""

import struct

SPC = b"0,303567,3584,w,0.000000\n1,55590,3072,W,0.026214\n0,0,1,r,0.5\n"
MQSIM = b"48513000 0 1274296 8 1\n48513900  1\t8 1 0\n48514000 0 0 2 1\n"
DISKSIM = b"0.047912 0 1274296 8 1\n0.5 1 8 1 4\n1.25 0 0 2 3\n"
FIU = b"""\
89966104381 4892 syslogd 904265560 8 W 6 0 531e779c5ed2
89967181297 4892 syslogd 904265568 8 R 6 0 ffff0000
"""
FTRACE = b"""\
# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
    dd-4120    [001] .....   100.000000: block_rq_issue: 8,0 R 4096 () 2048 + 8 none,0,0 [dd]
          <idle>-0       [001] ..s1.   100.004000: block_rq_complete: 8,0 R () 2048 + 8 none,0,0 [0]
CPU:1 [LOST 7 EVENTS]
 kworker/0:1H-56 (  56)  [000] ....    100.005000: block_rq_issue: 8,0 FF 0 () 0 + 0 none,0,0 [x]
 jbd2/sda1-8-99          [001] .....   100.005001: sched_switch: prev_comm=x
 jbd2/sda1-8-99          [001] .....   100.005001: block_bio_queue: 8,16 WS 2056 + 8 [jbd2]
 jbd2/sda1-8-99          [001] .....   100.005100: block_rq_issue: 8,16 WS 4096 () 2056 + 8 [jbd2]
          <idle>-0       [001] ..s1.   100.009500: block_rq_complete: 8,16 WS () 2056 + 8 [0]
"""
PERF = b"""\
             fio 12001 [002]  5000.100000: block:block_rq_issue: 259,0 R 4096 () 81920 + 8 [fio]
         swapper     0 [002]  5000.100090: block:block_rq_complete: 259,0 R () 81920 + 8 [0]
   web worker 7/9 [002]  5000.100100123: block:block_rq_issue: 259,0 W 4096 () 81928 + 8 [fio]
         swapper     0 [002]  5000.100130123: block:block_rq_complete: 259,0 W () 81928 + 8 [0]
"""
NVME = b"""\
  fio-901  [003] .....   400.000000: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=101, \
nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_read slba=2048, len=7, ctrl=0x0, dsmgmt=0, reftag=0)
  fio-901  [003] .....   400.000010: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=5, cmdid=101, \
nsid=1, flags=0x0, meta=0x0, cmd=(nvme_cmd_write slba=8, len=0, ctrl=0x0, dsmgmt=0, reftag=0)
  fio-901  [003] .....   400.000020: nvme_setup_cmd: nvme0: qid=0, cmdid=3, \
nsid=1, flags=0x0, meta=0x0, cmd=(nvme_admin_identify cns=1, ctrlid=0)
  <idle>-0 [003] d.h1.   400.000085: nvme_complete_rq: nvme0: disk=nvme0n1, qid=4, cmdid=101
  <idle>-0 [003] d.h1.   400.000086: nvme_complete_rq: nvme0: disk=nvme0n1, qid=5, cmdid=101
  <idle>-0 [003] d.h1.   400.000087: nvme_complete_rq: nvme0: disk=nvme0n1, qid=5, cmdid=999
"""
BIOSNOOP = b"""\
Tracing block device I/O... Hit Ctrl-C to end.
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)
0.000004    supervise      1950   xvda1   W 13092560   4096      0.74
0.000178    Web Content    0      xvda1   R 13092432   512       0.61
1.446701    ?              0      xvda1   WS 0         0         2.00
Possibly lost 3 samples
^C
"""
BIOSNOOP_QUEUE = b"""\
TIME(s)     COMM           PID    DISK    T    SECTOR     BYTES   QUE(ms) LAT(ms)
3.000004    dd             7      nvme0n1 RA   16         8192    0.250   1.500
"""
BIOSNOOP_BT = b"""\
Attaching 4 probes...
TIME(ms)     DISK    COMM             PID    LAT(ms)
611          nvme0n1 bash             4179        10
627          nvme0n1 Web Content      4179         0
"""
BIOSNOOP_IDS = b"""\
TIME(ms)     DISK ID        COMM             PID    LAT(ms)
             MAJOR MINOR
611          259   0        bash             4179        10
"""
ETW = b"""\
BeginHeader
   DiskRead,  TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, \
ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap, FileObject, FileName
  DiskWrite,  TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, \
ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap, FileObject, FileName
  DiskFlush,  TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ElapsedTime,  DiskNum
EndHeader
OS Version: 10.0.1
   DiskRead,  8612, xperf.exe (3984), 11844, 1, 0xffff, 0x018f0b8000, 0x00001000, 283, 0, \
0x060043, 183, 3, Original, 0xffff, "C:\\a, b"
  DiskFlush,  8700, System (4), 1, 0xffff, 9, 0
  DiskWrite,  9000, System (   4), 8, 1, 0xffff, 512, 1025, 300, 1, 0x1, 400, 3, Original, 0x0, "x"
"""
FLASHNET = b"""\
0.000,114,1,4096,7356416,0.172,4096
0.003,193,0,512,513,0.1055,512
4.250,9,1,4096,0,4.25,4096
"""
FLASHNET_OLD = b"0.000,114,1,4096,7356416\n2.5,7,0,512,512\n"
VALIDATE = b"""\
R Miss  564347     2     14095.370     13876.270
W Hit   564349     4    663.00000  45422.00000
R Hit   0     1      1414.2705     18746.770
"""
THESIOS = b"""\
filename,file_offset,application,c_time,io_zone,redundancy_type,op_type,service_class,\
from_flash_cache,cache_hit,request_io_size_bytes,disk_io_size_bytes,response_io_size_bytes,\
start_time,disk_time,simulated_disk_start_time,simulated_latency
d2,2453358,bigtable,1705305576,WARM,REPLICATED,WRITE,THROUGHPUT_ORIENTED,0,-1,3390,3390,0,\
1705305600.015989780,0.000000000,0.000000000,0.000124652
0c,7354368,4aed,1705167112,WARM,REPLICATED,READ,THROUGHPUT_ORIENTED,0,0,1050624,1052672,1050624,\
1705305600.019597054,0.004239065,1705305600.019604445,0.004246402
d2,0,bigtable,1705305576,COLD,REPLICATED,READ,OTHER,0,-1,1,1,1,\
1705305600.015989779,0.000000000,0.000000000,1
"""
IOSNOOP = b"""\
Tracing block I/O. Ctrl-C to end.
STARTs          ENDs            COMM         PID    TYPE DEV      BLOCK        BYTES     LATms
14545946.332115 14545946.344366 <...>        17185  WS   8,160    4840587442   4096      12.25
14545946.331036 14545946.347082 Web Content  17197  RM   202,1    16           512       16.05
14545946.356584 14545946.358920 <idle>       0      FF   8,160    18446744073709551615 0  2.34
"""
IOSNOOP_ENDS = b"""\
ENDs            COMM         PID    TYPE DEV      BLOCK        BYTES     LATms
100.344366      dd           7      R    8,0      8            4096      12.25
"""
LIBCACHESIM = b"""\
version,time,op,size,lbn
1,5633898,2a,512,42932745
1,5633899,28,513,8
1,5633898,8A,4096,0
"""
WPA = """\
IO Type;Priority;Process (Name);Init Time (s);Complete Time (s);IO Time (\N{MICRO SIGN}s);\
Disk Service Time (\N{MICRO SIGN}s);Size (B);Min Offset;Max Offset;Disk;Count
Read;Normal;System;1,079943800;1,080031000;87,200;87,200;512;0x0000000000000200;0x3FF;0;1
Write;Low;a;1.001,080116401;1.001,081116401;1.000,000;159,201;16.384;0x1F;0x401E;1;1
Flush;Normal;System;1.001,090000000;1.001,090100000;100,000;0,000;0;0x0;0x0;0;1
""".encode()
WPA_ENGLISH = b"""\
IO Type,Process,Init Time (ms),Complete Time (ms),Size (B),Min Offset,Disk
Read,System,"1,079.943800","1,080.031000","16,384","1,024",0
"""
SRT_TEXT = b"""\
$$TR_IOREC-1.3 (IOAdaptor Upgrade Version)
version      = 1.3;
disks        = {
 0 -> {
  disktype    = hp335h,
  sectorsize  = 256,
  },
 1 -> {
  disktype    = hp97560,
  sectorsize  = 512,
  }
};
\x0c"""


def srt_record(
    at: tuple[int, int],
    served: tuple[int, int],
    place: tuple[int, int] = (3, 512),
    disk: int = 0,
    **more: int,
) -> bytes:
    """Return a record of HP's SRT: seconds and us, begin and end of the service in us after that,
    first sector and bytes.
    """
    version, kind, flags = (more.get(name, one) for name, one in KIND_OF_RECORD.items())
    size = 52 + 4 * (version == 4) + 4 * (kind == 4)
    device = (8 << 24) + (disk << 8) + 7
    body = (*at, *served, place[1], place[0], device, 4, 1, flags, 0)
    return struct.pack(">IHH11I", size, version, kind, *body) + bytes(size - 52)


KIND_OF_RECORD = {"version": 4, "kind": 1, "flags": 0x1B}
SRT = SRT_TEXT + b"".join(
    (
        srt_record((0, 100), (174, 19687), (1056, 4096)),
        srt_record((1, 0), (0, 7), (3, 257), disk=1, version=1, flags=0),
        srt_record((0, 50), (1, 2), kind=4),
    )
)
