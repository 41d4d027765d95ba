import { inflateRawSync } from "node:zlib";

/**
 * What one end of an HTTP/2 connection has sent, with every gRPC message of it as it was before it was deflated: first the bytes
 * as they are, then the messages unpacked.
 */
export function unpackedWire(sent: Buffer): Buffer {
  const unpacked = [...dataByStream(sent).values()].flatMap((data) => [...messagesIn(data)].map(inflated));
  return Buffer.concat([sent, ...unpacked]);
}

/** The contents of DATA frames. Source: RFC 9113, 4.1. */
function dataByStream(sent: Buffer): ReadonlyMap<number, Buffer> {
  const parts = new Map<number, Buffer[]>();
  let at = sent.subarray(0, PREFACE.length).equals(PREFACE) ? PREFACE.length : 0;
  while (at + FRAME_HEADER <= sent.length) {
    const length = sent.readUIntBE(at, 3);
    const stream = sent.readUInt32BE(at + 5) & 0x7fff_ffff;
    const body = sent.subarray(at + FRAME_HEADER, at + FRAME_HEADER + length);
    if (sent[at + 3] === DATA) parts.set(stream, [...(parts.get(stream) ?? []), body]);
    at += FRAME_HEADER + length;
  }
  return new Map([...parts].map(([stream, bodies]) => [stream, Buffer.concat(bodies)]));
}

/** Source: gRPC over HTTP/2, Length-Prefixed-Message. */
function* messagesIn(data: Buffer): Iterable<Buffer> {
  let at = 0;
  while (at + MESSAGE_HEADER <= data.length) {
    const length = data.readUInt32BE(at + 1);
    yield data.subarray(at + MESSAGE_HEADER, at + MESSAGE_HEADER + length);
    at += MESSAGE_HEADER + length;
  }
}

/** A message that was sent deflated has one field, with all the rest in it; nothing for any other. */
function inflated(message: Buffer): Buffer {
  const tag = varint(message, 0);
  const length = varint(message, tag.end);
  const isAll = (tag.value & WIRE_TYPE) === LENGTH_DELIMITED && length.end + length.value === message.length;
  try {
    return isAll ? inflateRawSync(message.subarray(length.end)) : NOTHING;
  } catch {
    // Its one field is another, which is seen as it is.
    return NOTHING;
  }
}

/** Source: Protocol Buffers, Encoding. */
function varint(bytes: Buffer, from: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let at = from;
  for (let factor = 1; at < bytes.length; factor *= 128) {
    const byte = bytes.readUInt8(at++);
    value += (byte & 127) * factor;
    if (byte < 128) break;
  }
  return { value, end: at };
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FRAME_HEADER = 9;
const MESSAGE_HEADER = 5;
const DATA = 0;
const NOTHING = Buffer.alloc(0);
const WIRE_TYPE = 7;
const LENGTH_DELIMITED = 2;
