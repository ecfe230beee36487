// SPDX-License-Identifier: MIT
/*
 * A library loaded before nbdkit, to avoid a crash. nbdkit up to version 1.32, at least, crashes
 * and loses all its data if a client disconnects while several of its requests are being answered.
 * The thread that finds the socket broken marks the socket as closed for writing. The next thread
 * has already checked that the client is connected, so it then fails an assertion (raw_send_socket:
 * sock >= 0).
 *
 * Therefore this library reports an answer to a disconnected client as sent. An event that would
 * end a connection (end of file, an error, an invalid request) is passed to nbdkit only after all
 * earlier requests have been answered. The library recognises a connection by nbdkit's greeting.
 * The thread that sends the greeting also does the NBD handshake. Other threads receive the
 * requests, one at a time.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 65536
#define GREETING "NBDMAGICIHAVEOPT"
#define REQUEST_MAGIC 0x25609513
#define SKIPPED_BYTES (128u << 20) /* a write of more data ends the connection */
#define LOOK_NS 1000000

enum { ASKS_WRITE = 1, ASKS_END = 2 };

struct request {
	uint32_t magic;
	uint16_t flags;
	uint16_t type;
	uint64_t handle;
	uint64_t offset;
	uint32_t bytes;
} __attribute__((packed));

/*
 * Indexed by descriptor. `unanswered` is shared by all threads. Only the thread that currently
 * receives a request uses the other members.
 */
static struct connection {
	unsigned int unanswered; /* atomic */
	bool greeted;
	struct request request;
	size_t got; /* bytes of the request that have been received */
	size_t data; /* bytes of the request's data not yet received */
} connections[CONNECTIONS_MAX];

static _Thread_local bool shakes_hands;

static struct connection *connection_of(int file)
{
	if (shakes_hands || file < 0 || file >= CONNECTIONS_MAX)
		return NULL;
	return connections[file].greeted ? &connections[file] : NULL;
}

static void greet(int file, const void *said, size_t bytes)
{
	if (bytes < strlen(GREETING) || memcmp(said, GREETING, strlen(GREETING)))
		return;
	shakes_hands = true;
	if (file < CONNECTIONS_MAX)
		connections[file] = (struct connection){ .greeted = true };
}

static void wait_for_answers(const struct connection *connection)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };

	while (__atomic_load_n(&connection->unanswered, __ATOMIC_ACQUIRE))
		nanosleep(&look, NULL);
}

static bool is_request(const struct request *request)
{
	return be32toh(request->magic) == REQUEST_MAGIC &&
	       (be16toh(request->type) != ASKS_WRITE ||
		be32toh(request->bytes) <= SKIPPED_BYTES);
}

static void take(struct connection *connection)
{
	const struct request *request = &connection->request;

	connection->got = 0;
	if (!is_request(request)) {
		wait_for_answers(connection);
		return;
	}
	if (be16toh(request->type) == ASKS_WRITE)
		connection->data = be32toh(request->bytes);
	if (be16toh(request->type) != ASKS_END)
		__atomic_add_fetch(&connection->unanswered, 1, __ATOMIC_RELAXED);
}

/* nbdkit reads a request and its data separately, each possibly in pieces. */
static void follow(struct connection *connection, const void *data, size_t bytes)
{
	struct request *request = &connection->request;

	if (connection->data) {
		connection->data -= bytes < connection->data ? bytes : connection->data;
		return;
	}
	if (bytes > sizeof(*request) - connection->got)
		bytes = sizeof(*request) - connection->got;
	memcpy((char *)request + connection->got, data, bytes);
	connection->got += bytes;
	if (connection->got == sizeof(*request))
		take(connection);
}

/*
 * End a connection. A write without all its data will never be answered, so it no longer counts as
 * unanswered.
 */
static void end(struct connection *connection)
{
	if (connection->data)
		__atomic_sub_fetch(&connection->unanswered, 1, __ATOMIC_RELAXED);
	connection->data = 0;
	wait_for_answers(connection);
}

int close(int file)
{
	if (file >= 0 && file < CONNECTIONS_MAX)
		connections[file].greeted = false;
	return syscall(SYS_close, file);
}

ssize_t read(int file, void *data, size_t bytes)
{
	struct connection *connection = connection_of(file);
	ssize_t got = syscall(SYS_read, file, data, bytes);
	int error = errno;

	if (!connection || (got < 0 && (error == EINTR || error == EAGAIN)))
		return got;
	if (got > 0)
		follow(connection, data, got);
	else
		end(connection);
	errno = error;
	return got;
}

ssize_t send(int file, const void *data, size_t bytes, int flags)
{
	struct connection *connection = connection_of(file);
	ssize_t sent;

	if (!connection)
		greet(file, data, bytes);
	sent = syscall(SYS_sendto, file, data, bytes, flags | MSG_NOSIGNAL, NULL, 0);
	if (!connection || (sent < 0 && (errno == EINTR || errno == EAGAIN)))
		return sent;
	if (sent < 0)
		sent = bytes;
	if ((size_t)sent == bytes && !(flags & MSG_MORE))
		__atomic_sub_fetch(&connection->unanswered, 1, __ATOMIC_RELEASE);
	return sent;
}
