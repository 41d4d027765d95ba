import { isMembers, type Members } from "../../apply/json.ts";
import { type GoField, type GoStruct, type GoType, goName, structNamed } from "./goTypes.ts";
import { canonicalQuantity, nanosOf } from "./quantity.ts";

/** What Go makes of a JSON document: the value in its own form, the first value of a wrong type, and fields that it does not know. */
export interface Decoded {
  readonly value: Members;
  readonly error?: string;
  /** The error as Go words it where it converts maps, as for strategic merge patches. */
  readonly conversion?: string;
  readonly unknown: readonly string[];
}

interface Decoding {
  /** The first error alone counts, as in Go. */
  error: string | undefined;
  conversion: string | undefined;
  readonly unknown: string[];
}

interface Place {
  /** Names of fields without positions in lists, as Go's errors have them. */
  readonly fields: readonly string[];
  /** The struct that the field is declared in. */
  readonly struct: string;
  /** With positions, as strict decoding names fields. */
  readonly path: string;
}

/**
 * Reads and writes a document as Go's encoder does: fields in the order of the struct, empty ones left out where their tags say so, structs that are
 * no pointers always there. Fields that the struct lacks are dropped, and named.
 */
export function decodeAs(struct: GoStruct, input: Members): Decoded {
  const decoding: Decoding = { error: undefined, conversion: undefined, unknown: [] };
  const value = structValue(struct, input, { fields: [], struct: "", path: "" }, decoding);
  return {
    value,
    unknown: decoding.unknown,
    ...(decoding.error === undefined ? {} : { error: decoding.error, conversion: decoding.conversion ?? decoding.error }),
  };
}

function structValue(struct: GoStruct, input: Members, place: Place, decoding: Decoding): Members {
  const short = struct.name.slice(struct.name.lastIndexOf(".") + 1);
  for (const name in input) {
    if (!struct.fields.has(name)) decoding.unknown.push(place.path === "" ? name : `${place.path}.${name}`);
  }
  const result: Record<string, unknown> = {};
  for (const [json, field] of struct.fields) {
    const given = Object.hasOwn(input, json) ? input[json] : undefined;
    const value = fieldValue(
      field,
      given,
      () => ({
        fields: [...place.fields, json],
        struct: short,
        path: place.path === "" ? json : `${place.path}.${json}`,
      }),
      decoding,
    );
    if (value !== undefined) result[json] = value;
  }
  return result;
}

function fieldValue(field: GoField, given: unknown, place: () => Place, decoding: Decoding): unknown {
  const { type, omitsEmpty, omitsZero } = field;
  if (given === undefined || given === null) {
    if (type.form === "struct") return structValue(structNamed(type.name), {}, place(), decoding);
    return omitsEmpty ? undefined : zeroOf(type, omitsZero);
  }
  const value = valueAs(type, given, place(), decoding);
  if (!omitsEmpty || type.form === "pointer" || type.form === "struct") return value;
  if (type.form === "special") return omitsZero && value === null ? undefined : value;
  return isZero(value) ? undefined : value;
}

function zeroOf(type: GoType, omitsZero: boolean): unknown {
  if (type.form === "scalar") return type.kind === "string" ? "" : type.kind === "bool" ? false : 0;
  if (type.form === "special" && type.name === "IntOrString") return 0;
  if (type.form === "special" && type.name === "Quantity") return "0";
  return omitsZero ? undefined : null;
}

