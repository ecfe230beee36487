// SPDX-License-Identifier: MIT

/** Have the browser save a file. */
export function download(name: string, content: BlobPart, type = "text/plain"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
