// SPDX-License-Identifier: MIT
// Requests to the server of `understudy studio`.

/** An answer that is an error: the server's line for people, and all of the answer. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly answer: { [name: string]: unknown },
  ) {
    super(message);
  }
}

/** Ask for what is below api/, or change it if there is a body. */
export async function asked<Answer>(path: string, body?: object): Promise<Answer> {
  const answer = await answered(path, body && { method: "POST", body: JSON.stringify(body) });
  return (await answer.json()) as Answer;
}

/** Return an answer that is no error; `signal` ends the request. */
export async function answered(path: string, request?: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`api/${path}`, request);
  } catch (error) {
    if (request?.signal?.aborted) throw error;
    throw new Error("The studio does not answer. Was it ended? Start it again, and open its link.");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) {
    throw new Error("This browser has no token: open the link that understudy studio printed.");
  }
  const value = (await answer.json().catch(() => ({}))) as { [name: string]: unknown };
  const line = typeof value.error === "string" ? value.error : undefined;
  throw new Refused(line ?? `The studio answers ${answer.status}.`, answer.status, value);
}

/** What is done with an experiment's events. */
export interface Follower {
  /** The first line comes next: at the begin, and after each loss of the connection. */
  begun: () => void;
  line: (text: string) => void;
  ended: () => void;
  /** The studio does not know the experiment, or not this browser. */
  lost: () => void;
}

/** Follow an experiment; return a function that ends it.  A browser that loses it asks again. */
export function follow(number: string, { begun, line, ended, lost }: Follower): () => void {
  const events = new EventSource(`api/experiments/${number}/events`);
  events.onopen = begun;
  events.addEventListener("log", ({ data }: MessageEvent<string>) =>
    line(JSON.parse(data) as string),
  );
  events.addEventListener("ended", () => {
    events.close();
    ended();
  });
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) lost();
  };
  return () => events.close();
}
