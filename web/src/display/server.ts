// SPDX-License-Identifier: MIT
// The requests of a display's page (understudy_devices/studio/display.py).

import { asked } from "../served";

export interface Viewer {
  user: string;
  since: number; // seconds since 1970
  of_team: boolean;
}

export interface About {
  lab: string;
  team: string;
  user: string;
  viewers: Viewer[];
  obstacle: string; // why the screen cannot be seen; empty if it can
}

export const about = () => asked<About>("display");

/** Return the address of the screen's WebSocket. */
export function screen(): string {
  const address = new URL("api/screen", location.href);
  address.protocol = "ws:";
  return address.href;
}
