// SPDX-License-Identifier: GPL-2.0
/*
 * IPv4, TCP and UDP in Ethernet frames: checksums, and the segments of a large frame.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>

#include "station.h"

/*
 * A frame's headers: that of IPv4, and what it carries.  A frame that is no valid IPv4 has none, and
 * a fragment has no TCP and UDP header.
 */
struct headers {
	struct iphdr *ip;
	struct tcphdr *tcp;
	struct udphdr *udp;
	u32 bytes; /* from the TCP or UDP header to the end of the packet */
};

static struct headers headers_of(u8 *data, u32 bytes)
{
	bool tagged = bytes >= ETH_HLEN && data[12] == 0x81 && !data[13];
	u32 start = ETH_HLEN + (tagged ? TAG_BYTES : 0), own, total;
	struct iphdr *ip = (struct iphdr *)(data + start);
	struct headers headers = {};

	if (bytes < start + sizeof(*ip) || data[start - 2] != 8 || data[start - 1] ||
	    ip->version != 4)
		return headers;
	own = 4 * ip->ihl;
	total = ntohs(ip->tot_len);
	if (own < sizeof(*ip) || total < own || total > bytes - start)
		return headers;
	headers.ip = ip;
	headers.bytes = total - own;
	if (ip->frag_off & htons(0x3fff))
		return headers;
	if (ip->protocol == IPPROTO_TCP && headers.bytes >= sizeof(*headers.tcp))
		headers.tcp = (struct tcphdr *)((u8 *)ip + own);
	if (ip->protocol == IPPROTO_UDP && headers.bytes >= sizeof(*headers.udp))
		headers.udp = (struct udphdr *)((u8 *)ip + own);
	return headers;
}

/* Returns the checksum of TCP or UDP; 0 over a header that has the right one. */
static __sum16 sum_of(const struct headers *headers, const void *header)
{
	return csum_tcpudp_magic(headers->ip->saddr, headers->ip->daddr, headers->bytes,
				 headers->ip->protocol,
				 csum_partial(header, headers->bytes, 0));
}

void frame_fill_sums(u8 *data, u32 bytes, u32 word)
{
	struct headers headers = headers_of(data, bytes);

	if (headers.ip && word & SEND_IP_SUM) {
		headers.ip->check = 0;
		headers.ip->check = ip_fast_csum(headers.ip, headers.ip->ihl);
	}
	if (headers.tcp && word & SEND_TCP_SUM) {
		headers.tcp->check = 0;
		headers.tcp->check = sum_of(&headers, headers.tcp);
	}
	if (headers.udp && word & SEND_UDP_SUM) {
		headers.udp->check = 0;
		headers.udp->check = sum_of(&headers, headers.udp) ?: CSUM_MANGLED_0;
	}
}

u32 frame_check_sums(u8 *data, u32 bytes)
{
	struct headers headers = headers_of(data, bytes);
	u32 wrong;

	if (!headers.ip)
		return 0;
	wrong = ip_fast_csum(headers.ip, headers.ip->ihl) ? RECEIVED_IP_WRONG : 0;
	if (headers.tcp)
		return RECEIVED_TCP | wrong |
		       (sum_of(&headers, headers.tcp) ? RECEIVED_TCP_WRONG : 0);
	if (headers.udp)
		return RECEIVED_UDP | wrong |
		       (headers.udp->check && sum_of(&headers, headers.udp)
				? RECEIVED_UDP_WRONG
				: 0);
	return RECEIVED_IP | wrong;
}

u32 frame_segment(const u8 *data, u32 bytes, u32 at, u32 most, u8 *segment)
{
	struct headers headers = headers_of((u8 *)data, bytes);
	u32 start, left, part;

	if (!headers.tcp || headers.bytes < 4 * headers.tcp->doff)
		return 0;
	start = (u8 *)headers.tcp - data + 4 * headers.tcp->doff;
	left = headers.bytes - 4 * headers.tcp->doff;
	if (at >= left)
		return 0;
	part = min(left - at, most);
	memcpy(segment, data, start);
	memcpy(segment + start, data + start + at, part);
	headers.ip = (struct iphdr *)(segment + ((u8 *)headers.ip - data));
	headers.tcp = (struct tcphdr *)(segment + ((u8 *)headers.tcp - data));
	headers.ip->tot_len = htons(start + part - ((u8 *)headers.ip - segment));
	headers.ip->id = htons(ntohs(headers.ip->id) + at / most);
	headers.tcp->seq = htonl(ntohl(headers.tcp->seq) + at);
	if (at)
		headers.tcp->cwr = 0;
	if (at + part < left)
		headers.tcp->fin = headers.tcp->psh = 0;
	frame_fill_sums(segment, start + part, SEND_IP_SUM | SEND_TCP_SUM);
	return start + part;
}
