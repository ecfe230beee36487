// SPDX-License-Identifier: MIT
// The requests to the server of `understudy studio` (understudy_devices/studio/server.py).

export interface About {
  folder: string;
  version: string;
  commands: string[];
}

export interface Experiment {
  number: string;
  words: string[];
  began_s: number | null;
  ended_s: number | null;
  exit: number | null;
  state: "running" | "done" | "failed" | "cancelled" | "lost";
  run: string | null;
}

export interface Run {
  name: string;
  changed_s: number;
  has_report: boolean;
  schema?: string;
  command?: string;
  trusted?: boolean | null;
  error?: string;
}

async function asked<Answer>(path: string, body?: object): Promise<Answer> {
  const request = body && { method: "POST", body: JSON.stringify(body) };
  let answer: Response;
  try {
    answer = await fetch(`api/${path}`, request);
  } catch {
    throw new Error("The studio does not answer. Was it ended? Start it again, and open its link.");
  }
  if (answer.status === 401) {
    throw new Error("This browser has no token: open the link that understudy studio printed.");
  }
  const value = (await answer.json().catch(() => ({}))) as Answer & { error?: string };
  if (!answer.ok) throw new Error(value.error ?? `The studio answers ${answer.status}.`);
  return value;
}

export const about = () => asked<About>("about");

export const runs = () => asked<{ runs: Run[]; more: number }>("runs");

export const experiments = async () =>
  (await asked<{ experiments: Experiment[] }>("experiments")).experiments;

export const start = (words: string[]) => asked<Experiment>("experiments", { words });

export const cancel = (number: string) => asked<Experiment>(`experiments/${number}/cancel`, {});

export const reportOf = (run: Run) =>
  `api/runs/${run.name.split("/").map(encodeURIComponent).join("/")}/report`;

/** Follow an experiment from its first line on; return a function that ends it. */
export function follow(
  number: string,
  line: (text: string) => void,
  ended: (experiment: Experiment) => void,
): () => void {
  const events = new EventSource(`api/experiments/${number}/events`);
  events.addEventListener("log", (event) => line(JSON.parse(event.data) as string));
  events.addEventListener("ended", (event) => {
    events.close();
    ended(JSON.parse(event.data) as Experiment);
  });
  // A browser asks again after an error, and would get all lines once more.
  events.onerror = () => events.close();
  return () => events.close();
}
