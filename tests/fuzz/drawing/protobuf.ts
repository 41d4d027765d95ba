import { deflateRawSync } from "node:zlib";
import type { Random } from "../../faults/random.ts";
import { mutatedBytes } from "./mutated.ts";

// A writer that can write what is wrong, too. Source: Protocol Buffers, Encoding. Field numbers: proto/relay/v1.

function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

/** A field that is a number. */
export function number(field: number, value: number | bigint): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

/** A field that is a text, bytes or a message. */
export function bytes(field: number, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  return Buffer.concat([varint(field * 8 + 2), varint(body.length), body]);
}

/** The fields of a message whose wire type says that a length follows, by number: enough to read what servers answer. */
export function textFields(message: Buffer): ReadonlyMap<number, string> {
  const fields = new Map<number, string>();
  let at = 0;
  const next = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = next();
    if ((tag & 7) !== 2) next();
    else {
      const length = next();
      fields.set(tag >> 3, message.subarray(at, at + length).toString("utf8"));
      at += length;
    }
  }
  return fields;
}

/** The same messages, spoilt: bytes of them, unknown fields before them, deflated, nested in themselves. */
export function spoiltMessage(message: Buffer, random: Random): Buffer {
  switch (random.int(10)) {
    case 0:
      return mutatedBytes(message, random, 3);
    case 1:
      return Buffer.concat([bytes(random.int(2_000) + 1, "x".repeat(random.int(100))), message]);
    case 2:
      return Buffer.concat([message, message]);
    case 3:
      return Buffer.concat(new Array<Buffer>(random.pick([2, 20])).fill(message));
    case 4:
      // Groups, which nobody uses any more, begin and do not end.
      return Buffer.concat([Buffer.alloc(random.pick([1, 100, 10_000]), (15 << 3) | 3), message]);
    default:
      return message;
  }
}

/** A message in the field for deflated ones: as it is to be, or a bomb. */
export function deflated(field: number, message: Buffer, random: Random): Buffer {
  if (random.int(20) === 0) return bytes(field, deflateRawSync(Buffer.alloc(random.pick([1_000_000, 8_000_000]), random.int(3))));
  return bytes(field, random.int(4) === 0 ? mutatedBytes(deflateRawSync(message), random, 2) : deflateRawSync(message));
}