function isZero(value: unknown): boolean {
  if (value === "" || value === 0 || value === false || value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMembers(value) && Object.keys(value).length === 0;
}

function valueAs(type: GoType, given: unknown, place: Place, decoding: Decoding): unknown {
  switch (type.form) {
    case "pointer":
      return valueAs(type.to, given, place, decoding);
    case "list":
      if (!Array.isArray(given)) return wrong(type, given, place, decoding);
      return given.map((element: unknown, i) =>
        element === null ? emptyOf(type.of) : valueAs(type.of, element, { ...place, path: `${place.path}[${i}]` }, decoding),
      );
    case "map": {
      if (!isMembers(given)) return wrong(type, given, place, decoding);
      const result: Record<string, unknown> = {};
      for (const key of Object.keys(given).sort()) {
        const value =
          given[key] === null ? emptyOf(type.of) : valueAs(type.of, given[key], { ...place, path: `${place.path}.${key}` }, decoding);
        Object.defineProperty(result, key, { value, enumerable: true, writable: true, configurable: true });
      }
      return result;
    }
    case "struct":
      return isMembers(given) ? structValue(structNamed(type.name), given, place, decoding) : wrong(type, given, place, decoding);
    case "scalar":
      return scalarValue(type, given, place, decoding);
    default:
      return specialValue(type, given, place, decoding);
  }
}

function emptyOf(type: GoType): unknown {
  return type.form === "struct" ? decodeAs(structNamed(type.name), {}).value : zeroOf(type, false);
}

function scalarValue(type: Extract<GoType, { form: "scalar" }>, given: unknown, place: Place, decoding: Decoding): unknown {
  const isRight =
    type.kind === "string"
      ? typeof given === "string"
      : type.kind === "bool"
        ? typeof given === "boolean"
        : typeof given === "number" && (type.kind === "float64" || (Number.isInteger(given) && fits(given, type.kind)));
  return isRight ? given : wrong(type, given, place, decoding);
}

function fits(value: number, kind: string): boolean {
  return kind !== "int32" || Math.abs(value) <= 2 ** 31 - 1 || value === -(2 ** 31);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function specialValue(type: Extract<GoType, { form: "special" }>, given: unknown, place: Place, decoding: Decoding): unknown {
  switch (type.name) {
    case "IntOrString":
      return typeof given === "string" || (typeof given === "number" && Number.isInteger(given))
        ? given
        : wrong(type, given, place, decoding);
    case "Quantity": {
      const text = typeof given === "number" ? String(given) : given;
      if (typeof text === "string" && nanosOf(text) !== undefined) return canonicalQuantity(text);
      decoding.error ??= "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
      return "0";
    }
    case "Time":
    case "MicroTime": {
      if (typeof given !== "string") return wrong(type, given, place, decoding);
      if (TIME.test(given) && !Number.isNaN(Date.parse(given))) return timeText(given, type.name);
      const form = type.name === "Time" ? "2006-01-02T15:04:05Z07:00" : "2006-01-02T15:04:05.000000Z07:00";
      decoding.error ??= `parsing time ${JSON.stringify(given)} as "${form}": cannot parse ${JSON.stringify(given)} as "2006"`;
      return null;
    }
    case "bytes":
      if (typeof given !== "string") return wrong(type, given, place, decoding);
      if (isBase64(given)) return given.replace(/[\r\n]/g, "");
      decoding.conversion ??= `error decoding from json: illegal base64 data at input byte ${firstIllegal(given)}`;
      decoding.error ??= `illegal base64 data at input byte ${firstIllegal(given)}`;
      return "";
    default:
      return given;
  }
}

/** Times have whole seconds; those of Leases and events six digits more. */
function timeText(given: string, type: string): string {
  const at = new Date(given).toISOString();
  if (type === "Time") return `${at.slice(0, 19)}Z`;
  const micros = /\.(\d+)/.exec(given)?.[1] ?? "";
  return `${at.slice(0, 19)}.${micros.padEnd(6, "0").slice(0, 6)}Z`;
}

const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}$/;

function isBase64(text: string): boolean {
  return BASE64.test(text) && text.replace(/[\r\n]/g, "").length % 4 === 0;
}

function firstIllegal(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/\r\n]/);
  return at >= 0 ? at : 4 * Math.floor(text.length / 4);
}

function wrong(type: GoType, given: unknown, { fields, struct }: Place, decoding: Decoding): unknown {
  if (decoding.error === undefined) decoding.conversion = conversionError(type, given);
  if (type.form === "special" && !["bytes", "IntOrString"].includes(type.name)) {
    decoding.error ??= `json: cannot unmarshal ${jsonType(given, type)} into Go struct field ${struct}.${fields.join(".")} of type ${goName(type)}`;
  } else if (type.form === "special" && type.name === "IntOrString") {
    decoding.error ??= `json: cannot unmarshal ${jsonType(given, type)} into Go value of type int32`;
  }
  decoding.error ??= `json: cannot unmarshal ${jsonType(given, type)} into Go struct field ${struct}.${fields.join(".")} of type ${goName(type)}`;
  return emptyOf(type.form === "pointer" ? type.to : type);
}

function jsonType(value: unknown, type: GoType): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value !== "number") return "object";
  const wantsInteger = type.form === "scalar" && type.kind.startsWith("int");
  return wantsInteger || (type.form === "special" && type.name === "IntOrString") ? `number ${value}` : "number";
}

/** Source: apimachinery, pkg/runtime/converter.go. */
function conversionError(type: GoType, given: unknown): string {
  const target: GoType = type.form === "pointer" ? type.to : type;
  const source = Array.isArray(given)
    ? "slice"
    : typeof given === "boolean"
      ? "bool"
      : typeof given === "number"
        ? Number.isInteger(given)
          ? "int64"
          : "float64"
        : typeof given === "string"
          ? "string"
          : "map";
  if (target.form === "struct") return `cannot restore struct from: ${source}`;
  if (target.form === "map" || target.form === "list") return `cannot restore ${target.form === "map" ? "map" : "slice"} from ${source}`;
  const kind = target.form === "scalar" ? target.kind : goName(target);
  return kind === "string" && (source === "int64" || source === "float64")
    ? `cannot convert ${source} to string`
    : `unrecognized type: ${kind}`;
}
