import { request } from "node:http";
import { emptySnapshot, type Resource, snapshotOf } from "@isthmus/core";
import type { FleetMoment, FleetSource } from "../src/events/fleet.ts";
import { NOTHING_KNOWN } from "../src/events/fleet.ts";

/** An object of the core group. */
export function object(kind: string, name: string, more: object = {}): Resource {
  return { apiVersion: "v1", kind, metadata: { name, namespace: "bookinfo", clusterName: "cluster-1" }, ...more } as Resource;
}

/** A moment with these objects in one part. */
export function momentOf(objects: Iterable<Resource>, more: Partial<FleetMoment> = {}): FleetMoment {
  return { ...NOTHING_KNOWN, objects: new Map([["cluster cluster-1", snapshotOf(objects)]]), ...more };
}

/** A source of which a test says what it knows. */
export function scriptedSource(): FleetSource & { moment: FleetMoment | undefined; problem: string | undefined; reads: number } {
  const source = {
    about: { kind: "server", name: "test", version: "0", namespace: "gloo-mesh" } as const,
    moment: undefined as FleetMoment | undefined,
    problem: undefined as string | undefined,
    reads: 0,
    async read() {
      source.reads++;
      if (source.problem !== undefined) throw new Error(source.problem);
      return source.moment;
    },
    clock: () => ({ at: new Date(0).toISOString(), clusters: [] }),
  };
  return source;
}

/** An event as a browser receives it. */
export interface Received {
  readonly id: string | undefined;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at any part of any event.
  readonly data: any;
}

/** The events of a text. */
export function eventsIn(text: string): readonly Received[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((block) => {
      const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      return { id: fields.get("id"), event: fields.get("event") ?? "", data: JSON.parse(fields.get("data") ?? "null") };
    });
}

/** What a browser holds after these events: of objects, names with how they are. */
export function folded(events: readonly Received[]) {
  let objects = emptySnapshot();
  for (const { event, data } of events) {
    if (event === "reset") objects = emptySnapshot();
    if (event === "change") objects = objects.apply(data);
  }
  return objects;
}

/** A request that may send any header, as `fetch` may not. */
export function ask(
  port: number,
  { path = "/", method = "GET", headers = {} }: { path?: string; method?: string; headers?: Record<string, string> } = {},
) {
  return new Promise<{ status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }>((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }));
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end();
  });
}
