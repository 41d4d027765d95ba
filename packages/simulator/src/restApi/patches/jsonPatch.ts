import { equalJson } from "@isthmus/core";
import { isMembers, type Members } from "../../apply/json.ts";
import { ApiError, badRequest } from "../apiError.ts";

const MOST_OPERATIONS = 10_000;

/** An object after a JSON patch (RFC 6902). Throws ApiError: a patch that is none, or that does not fit the object. */
export function jsonPatched(object: Members, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    const word = isMembers(patch) ? "object" : typeof patch === "boolean" ? "bool" : typeof patch;
    throw badRequest(`error decoding patch: json: cannot unmarshal ${word} into Go value of type []handlers.jsonPatchOp`);
  }
  if (patch.length > MOST_OPERATIONS) {
    const problem = `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`;
    throw new ApiError(413, "RequestEntityTooLarge", `Request entity is too large: ${problem}`);
  }
  let document: unknown = structuredClone(object);
  const copies = { left: MOST_COPIED };
  for (const operation of patch) document = applied(document, isMembers(operation) ? operation : {}, copies);
  return document;
}

/** All that a patch may copy, in characters. */
const MOST_COPIED = 3 * 1024 * 1024;

function applied(document: unknown, operation: Members, copies: { left: number }): unknown {
  const { op, path, from, value } = operation;
  if (typeof path !== "string") throw unprocessable(`${String(op)} operation failed to decode path: missing operation path field`);
  const keys = pointer(path);
  switch (op) {
    case "add":
      return added(document, keys, { value: value ?? null, path });
    case "remove":
      return removed(document, keys, path, "remove");
    case "replace":
      if (found(document, keys) === undefined)
        throw unprocessable(`replace operation does not apply: doc is missing key: ${path}: missing value`);
      return keys.length === 0 ? value : replaced(document, keys, value ?? null);
    case "test":
      if (equalJson(found(document, keys) ?? null, value ?? null)) return document;
      throw unprocessable(`testing value ${path} failed: test failed`);
    case "move":
    case "copy": {
      const source = pointer(String(from));
      const moved = found(document, source);
      if (moved === undefined)
        throw unprocessable(`${op} operation does not apply: doc is missing from path: ${String(from)}: missing value`);
      copies.left -= JSON.stringify(moved).length;
      if (copies.left < 0) throw new ApiError(413, "RequestEntityTooLarge", "Request entity is too large: the patch copies too much");
      const rest = op === "move" ? removed(document, source, String(from), "move") : document;
      return added(rest, keys, { value: structuredClone(moved), path });
    }
    default:
      throw unprocessable(`Unexpected kind: ${String(op)}`);
  }
}

function pointer(path: string): readonly string[] {
  return path === ""
    ? []
    : path
        .slice(1)
        .split("/")
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function child(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return isMembers(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function found(document: unknown, keys: readonly string[]): unknown {
  let here = document;
  for (const key of keys) here = child(here, key);
  return here;
}

function parentOf(document: unknown, keys: readonly string[], path: string, op: string): unknown {
  const parent = found(document, keys.slice(0, -1));
  if (Array.isArray(parent) || isMembers(parent)) return parent;
  throw unprocessable(`${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`);
}

function added(document: unknown, keys: readonly string[], { value, path }: { readonly value: unknown; readonly path: string }): unknown {
  const last = keys.at(-1);
  if (last === undefined) return value;
  const parent = parentOf(document, keys, path, "add");
  if (Array.isArray(parent)) {
    const index = last === "-" ? parent.length : Number(last);
    if (!Number.isInteger(index) || index < 0 || index > parent.length) {
      throw unprocessable(
        `add operation does not apply: error in add for path: '${path}': Unable to access invalid index: ${last}: invalid index referenced`,
      );
    }
    parent.splice(index, 0, value);
  } else {
    set(parent as Record<string, unknown>, last, value);
  }
  return document;
}

function replaced(document: unknown, keys: readonly string[], value: unknown): unknown {
  const parent = found(document, keys.slice(0, -1));
  const last = keys.at(-1) ?? "";
  if (Array.isArray(parent)) parent[Number(last)] = value;
  else set(parent as Record<string, unknown>, last, value);
  return document;
}

function removed(document: unknown, keys: readonly string[], path: string, op: string): unknown {
  const last = keys.at(-1);
  if (last === undefined || found(document, keys) === undefined) {
    throw unprocessable(
      `${op} operation does not apply: doc is missing key: ${path}: missing value`.replace(
        "doc is missing key",
        keys.length > 0 && found(document, keys.slice(0, -1)) === undefined ? "doc is missing path" : "error in remove for path",
      ),
    );
  }
  const parent = found(document, keys.slice(0, -1));
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Record<string, unknown>)[last];
  return document;
}

function set(object: Record<string, unknown>, key: string, value: unknown): void {
  // A key such as __proto__ is a member like any other.
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** API servers do not say what of a patch did not fit. */
function unprocessable(_: string): ApiError {
  return new ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}
