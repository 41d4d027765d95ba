import { agentKinds, contributedKinds, onDemandKinds, summaryKinds } from "@isthmus/api";
import { type Kind, kindKeyOf } from "@isthmus/core";
import type { Random } from "../../faults/random.ts";
import { EVIL, evilObjectText, forgedObjectText, managementObjectText, objectTextOf } from "./fleetObjects.ts";
import { hostileText, longText } from "./hostile.ts";
import { mutatedBytes } from "./mutated.ts";
import { bytes, deflated, number, spoiltMessage } from "./protobuf.ts";

const KINDS = [...agentKinds(), ...onDemandKinds(), ...summaryKinds(), ...contributedKinds()];
const KIND_KEYS: readonly string[] = KINDS.map(kindKeyOf);
const NUMBERS = [0, 1, 2, 3, 2 ** 31, 2 ** 32 - 1, 2n ** 64n - 1n];

/** A text, mostly an innocent one, without the quotes of JSON. */
function word(random: Random, usual: string): string {
  return random.int(12) > 0 ? usual : (JSON.parse(random.int(20) === 0 ? longText(random) : hostileText(random)) as string);
}

function anyNumber(random: Random, usual: number): number | bigint {
  return random.int(12) === 0 ? random.pick(NUMBERS) : usual;
}

/** ResourceRef, as `text` says of itself. */
function refOf(text: string, random: Random): Buffer {
  let said: { apiVersion?: unknown; kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } } = {};
  try {
    said = (JSON.parse(text) ?? {}) as typeof said;
  } catch {
    said = {};
  }
  const part = (value: unknown, usual: string) => word(random, typeof value === "string" ? value : usual);
  return Buffer.concat([
    bytes(1, part(said.apiVersion, "v1")),
    bytes(2, part(said.kind, "Service")),
    bytes(3, part(said.metadata?.name, "a")),
    bytes(4, part(said.metadata?.namespace, "")),
    bytes(5, random.int(20) === 0 ? word(random, "good-1") : EVIL),
  ]);
}

/** ResourceBody of an object. */
function bodyOf(text: string, random: Random): Buffer {
  const json = random.int(12) === 0 ? mutatedBytes(Buffer.from(text), random) : Buffer.from(text);
  return Buffer.concat([bytes(1, refOf(text, random)), bytes(2, json)]);
}

function digest(random: Random, kind: string): Buffer {
  return Buffer.concat([bytes(1, kind), number(2, random.int(3)), bytes(3, random.int(4) === 0 ? word(random, "x") : "0000000000000000")]);
}

/** ConnectRequest: whatever an agent may say after its hello. */
export function agentMessage(random: Random, { epoch, seq }: { readonly epoch: bigint; readonly seq: number }): Buffer {
  const head = number(1, random.int(40) === 0 ? random.pick(NUMBERS) : epoch);
  const message = Buffer.concat([head, agentBody(random, seq)]);
  return random.int(8) === 0 ? Buffer.concat([head, deflated(9, message, random)]) : spoiltMessage(message, random);
}

function agentBody(random: Random, seq: number): Buffer {
  switch (random.int(14)) {
    case 0:
      return bytes(4, ...KIND_KEYS.slice(random.int(4)).map((kind) => bytes(1, digest(random, kind))), bytes(2, word(random, "x/Y")));
    case 1:
      return bytes(5, number(1, anyNumber(random, 1)), number(2, anyNumber(random, 1)), number(3, 1), bytes(4, rejection(random)));
    case 2:
      return bytes(6, number(1, anyNumber(random, 1)), number(2, anyNumber(random, 0)), bytes(3, digest(random, random.pick(KIND_KEYS))));
    case 3:
      return bytes(7, bytes(1, word(random, random.pick(KIND_KEYS))));
    case 4:
      return bytes(
        8,
        number(1, anyNumber(random, 1)),
        number(2, 1),
        number(3, 1),
        bytes(4, word(random, "{}")),
        bytes(5, word(random, "")),
      );
    default:
      return bytes(3, number(1, anyNumber(random, seq)), up(random));
  }
}

/** ConnectRequest with the objects that a message has of `up`, said as the next one of its stream. */
export function upMessage(objects: Buffer, { epoch, seq }: { readonly epoch: bigint; readonly seq: number }): Buffer {
  // Of a number that is said twice the last counts.
  return Buffer.concat([number(1, epoch), bytes(3, objects, number(1, seq))]);
}

