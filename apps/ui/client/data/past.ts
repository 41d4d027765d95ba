import {
  type AgentSessions,
  CHANGES_PATH,
  type ConsoleEvents,
  GENERATIONS_PATH,
  HISTORY_PATH,
  MOMENT_PATH,
  type MomentChanges,
  type MomentTimes,
  type ObjectGeneration,
  type ObjectGenerations,
  SESSIONS_PATH,
} from "@isthmus/console/wire";
import { groupOf, type Resource } from "@isthmus/core";
import type { Fleet } from "./fleet.ts";
import { type FleetEvent, folded, NO_STREAM } from "./fold.ts";

/** The times of which the server knows what was. */
export async function readTimes(signal: AbortSignal): Promise<MomentTimes> {
  return (await readJson(HISTORY_PATH, signal)) as MomentTimes;
}

/** How much changed in each cluster from one time to the next. */
export async function readChanges(signal: AbortSignal): Promise<MomentChanges> {
  return (await readJson(CHANGES_PATH, signal)) as MomentChanges;
}

/** When agents connected and disconnected. */
export async function readSessions(signal: AbortSignal): Promise<AgentSessions> {
  return (await readJson(SESSIONS_PATH, signal)) as AgentSessions;
}

async function readJson(path: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(path, { signal });
  if (!response.ok) throw new Error(await reasonOf(response));
  return response.json();
}

/** The generations that the server remembers of an object; none: it remembers nothing of it. */
export async function readGenerations(object: Resource, signal: AbortSignal): Promise<readonly ObjectGeneration[]> {
  const { name, namespace = "", clusterName = "" } = object.metadata;
  const query = new URLSearchParams({ group: groupOf(object.apiVersion), kind: object.kind, cluster: clusterName, namespace, name });
  return ((await readJson(`${GENERATIONS_PATH}?${query}`, signal)) as ObjectGenerations).generations;
}

/** What was known at a time in ISO 8601. Rejects with the server's reason. */
export async function readPast(at: string, signal: AbortSignal): Promise<Fleet> {
  const response = await fetch(`${MOMENT_PATH}?at=${encodeURIComponent(at)}`, { signal });
  if (!response.ok || response.body === null) throw new Error(await reasonOf(response));
  let stream = NO_STREAM;
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = `${rest}${part.value}`.split("\n\n");
    rest = blocks.pop() ?? "";
    stream = folded(stream, blocks.map(eventIn));
  }
  if (!stream.shown.isReady) throw new Error("the answer was cut off");
  return { ...stream.shown, past: at };
}

function eventIn(block: string): FleetEvent {
  const [type = "", data = ""] = block.split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
  return { type: type as keyof ConsoleEvents, data: JSON.parse(data) } as FleetEvent;
}

async function reasonOf(response: Response): Promise<string> {
  return (await response.text()).slice(0, 200).trim() || `status ${response.status}`;
}
