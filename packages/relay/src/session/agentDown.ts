import { create } from "@bufbuild/protobuf";
import { formatRef, kindKeyOf, type Resource, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import { type Ack, AckSchema, type Down, type KindDigest } from "../gen/relay/v1/relay_pb.ts";
import { type Chain, piecesOf } from "./chain.ts";
import { costOfDown, MAX_DESIRED_BYTES } from "./intake.ts";
import { digestOfAll, emptyInventory, type Inventory, type InventoryChange, withChanges, withObject } from "./inventory.ts";
import type { Acknowledgement, DeleteRequest, DesiredUpdate, Rejection } from "./link.ts";
import { tracesField, tracesFrom } from "./traces.ts";
import {
  BATCH_BYTES,
  evidenceFrom,
  MAX_EVIDENCE_INPUTS,
  refBytes,
  refFrom,
  rejectionMessage,
  resourceFrom,
  sizeText,
  textBytes,
} from "./wire.ts";

/** The agent's receiving: what the server wants in this epoch, put together from its parts. */
export interface AgentDown {
  /** The last revision of which all parts came. */
  readonly revision: number;
  /** The last acknowledged revision. Never falls. */
  readonly applied: number;
  /** What the server wants at `revision`. */
  readonly held: Inventory;
  readonly arriving?: Arriving;
  /** Set while a complete set was asked for and has not come: heartbeats heard since. */
  readonly asking?: number;
  /** Objects that were not handed on, by `resourceKeyOf`. */
  readonly refused: ReadonlyMap<string, Rejection>;
  /** Acknowledgement parts to send, the newest answer only. */
  readonly acks: readonly Ack[];
  /** What all that came since the last complete set, and that set, count: at least what is held now. */
  readonly taken: number;
  /** The most that a complete set may count, and that may come until it is asked for again. */
  readonly maxBytes: number;
}

interface Arriving {
  readonly revision: number;
  readonly parts: number;
  readonly complete: boolean;
  readonly holdsSurplus: boolean;
  readonly pieces: Chain<Piece> | undefined;
  readonly traces: readonly string[];
  readonly bytes: number;
}

/** What one part says. */
interface Piece {
  readonly put: readonly Resource[];
  readonly remove: readonly DeleteRequest[];
  readonly withheld: readonly ResourceRef[];
  readonly changes: readonly InventoryChange[];
  readonly refused: readonly Rejection[];
}

export interface DownStep {
  readonly down: AgentDown;
  /** With the epoch's own revision number. */
  readonly desired?: DesiredUpdate;
  /** Something is missing: the complete set must be asked for. */
  readonly ask?: string;
  /** More is desired than an agent takes: the stream must end. */
  readonly end?: string;
}

/** The state at the beginning of an epoch: nothing is received. `maxBytes` counts as `costOfDown` does; default: 1 GiB. */
export function startDown(maxBytes: number = MAX_DESIRED_BYTES): AgentDown {
  return { revision: 0, applied: 0, held: emptyInventory, refused: new Map(), acks: [], taken: 0, maxBytes };
}

/** Takes the next part. */
export function takePart(down: AgentDown, part: Down, clusterName: string): DownStep {
  if (part.revision <= down.revision) return { down };
  const before = part.part === 1 ? beginning(down, part) : down.arriving;
  if (before === undefined || before.revision !== part.revision || before.parts + 1 !== part.part) {
    return askAgain(down, `part ${part.part} of revision ${part.revision} arrived without the parts before it`);
  }
  const bytes = before.bytes + costOfDown(part);
  if (bytes > down.maxBytes) return { down, end: `the desired state from the server is larger than ${sizeText(down.maxBytes)}` };
  const arriving = { ...before, bytes, parts: part.part, pieces: { piece: pieceOf(part, clusterName), before: before.pieces } };
  if (!part.last) return { down: { ...down, arriving } };
  const pieces = piecesOf(arriving.pieces);
  const next = joined(down, arriving, pieces);
  const desired = desiredOf(arriving, pieces);
  if (next.taken <= next.maxBytes) return { down: next, desired };
  // What was replaced counts twice: the complete set says what there is.
  return { ...askAgain(next, `received more than ${sizeText(down.maxBytes)} of changes since the last complete desired state`), desired };
}

function beginning(down: AgentDown, { revision, complete, holdsSurplus, traces }: Down): Arriving | undefined {
  if (!complete && (down.asking !== undefined || revision !== down.revision + 1)) return undefined;
  return { revision, parts: 0, complete, holdsSurplus, pieces: undefined, traces: tracesFrom(traces), bytes: 0 };
}

function pieceOf(part: Down, clusterName: string): Piece {
  const put: Resource[] = [];
  const remove: DeleteRequest[] = [];
  const changes: InventoryChange[] = [];
  const refused: Rejection[] = [];
  const note = (ref: ResourceRef, body: Uint8Array | undefined) => changes.push(withObject(kindKeyOf(ref), ref, body));

  for (const body of part.upserts) {
    const ref = refFrom(body.ref);
    note(ref, body.json);
    const received = resourceFrom(body);
    if (ref.clusterName !== clusterName) refused.push(foreign(ref, clusterName));
    else if ("problem" in received) refused.push({ ref, code: "Invalid", message: `${formatRef(ref)}: ${received.problem}` });
    else put.push(received.resource);
  }
  for (const removal of part.deletes) {
    const ref = refFrom(removal.ref);
    note(ref, undefined);
    const evidence = evidenceFrom(removal);
    if (ref.clusterName !== clusterName) refused.push(foreign(ref, clusterName));
    else if (evidence === undefined)
      refused.push({ ref, code: "Refused", message: `${formatRef(ref)}: a delete without a cause is refused` });
    else remove.push({ ref, evidence: { ...evidence, inputs: evidence.inputs.slice(0, MAX_EVIDENCE_INPUTS) } });
  }
  const withheld = part.withheld.map(refFrom);
  for (const ref of withheld) note(ref, new Uint8Array());
  return { put, remove, withheld, changes, refused };
}

function foreign(ref: ResourceRef, clusterName: string): Rejection {
  return { ref, code: "Refused", message: `${formatRef(ref)}: this agent writes to ${clusterName} only` };
}

function joined(down: AgentDown, { revision, complete, bytes }: Arriving, pieces: readonly Piece[]): AgentDown {
  const { arriving: _, asking, ...rest } = down;
  const refused = new Map(complete ? [] : down.refused);
  for (const piece of pieces) {
    // What was refused before is of no account once something else is said of the object.
    for (const { kind, key } of piece.changes) refused.delete(`${kind}|${key}`);
    for (const rejection of piece.refused) refused.set(resourceKeyOf(rejection.ref), rejection);
  }
  const changes = pieces.flatMap((piece) => piece.changes);
  const held = withChanges(complete ? emptyInventory : down.held, changes);
  const stillAsking = complete || asking === undefined ? {} : { asking };
  return { ...rest, ...stillAsking, revision, held, refused, taken: complete ? bytes : down.taken + bytes };
}

function desiredOf({ revision, complete, holdsSurplus, traces }: Arriving, pieces: readonly Piece[]): DesiredUpdate {
  const put = pieces.flatMap((piece) => piece.put);
  const remove = pieces.flatMap((piece) => piece.remove);
  const withheld = pieces.flatMap((piece) => piece.withheld);
  const kept = withheld.length > 0 ? { withheld } : {};
  return { revision, complete, put, remove, ...kept, ...(holdsSurplus ? { holdsSurplus } : {}), ...tracesField(traces) };
}

/** Compares with what the server says to have sent. */
export function checkDesired(down: AgentDown, revision: number, digests: readonly KindDigest[]): DownStep {
  const claimed = digests.find(({ kind }) => kind === "*");
  if (claimed === undefined) return { down };
  if (down.asking !== undefined) return down.arriving !== undefined ? { down } : waitOn(down, down.asking);
  if (revision !== down.revision) return askAgain(down, `revision ${revision} was sent, ${down.revision} is the last one here`);
  const own = digestOfAll(down.held);
  if (own.count === claimed.count && own.digest === claimed.digest) return { down };
  return askAgain(down, `the desired state of revision ${revision} differs from what was sent`);
}

function askAgain(down: AgentDown, why: string): DownStep {
  const { arriving: _, ...rest } = down;
  return down.asking !== undefined ? { down: rest } : { down: { ...rest, asking: 0 }, ask: why };
}

/** What was asked for is not on its way: some heartbeats later it is asked for again. */
function waitOn(down: AgentDown, heartbeats: number): DownStep {
  if (heartbeats < 2) return { down: { ...down, asking: heartbeats + 1 } };
  return { down: { ...down, asking: 0 }, ask: "the requested complete desired state has not arrived" };
}

/** Takes the loops' answer. One for an older revision than was answered before is void. */
export function acknowledge(down: AgentDown, { revision, rejected, mode = "" }: Acknowledgement): AgentDown {
  if (revision < down.applied || revision > down.revision) return down;
  const known = new Set(rejected.map(({ ref }) => resourceKeyOf(ref)));
  const all = [...rejected, ...[...down.refused].filter(([key]) => !known.has(key)).map(([, rejection]) => rejection)];
  return { ...down, applied: revision, acks: ackParts(revision, all, mode) };
}

function ackParts(revision: number, rejected: readonly Rejection[], mode: string): Ack[] {
  const parts: Rejection[][] = [[]];
  let bytes = 0;
  for (const rejection of rejected) {
    const size = refBytes(rejection.ref) + textBytes(rejection.message);
    if (bytes + size > BATCH_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(rejection);
    bytes += size;
  }
  return parts.map((part, i) =>
    create(AckSchema, { revision, part: i + 1, last: i + 1 === parts.length, rejected: part.map(rejectionMessage), mode }),
  );
}
