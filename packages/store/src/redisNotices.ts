import { randomBytes } from "node:crypto";
import type { StoreDelta, StoreHead, StoreNotice, StorePartition, StoreSection, StoreWrite } from "@isthmus/ports";
import { versionFrom, versionText } from "./redisWire.ts";
import { type Seals, SIGNATURE } from "./seals.ts";

/**
 * A message of the channel: a signature, then texts, each as its length in bytes, a colon and its bytes. The first two are who sent it and its
 * number among the messages of that sender: so nobody can send it once more. Nothing of a message is read before its signature is verified.
 */
export interface SignedNotice {
  readonly signature: string;
  readonly texts: readonly string[];
}

/** Signs what one store sends. */
export function noticeSender(seals: Seals): (said: readonly string[]) => SignedNotice {
  const sender = randomBytes(9).toString("base64url");
  let count = 0;
  return (said) => {
    const texts = [sender, String(++count), ...said];
    return { signature: seals.signatureOf(Buffer.from(texts.map(netstring).join(""))), texts };
  };
}

function netstring(text: string): string {
  return `${Buffer.byteLength(text)}:${text}`;
}

/** A write as texts: those that are published, and those that Redis alone needs, as the partition is not complete or they do not fit. */
export function writtenTexts(
  { partition, base, delta, complete }: StoreWrite,
  head: string,
): readonly [readonly string[], readonly string[]] {
  const fixed = ["written", partition.section, partition.clusterName, versionText(base), head];
  const changes = [
    ...[delta.erase, delta.remove, delta.put].map(({ length }) => String(length)),
    ...delta.erase,
    ...delta.remove.flatMap(({ kindKey, key }) => [kindKey, key]),
    ...delta.put.flatMap(({ kindKey, key, text }) => [kindKey, key, text]),
  ];
  const size = delta.put.reduce((sum, { text }) => sum + text.length, 0);
  return complete && size <= MOST_TOLD ? [[...fixed, ...changes], []] : [fixed, changes];
}

/** Reads messages; undefined for what no server of this plane sent, or what was received before. */
export function noticeReader(seals: Seals): (message: Buffer) => StoreNotice | undefined {
  /** The number of the last message of each sender. */
  const last = new Map<string, number>();
  return (message) => {
    if (message.length < SIGNATURE || message.length > LONGEST_MESSAGE) return undefined;
    const bytes = message.subarray(SIGNATURE);
    if (!seals.isSigned(bytes, message.toString("latin1", 0, SIGNATURE))) return undefined;
    const [sender = "", number = "", ...said] = textsIn(bytes);
    if (Number(number) <= (last.get(sender) ?? 0)) return undefined;
    last.delete(sender);
    last.set(sender, Number(number));
    for (const oldest of last.keys()) {
      if (last.size <= MOST_SENDERS) break;
      last.delete(oldest);
    }
    return noticeFrom(said);
  };
}

function textsIn(bytes: Buffer): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const colon = bytes.indexOf(":", at);
    const end = colon + 1 + Number(bytes.toString("latin1", at, colon));
    texts.push(bytes.toString("utf8", colon + 1, end));
    at = end;
  }
  return texts;
}

/** What was signed is of this format, and heads and objects are as they are kept: each behind its signature. Gives undefined for a notice that a newer version may have sent. */
function noticeFrom([type = "", ...said]: readonly string[]): StoreNotice | undefined {
  const [first = "", second = "", third = "", fourth = ""] = said;
  const partition: StorePartition = { section: first as StoreSection, clusterName: second };
  switch (type) {
    case "written": {
      const notice = { type, partition, base: versionFrom(third), head: JSON.parse(fourth.slice(SIGNATURE)) as StoreHead } as const;
      return said.length > 4 ? { ...notice, delta: deltaFrom(said.slice(4)) } : notice;
    }
    case "cleared":
      return { type, partition, fence: { name: third, number: Number(fourth) } };
    case "raised":
      return { type, fence: { name: first, number: Number(second) }, by: third };
    case "recorded":
      return { type, group: first, name: second };
    case "distrusted": {
      const version = versionFrom(third);
      return version === undefined ? undefined : { type, partition, version };
    }
    default:
      return undefined;
  }
}

function deltaFrom(told: readonly string[]): StoreDelta {
  const [erased, removed, put] = told.slice(0, 3).map(Number) as [number, number, number];
  const at = (index: number) => told[index] ?? "";
  const fromRemove = 3 + erased;
  const fromPut = fromRemove + 2 * removed;
  return {
    erase: told.slice(3, fromRemove),
    remove: Array.from({ length: removed }, (_, i) => ({ kindKey: at(fromRemove + 2 * i), key: at(fromRemove + 2 * i + 1) })),
    put: Array.from({ length: put }, (_, i) => ({
      kindKey: at(fromPut + 3 * i),
      key: at(fromPut + 3 * i + 1),
      text: at(fromPut + 3 * i + 2).slice(SIGNATURE),
    })),
  };
}

// In characters, which are three bytes at most. Who does not receive the objects reads them.
const MOST_TOLD = 4 * 1_024 * 1_024;
const LONGEST_MESSAGE = 32 * 1_024 * 1_024;
// Servers that ran one after the other.
const MOST_SENDERS = 1_000;
