import type { Cluster } from "@isthmus/ports";
import { untyped } from "../remoteAccess.ts";
import { AGENT } from "./agentManifest.ts";

/** The last lines of the log of a pod. */
export type PodLog = (pod: { readonly name: string; readonly namespace: string }) => Promise<string>;

const Pod = untyped("v1", "Pod", "pods");
const PREFIX = "no connection to the management server: ";

/** Why the agent is not connected, as its newest pod has logged it last; undefined where its log cannot be read, or says nothing of it. */
export async function agentComplaint(remote: Cluster, namespace: string, log: PodLog): Promise<string | undefined> {
  const { items } = await remote.list(Pod, { namespace, labels: { matchLabels: { app: AGENT } } });
  const [newest] = [...items].sort((a, b) => (ageOf(a) < ageOf(b) ? 1 : -1));
  if (newest === undefined) return undefined;
  const lines = (await log({ name: newest.metadata.name, namespace }).catch(() => "")).split("\n");
  const messages = lines.flatMap(messageIn).filter((message) => message.startsWith(PREFIX) || message.startsWith("connected to "));
  const last = messages.at(-1);
  return last?.startsWith(PREFIX) ? last.slice(PREFIX.length, PREFIX.length + LONGEST) : undefined;
}

function ageOf({ metadata }: { readonly metadata: { readonly creationTimestamp?: string } }): string {
  return metadata.creationTimestamp ?? "";
}

/** The message of one line of our log, which is JSON. */
function messageIn(line: string): readonly string[] {
  try {
    const { msg } = JSON.parse(line) as { readonly msg?: unknown };
    return typeof msg === "string" ? [msg] : [];
  } catch {
    // What else a container may print.
    return [];
  }
}

const LONGEST = 600;
