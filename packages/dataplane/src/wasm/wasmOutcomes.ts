import { keptText } from "@isthmus/core";
import type { WasmOutcome } from "./wasmServer.ts";

/** The largest list of outcomes that one replica of an agent gives another, as JSON in bytes: of about ten thousand proxies. */
export const MAX_OUTCOMES_BYTES = 2 * 1024 * 1024;

/** What became of filters at the proxies of one replica, as JSON. What is beyond the bound is left out: the others stand for it. */
export function wasmOutcomesText(outcomes: readonly WasmOutcome[]): Uint8Array {
  const parts: string[] = [];
  let bytes = 2;
  for (const { pod, filter, outcome } of outcomes) {
    const { namespace, name, workloadName } = pod;
    const said = outcome.state === "REFUSED" ? { ...outcome, error: keptText(outcome.error, MOST_ERROR) } : outcome;
    const part = JSON.stringify({ pod: { namespace, name, workloadName }, filter, outcome: said });
    bytes += Buffer.byteLength(part) + 1;
    if (bytes > MAX_OUTCOMES_BYTES) break;
    parts.push(part);
  }
  return new TextEncoder().encode(`[${parts.join(",")}]`);
}

/** What another replica gave. Throws TypeError for anything else. */
export function parseWasmOutcomes(body: Uint8Array): readonly WasmOutcome[] {
  if (body.length > MAX_OUTCOMES_BYTES) throw new TypeError(`more than ${MAX_OUTCOMES_BYTES} bytes`);
  const given: unknown = JSON.parse(new TextDecoder().decode(body));
  if (!Array.isArray(given)) throw unreadable();
  return given.map((one: unknown) => {
    const { pod, filter, outcome } = membersOf(one);
    const { namespace, name, workloadName } = membersOf(pod);
    return {
      pod: { namespace: textIn(namespace), name: textIn(name), workloadName: textIn(workloadName) },
      filter: textIn(filter),
      outcome: outcomeIn(outcome),
    };
  });
}

function outcomeIn(value: unknown): WasmOutcome["outcome"] {
  const { state, version, error } = membersOf(value);
  if (state === "PENDING") return { state };
  if (state === "ACCEPTED") return { state, version: textIn(version) };
  if (state === "REFUSED") return { state, version: textIn(version), error: textIn(error) };
  throw unreadable();
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw unreadable();
  return value as Readonly<Record<string, unknown>>;
}

function textIn(value: unknown): string {
  if (typeof value !== "string" || value.length > MOST_TEXT) throw unreadable();
  return value;
}

function unreadable(): TypeError {
  return new TypeError("no list of what became of Wasm filters: are all replicas of one version?");
}

const MOST_ERROR = 512;
const MOST_TEXT = 1_024;
