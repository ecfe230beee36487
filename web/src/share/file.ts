// SPDX-License-Identifier: MIT
/**
 * Views as a page that is one file, with the data of these views: for a mail, or for any browser
 * without a server.  The script and its content security policy come from web/build.py.
 */
import { json } from "../simulator/simulation.ts";
import { packed } from "../views/packing.ts";
import type { Prepared } from "../views/prepared.ts";
import { fileName, save } from "../views/save.ts";
import type { Shown } from "../views/shared.ts";

interface Built {
  policy: string;
  style: string;
  script: string;
}

/** Save a page; `source` says in words, or as a command, where the runs are from. */
export async function saveHtml(
  name: string,
  source: string,
  shown: Shown,
  prepared: Prepared,
): Promise<void> {
  const { policy, style, script } = await json<Built>("views.json");
  const runs = await compressed(packed(prepared, shown));
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(name)}</title>
<style>${style}
main { max-width: 80rem; margin: 0 auto; padding: 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }</style>
</head>
<body>
<main>
<h1>${escaped(name)}</h1>
<pre><code>${escaped(source)}</code></pre>
<div id="views"><noscript>The pictures need JavaScript.</noscript></div>
</main>
<script type="application/json" id="shown">${JSON.stringify(shown)}</script>
<script type="application/octet-stream" id="runs">${runs}</script>
<script>${script}</script>
</body>
</html>
`;
  save(`${fileName(name)}.html`, new Blob([page], { type: "text/html" }));
}

async function compressed(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  const parts: string[] = [];
  for (let i = 0; i < packed.length; i += 0x6000) // a multiple of 3, so that no part is padded
    parts.push(btoa(String.fromCharCode(...packed.subarray(i, i + 0x6000))));
  return parts.join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
