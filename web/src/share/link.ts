// SPDX-License-Identifier: MIT
/**
 * A link: workload, disk, schedulers, options and the user's text, in the address's fragment, which
 * a browser sends to no server.  Anyone may have made a link, so everything in it is checked, and
 * its text is not compiled before the user asks for it.
 */
import { optionsOf, type Setting } from "../command.ts";
import { OWN } from "../own/name.ts";
import { wordOf, wrongWith, type Catalogue } from "../simulator/catalogue.ts";

const VERSION = "1";
const LINK_LENGTH = 100_000; // characters; some programs cut longer addresses off
const SOURCE_BYTES = 2 ** 18;
const SHOWN = 40; // characters of a wrong name

export interface Shared extends Setting {
  /** The user's text, or null. */
  source: string | null;
}

/** The link is broken; the message is one line. */
export class BadLink extends Error {}

/** Return the fragment; BadLink if the text is too long for a link. */
export async function fragmentOf(catalogue: Catalogue, shared: Shared): Promise<string> {
  const words = new URLSearchParams({
    v: VERSION,
    workload: shared.workload,
    disk: shared.disk,
    schedulers: shared.schedulers.join(","),
  });
  for (const option of optionsOf(catalogue, shared.workload)) {
    const value = shared.values[option.field];
    if (value != null) words.set(option.option.replace(/^--/, ""), wordOf(option, value));
  }
  if (shared.source !== null) words.set("source", await packed(shared.source));
  const fragment = `#${words}`;
  if (fragment.length > LINK_LENGTH)
    throw new BadLink("The text is too long for a link: download it, and send the file.");
  return fragment;
}

/** Return what a fragment says, or null if it says nothing; raises BadLink. */
export async function sharedBy(catalogue: Catalogue, fragment: string): Promise<Shared | null> {
  if (fragment.length <= 1) return null;
  if (fragment.length > LINK_LENGTH)
    throw new BadLink(
      `it has ${fragment.length.toLocaleString("en")} characters, and a link has at most ` +
        LINK_LENGTH.toLocaleString("en"),
    );
  const words = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(fragment.slice(1))) {
    if (words.has(name)) throw new BadLink(`it has ${quoted(name)} twice`);
    words.set(name, value);
  }
  const take = (name: string): string | undefined => {
    const value = words.get(name);
    words.delete(name);
    return value;
  };
  const version = take("v");
  if (version !== VERSION)
    throw new BadLink(
      version === undefined
        ? "it has no version"
        : `it is of version ${quoted(version)}, and this page reads version ${VERSION}`,
    );
  const { defaults } = catalogue;
  const workload = known("workload", catalogue.workloads, take("workload") ?? defaults.workload);
  const disk = known("disk", catalogue.disks, take("disk") ?? defaults.disk);
  const text = take("source");
  const source = text === undefined ? null : await unpacked(text);
  const own = source === null ? [] : [OWN];
  const possible = [...catalogue.schedulers, ...own].map((name) => ({ name }));
  const named = (take("schedulers") ?? "").split(",").filter((name) => name);
  const schedulers = [...new Set(named)].map((name) => known("scheduler", possible, name));
  const values: Record<string, number> = {};
  for (const option of optionsOf(catalogue, workload)) {
    const given = take(option.option.replace(/^--/, ""));
    if (given === undefined) continue;
    const value = option.choices?.indexOf(given) ?? (given.trim() ? Number(given) : NaN);
    if (!Number.isFinite(value)) throw new BadLink(`${option.option}: ${quoted(given)} is no number`);
    const wrong = wrongWith(option, value);
    if (wrong) throw new BadLink(wrong);
    values[option.field] = value;
  }
  for (const name of words.keys())
    throw new BadLink(`the page has no option ${quoted(name)} for ${workload}`);
  return { workload, disk, schedulers, values, source };
}

function known(kind: string, all: { name: string }[], name: string): string {
  if (all.some((each) => each.name === name)) return name;
  throw new BadLink(`the page has no ${kind} ${quoted(name)}`);
}

function quoted(text: string): string {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
  return JSON.stringify(shown);
}

/** Return a text, compressed, in characters that an address may have. */
async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(text: string): Promise<string> {
  try {
    const characters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(characters, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new TextDecoder("utf-8", { fatal: true }).decode(await limited(stream));
  } catch (error) {
    if (error instanceof BadLink) throw error;
    throw new BadLink("its text can't be decompressed: the link was cut off or changed");
  }
}

/** Read a stream, but not more than a text may have: a few bytes may decompress to gigabytes. */
async function limited(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const reader = stream.getReader();
  const whole = new Uint8Array(SOURCE_BYTES);
  let length = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return whole.subarray(0, length);
    if (length + value.length > SOURCE_BYTES) {
      await reader.cancel();
      throw new BadLink(`its text has more than ${SOURCE_BYTES.toLocaleString("en")} bytes`);
    }
    whole.set(value, length);
    length += value.length;
  }
}
