import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { HTTPAccessLogEntrySchema } from "../gen/envoy/data/accesslog/v3/accesslog_pb.ts";
import {
  type StreamAccessLogsMessage_Identifier as Identifier,
  StreamAccessLogsMessage_IdentifierSchema as IdentifierSchema,
  StreamAccessLogsMessageSchema,
} from "../gen/envoy/service/accesslog/v3/als_pb.ts";

/** One message of StreamAccessLogs, its entries not decoded: most of them nobody ever asks for. */
export interface AccessLogFrame {
  readonly identifier: Identifier | undefined;
  readonly protocol: Protocol;
  /** Views of the message: copy what is kept. */
  readonly entries: readonly EntryView[];
  /** How many more entries it had, before those. */
  readonly skipped: number;
}

/** Entries of one message: Envoy sends a message per 16 KiB, which is some dozens. */
const MAX_ENTRIES = 10_000;

/** What an entry is about. */
export type Protocol = "http" | "tcp";

interface EntryView {
  readonly bytes: Uint8Array;
  /** Its response code; 0: none, as of a TCP connection. */
  readonly status: number;
}

/**
 * Splits a message into its last `most` entries. Throws for bytes that are no such message, and for an entry whose fields cannot be
 * distinguished, or for more than `MAX_ENTRIES`. Source: envoy/service/accesslog/v3/als.proto.
 */
export function accessLogFrame(bytes: Uint8Array, most: number): AccessLogFrame {
  let identifier: Identifier | undefined;
  let protocol: Protocol = "http";
  const found: Uint8Array[] = [];
  for (const [field, value] of delimitedFields(bytes)) {
    if (field === FRAME.identifier.number) identifier = identifierIn(value);
    if (field !== FRAME.httpLogs.number && field !== FRAME.tcpLogs.number) continue;
    protocol = field === FRAME.httpLogs.number ? "http" : "tcp";
    for (const [inner, entry] of delimitedFields(value)) {
      if (inner !== LOG_ENTRY) continue;
      if (found.length === MAX_ENTRIES) throw new RangeError(`a message has more than ${MAX_ENTRIES} entries`);
      found.push(entry);
    }
  }
  const kept = found.slice(-most);
  // Also of those that are not kept: who sends nonsense gets an error at once.
  for (const entry of found.slice(0, -most)) statusOf(entry, protocol);
  const entries = kept.map((entry) => ({ bytes: entry, status: statusOf(entry, protocol) }));
  return { identifier, protocol, entries, skipped: found.length - kept.length };
}

/** Envoy sends all of its node, with the names of its extensions: some 100 KiB. */
const LONGEST_IDENTIFIER = 256 * 1024;

function identifierIn(bytes: Uint8Array): Identifier {
  if (bytes.length > LONGEST_IDENTIFIER) throw new RangeError(`an identifier has more than ${LONGEST_IDENTIFIER} bytes`);
  return fromBinary(IdentifierSchema, bytes);
}

/** Walks an entry without decoding it. */
function statusOf(entry: Uint8Array, protocol: Protocol): number {
  let status = 0;
  for (const [field, response] of delimitedFields(entry)) {
    if (protocol !== "http" || field !== RESPONSE) continue;
    for (const [inner, code] of delimitedFields(response)) {
      if (inner !== RESPONSE_CODE) continue;
      const reader = new BinaryReader(code);
      // An UInt32Value: field 1, a varint.
      while (reader.pos < reader.len) {
        const [number, type] = reader.tag();
        if (number === 1 && type === WireType.Varint) status = reader.uint32();
        else reader.skip(type, number);
      }
    }
  }
  return status;
}

function* delimitedFields(bytes: Uint8Array): Generator<readonly [field: number, value: Uint8Array]> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.LengthDelimited) {
      const length = reader.uint32();
      const start = reader.pos;
      if (start + length > reader.len) throw new RangeError("a field is longer than its message");
      reader.pos = start + length;
      yield [field, bytes.subarray(start, start + length)];
    } else reader.skip(type, field);
  }
}

const FRAME = StreamAccessLogsMessageSchema.field;
// Of HTTPAccessLogEntries and TCPAccessLogEntries alike.
const LOG_ENTRY = 1;
const RESPONSE = HTTPAccessLogEntrySchema.field.response.number;
// HTTPResponseProperties.response_code.
const RESPONSE_CODE = 1;