/** Objects of one kind, with a wrong one among them now and then. */
export function up(random: Random): Buffer {
  const kind = random.pick(KINDS);
  const parts: Buffer[] = [bytes(2, word(random, kindKeyOf(kind))), number(3, random.int(8) === 0 ? 1 : 0)];
  for (let left = 1 + random.int(4); left > 0; left--) {
    const text =
      random.int(8) === 0
        ? random.pick([evilObjectText, forgedObjectText, managementObjectText])(random)
        : objectTextOf(kind, random, EVIL);
    parts.push(bytes(4, bodyOf(text, random)));
    if (random.int(8) === 0) parts.push(bytes(5, refOf(text, random)));
    if (random.int(16) === 0)
      parts.push(bytes(6, bytes(1, refOf(text, random)), bytes(2, word(random, "TooLarge")), bytes(3, word(random, "m"))));
  }
  if (random.int(8) === 0) parts.push(bytes(7, word(random, "0123456789abcdef".repeat(2))));
  return Buffer.concat(parts);
}

/** Up of one object, but for its number. */
export function upOf(kind: Kind, text: string, random: Random): Buffer {
  return Buffer.concat([bytes(2, kindKeyOf(kind)), bytes(4, bodyOf(text, random))]);
}

function rejection(random: Random): Buffer {
  return Buffer.concat([bytes(1, refOf("{}", random)), bytes(2, word(random, "Failed")), bytes(3, word(random, "message"))]);
}

/** ConnectRequest that says truly that a cluster is empty: what comes then is news of a cluster that is known. */
export function emptyMessage(epoch: bigint): Buffer {
  const kinds = KIND_KEYS.map((kind) => bytes(1, bytes(1, kind), number(2, 0), bytes(3, "0000000000000000")));
  return Buffer.concat([number(1, epoch), bytes(4, ...kinds)]);
}

/** ConnectRequest with a hello. */
export function helloMessage(random: Random, epoch: bigint): Buffer {
  const features = ["ask", "resume", "wait", "traces", "notices", "user-resources", "deflate"].filter(() => random.int(8) > 0);
  const hello = bytes(
    2,
    number(1, anyNumber(random, 1)),
    bytes(2, word(random, "evil-instance")),
    ...features.map((feature) => bytes(3, feature)),
    bytes(4, word(random, "1.0.0")),
    bytes(5, word(random, "gloo-mesh")),
    bytes(6, word(random, "uid-of-evil")),
    ...(random.int(4) === 0 ? KIND_KEYS.map((kind) => bytes(7, digest(random, kind))) : []),
  );
  return Buffer.concat([number(1, epoch), hello]);
}

/** ConnectResponse: whatever a server may say. */
export function serverMessage(random: Random, epoch: bigint, revision: number): Buffer {
  const head = number(1, random.int(40) === 0 ? random.pick(NUMBERS) : epoch);
  const message = Buffer.concat([head, serverBody(random, revision)]);
  return random.int(8) === 0 ? Buffer.concat([head, deflated(10, message, random)]) : spoiltMessage(message, random);
}

function serverBody(random: Random, revision: number): Buffer {
  const object = () => bodyOf(random.int(2) === 0 ? evilObjectText(random) : objectTextOf(random.pick(KINDS), random, EVIL), random);
  switch (random.int(10)) {
    case 0:
      return welcome(random);
    case 1:
      return bytes(3, number(1, anyNumber(random, 1)), bytes(2, rejection(random)));
    case 2:
      return bytes(5, number(1, 1), number(2, anyNumber(random, revision)), bytes(3, digest(random, random.pick(["*", "notice", "x"]))));
    case 3:
      return bytes(6, bytes(1, word(random, random.pick(KIND_KEYS))));
    case 4:
      return bytes(7, number(1, anyNumber(random, 1)), bytes(2, word(random, "snapshot")), bytes(3, word(random, "{}")));
    case 5:
      return random.int(10) === 0 ? bytes(8, number(1, 1)) : bytes(9, number(1, 1), number(2, 1), bytes(3, object()));
    case 6:
      return bytes(9, number(1, random.int(2)), number(2, random.int(2)), bytes(3, object()), bytes(4, refOf("{}", random)));
    default:
      return bytes(
        4,
        number(1, anyNumber(random, revision)),
        number(2, anyNumber(random, 1)),
        number(3, random.int(8) === 0 ? 0 : 1),
        number(4, random.int(2)),
        ...Array.from({ length: random.int(3) }, () => bytes(5, object())),
        ...(random.int(3) === 0 ? [bytes(6, bytes(1, refOf(evilObjectText(random), random)), bytes(2, evidence(random)))] : []),
        ...(random.int(8) === 0 ? [bytes(7, refOf("{}", random))] : []),
      );
  }
}

export function welcome(random: Random): Buffer {
  return bytes(
    2,
    number(1, anyNumber(random, 1)),
    bytes(2, word(random, "server")),
    number(3, anyNumber(random, 10_000)),
    bytes(4, number(1, anyNumber(random, 1_048_576)), number(2, anyNumber(random, 32))),
    ...["deflate", "notices", "user-resources", "traces"].map((feature) => bytes(5, feature)),
    number(7, random.int(8) === 0 ? 1 : 0),
  );
}

function evidence(random: Random): Buffer {
  return Buffer.concat([bytes(1, word(random, "InputRemoved")), bytes(2, refOf("{}", random)), number(3, 1)]);
}
