import { create } from "@bufbuild/protobuf";
import { formatRef, kindKeyOf, type Resource, type ResourceRef } from "@isthmus/core";
import { type SyncComplete, type Up, type UpAck, UpAckSchema, type Withheld as WithheldMessage } from "../gen/relay/v1/relay_pb.ts";
import { emptyInventory, type Inventory, type InventoryChange, keysOfKind, noted, withChanges, withoutKind } from "./inventory.ts";
import type { Observation, Rejection, Withheld } from "./link.ts";
import { asking, differingKinds, type Resyncs, settled } from "./resync.ts";
import { tracesField, tracesFrom } from "./traces.ts";
import { refFrom, rejectionMessage, resourceFrom } from "./wire.ts";

/** The server's hearing: what one agent has reported in this epoch. */
export interface ServerUp {
  /** What the agent says that there is. */
  readonly held: Inventory;
  readonly seq: number;
  /** Kinds that the agent was asked to send again. */
  readonly resyncs: Resyncs;
  /** Whether every kind has been complete once. */
  readonly isSynced: boolean;
  /** Kinds that are complete and wait for the others. */
  readonly complete: ReadonlySet<string>;
  readonly unserved: ReadonlySet<string>;
}

export interface UpStep {
  readonly up: ServerUp;
  readonly observation?: Observation;
  readonly ack?: UpAck;
  /** Objects of other clusters that the agent spoke of. */
  readonly foreign?: number;
  /** Kinds to be asked for again. */
  readonly resync?: readonly string[];
  readonly synced?: { readonly complete: ReadonlyMap<string, ReadonlySet<string>>; readonly unserved: ReadonlySet<string> };
  /** The stream must end. */
  readonly broken?: string;
}

/** `held` is what the server knows already. */
export function startHearing(held: Inventory = emptyInventory): ServerUp {
  return { held, seq: 0, resyncs: new Map(), isSynced: false, complete: new Set(), unserved: new Set() };
}

/** Takes one message of objects. What of it is wrong is refused, object by object; the rest counts. */
export function takeUp(up: ServerUp, message: Up, clusterName: string): UpStep {
  const { seq, kind } = message;
  if (seq <= up.seq) return { up };
  if (seq !== up.seq + 1) return { up, broken: `message ${seq} came after ${up.seq}` };
  const before = message.start ? withoutKind(up.held, kind) : up.held;
  const taken = sorted(message, clusterName);
  const held = withChanges(before, taken.changes);
  const ack = create(UpAckSchema, { seq, rejected: taken.rejected.map(rejectionMessage) });
  const { put, remove, withheld } = taken;
  const observation = { put, remove, ...(withheld.length > 0 ? { withheld } : {}), ...tracesField(tracesFrom(message.traces)) };
  const isNews = put.length + remove.length + withheld.length > 0;
  return { up: { ...up, seq, held }, ack, ...(isNews ? { observation } : {}), ...(taken.foreign > 0 ? { foreign: taken.foreign } : {}) };
}

interface Sorted {
  readonly put: Resource[];
  readonly remove: ResourceRef[];
  readonly withheld: Withheld[];
  readonly rejected: Rejection[];
  readonly changes: InventoryChange[];
  foreign: number;
}

function sorted({ kind, upserts, deletes, withheld }: Up, clusterName: string): Sorted {
  const result: Sorted = { put: [], remove: [], withheld: [], rejected: [], changes: [], foreign: 0 };

  function isOwn(ref: ResourceRef): boolean {
    if (ref.clusterName === clusterName && kindKeyOf(ref) === kind) return true;
    if (ref.clusterName !== clusterName) result.foreign++;
    const problem = ref.clusterName === clusterName ? `it is not a ${kind}` : `this is the stream of ${clusterName}`;
    result.rejected.push({ ref, code: "Refused", message: `${formatRef(ref)}: ${problem}` });
    return false;
  }
  // What is refused counts as held all the same: else the digests would differ for ever.
  function note(ref: ResourceRef, body: Uint8Array | undefined): void {
    if (kindKeyOf(ref) !== kind) return;
    result.changes.push(noted(kind, ref, body));
  }

  for (const body of upserts) {
    const ref = refFrom(body.ref);
    note(ref, body.json);
    if (!isOwn(ref)) continue;
    const resource = resourceFrom(body);
    if ("problem" in resource) result.rejected.push({ ref, code: "Invalid", message: `${formatRef(ref)}: ${resource.problem}` });
    else result.put.push(resource);
  }
  for (const deleted of deletes) {
    const ref = refFrom(deleted);
    note(ref, undefined);
    if (isOwn(ref)) result.remove.push(ref);
  }
  for (const entry of withheld) {
    const ref = refFrom(entry.ref);
    note(ref, new Uint8Array());
    if (isOwn(ref)) result.withheld.push({ ref, code: withheldCode(entry), message: entry.message });
  }
  return result;
}

function withheldCode({ code }: WithheldMessage): Withheld["code"] {
  return code === "TooLarge" ? "TooLarge" : "Malformed";
}

/** Takes the agent's word that kinds are complete, where its digest agrees with what has arrived. */
export function takeSyncComplete(up: ServerUp, { kinds, unserved }: SyncComplete): UpStep {
  const differing = differingKinds(up.held, kinds);
  const agreeing = kinds.map(({ kind }) => kind).filter((kind) => !differing.includes(kind));
  const next = {
    ...up,
    resyncs: settled(up.resyncs, agreeing),
    complete: new Set([...up.complete, ...agreeing]),
    unserved: new Set(unserved),
  };
  const step = askFor(next, differing);
  if (step.broken !== undefined) return step;
  // The first time all kinds are said together, so that none is taken for empty.
  if (!up.isSynced && step.up.resyncs.size > 0) return step;
  const isUnservedNew = next.unserved.size !== up.unserved.size || [...next.unserved].some((kind) => !up.unserved.has(kind));
  if (up.isSynced && step.up.complete.size === 0 && !isUnservedNew) return step;
  const complete = new Map([...step.up.complete].sort().map((kind) => [kind, keysOfKind(up.held, kind)] as const));
  return { ...step, up: { ...step.up, isSynced: true, complete: new Set() }, synced: { complete, unserved: next.unserved } };
}

/** Compares with what the agent says to have sent; kinds that were asked for again are on their way. */
export function checkReported(up: ServerUp, claimed: Parameters<typeof differingKinds>[1]): UpStep {
  const differing = differingKinds(up.held, claimed).filter((kind) => !up.resyncs.has(kind));
  return askFor(up, differing);
}

function askFor(up: ServerUp, kinds: readonly string[]): UpStep {
  if (kinds.length === 0) return { up };
  const resyncs = asking(up.resyncs, kinds);
  if (resyncs === undefined) return { up, broken: `${kinds.join(", ")} still differ after having been sent again` };
  return { up: { ...up, resyncs }, resync: kinds };
}
