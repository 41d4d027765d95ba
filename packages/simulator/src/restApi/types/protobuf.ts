import { type GoField, type GoStruct, type GoType, inlinedName, structNamed, structOfKind } from "./goTypes.ts";

/** An object that came as protobuf, as JSON; undefined for bytes that are none. */
export interface ProtobufObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly value: Record<string, unknown>;
}

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const MOST_LEVELS = 64;

class Unreadable extends Error {}

/**
 * Reads Kubernetes' own form of protobuf: four bytes, then an envelope with the type and the object. Unknown fields are skipped. Throws nothing:
 * bytes that are no such object give undefined. Source: apimachinery, pkg/runtime/serializer/protobuf.
 */
export function objectFromProtobuf(bytes: Buffer): ProtobufObject | undefined {
  if (!bytes.subarray(0, 4).equals(MAGIC)) return undefined;
  try {
    let apiVersion = "";
    let kind = "";
    let raw: Buffer = Buffer.alloc(0);
    for (const { number, bytes: part } of fieldsOf(bytes.subarray(4))) {
      if (number === 2 && part !== undefined) raw = part;
      if (number !== 1 || part === undefined) continue;
      for (const inner of fieldsOf(part)) {
        if (inner.number === 1) apiVersion = inner.bytes?.toString("utf8") ?? "";
        if (inner.number === 2) kind = inner.bytes?.toString("utf8") ?? "";
      }
    }
    // Options of a delete come without a group.
    const struct = structOfKind(apiVersion, kind) ?? (kind === "DeleteOptions" ? structNamed("meta/v1.DeleteOptions") : undefined);
    if (struct === undefined) return undefined;
    return { apiVersion, kind, value: { apiVersion, kind, ...structFrom(struct, raw, 0) } };
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

interface WireField {
  readonly number: number;
  readonly bytes: Buffer | undefined;
  readonly varint: bigint;
}

function* fieldsOf(bytes: Buffer): Generator<WireField> {
  let at = 0;
  function varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Unreadable();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Unreadable();
  }
  while (at < bytes.length) {
    const key = Number(varint());
    const number = key >>> 3;
    switch (key & 7) {
      case 0:
        yield { number, bytes: undefined, varint: varint() };
        break;
      case 1:
        at += 8;
        yield { number, bytes: bytes.subarray(at - 8, at), varint: 0n };
        break;
      case 2: {
        const length = Number(varint());
        if (at + length > bytes.length) throw new Unreadable();
        yield { number, bytes: bytes.subarray(at, at + length), varint: 0n };
        at += length;
        break;
      }
      default:
        throw new Unreadable();
    }
  }
}

function structFrom(struct: GoStruct, bytes: Buffer, depth: number): Record<string, unknown> {
  if (depth > MOST_LEVELS) throw new Unreadable();
  const result: Record<string, unknown> = {};
  for (const wire of fieldsOf(bytes)) {
    const field = struct.declared.find(({ number }) => number === wire.number);
    if (field === undefined) continue;
    if (field.isInlined) Object.assign(result, structFrom(structNamed(inlinedName(field)), wire.bytes ?? Buffer.alloc(0), depth + 1));
    else addField(result, field, wire, depth);
  }
  return result;
}

function addField(result: Record<string, unknown>, { json, type }: GoField, wire: WireField, depth: number): void {
  const target = type.form === "pointer" ? type.to : type;
  if (target.form === "list") {
    const list = (result[json] ?? []) as unknown[];
    result[json] = list;
    list.push(valueFrom(target.of, wire, depth));
  } else if (target.form === "map") {
    const map = (result[json] ?? {}) as Record<string, unknown>;
    result[json] = map;
    let key = "";
    let value: unknown = target.of.form === "scalar" && target.of.kind === "string" ? "" : undefined;
    for (const entry of fieldsOf(wire.bytes ?? Buffer.alloc(0))) {
      if (entry.number === 1) key = entry.bytes?.toString("utf8") ?? "";
      else value = valueFrom(target.of, entry, depth);
    }
    Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    result[json] = valueFrom(target, wire, depth);
  }
}

function valueFrom(type: GoType, { bytes, varint }: WireField, depth: number): unknown {
  switch (type.form) {
    case "struct":
      return structFrom(structNamed(type.name), bytes ?? Buffer.alloc(0), depth + 1);
    case "scalar":
      if (type.kind === "string") return bytes?.toString("utf8") ?? "";
      if (type.kind === "bool") return varint !== 0n;
      if (type.kind === "float64") return bytes?.length === 8 ? bytes.readDoubleLE() : 0;
      return Number(BigInt.asIntN(64, varint));
    case "special":
      return specialFrom(type.name, bytes ?? Buffer.alloc(0));
    default:
      return listFrom(type, bytes ?? Buffer.alloc(0), depth);
  }
}

/** A list that stands in a map is a message of its own. */
function listFrom(type: GoType, bytes: Buffer, depth: number): unknown {
  return type.form === "list" ? [...fieldsOf(bytes)].map((wire) => valueFrom(type.of, wire, depth + 1)) : undefined;
}

function specialFrom(name: string, bytes: Buffer): unknown {
  if (name === "bytes") return bytes.toString("base64");
  const fields = new Map([...fieldsOf(bytes)].map((field) => [field.number, field]));
  const text = (number: number) => fields.get(number)?.bytes?.toString("utf8") ?? "";
  const integer = (number: number) => Number(BigInt.asIntN(64, fields.get(number)?.varint ?? 0n));
  switch (name) {
    case "Time":
    case "MicroTime": {
      if (fields.size === 0) return null;
      const at = new Date(integer(1) * 1000).toISOString().slice(0, 19);
      return name === "Time" ? `${at}Z` : `${at}.${String(Math.floor(integer(2) / 1000)).padStart(6, "0")}Z`;
    }
    case "Quantity":
      return text(1);
    case "IntOrString":
      return integer(1) === 0 ? integer(2) : text(3);
    default:
      // Raw JSON: RawExtension, FieldsV1.
      try {
        return JSON.parse(text(1)) as unknown;
      } catch {
        return undefined;
      }
  }
}
