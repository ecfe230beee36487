// SPDX-License-Identifier: MIT
// What the page uses of noVNC, which has no types of its own (its docs/API.md).

declare module "@novnc/novnc" {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, address: string, options?: { shared?: boolean });
    scaleViewport: boolean;
    viewOnly: boolean;
    background: string;
    disconnect(): void;
    focus(options?: FocusOptions): void;
    sendKey(keysym: number, code: string, down?: boolean): void;
    toBlob(done: (picture: Blob | null) => void, type?: string): void;
  }
}
