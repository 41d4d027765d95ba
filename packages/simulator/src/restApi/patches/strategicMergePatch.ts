import { equalJson } from "@isthmus/core";
import { isMembers, type Members } from "../../apply/json.ts";
import { badRequest } from "../apiError.ts";
import { type GoField, type GoStruct, type GoType, structNamed } from "../types/goTypes.ts";

const DIRECTIVE = "$patch";
const RETAIN = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList/";
const ORDER = "$setElementOrder/";

/** An object after a strategic merge patch. Throws ApiError `BadRequest` for a directive that is none. Source: apimachinery, pkg/util/strategicpatch. */
export function strategicallyMerged(object: Members, patch: Members, struct: GoStruct): Members {
  return mergedMembers(object, patch, struct);
}

function mergedMembers(object: Members, patch: Members, struct: GoStruct | undefined): Members {
  const directive = patch[DIRECTIVE];
  if (directive === "replace") return without(patch, [DIRECTIVE]);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") throw badRequest(`Unknown patch type found: ${String(directive)}`);
  let result: Record<string, unknown> = { ...object };
  const retained = patch[RETAIN];
  if (Array.isArray(retained)) result = Object.fromEntries(Object.entries(result).filter(([name]) => retained.includes(name)));
  for (const [name, change] of Object.entries(patch)) {
    if (name === DIRECTIVE || name === RETAIN || name.startsWith(ORDER)) continue;
    if (name.startsWith(DELETE_FROM)) {
      const field = name.slice(DELETE_FROM.length);
      const list = result[field];
      if (Array.isArray(list) && Array.isArray(change))
        result[field] = list.filter((each) => !change.some((gone) => equalJson(gone, each)));
      continue;
    }
    if (change === null) {
      delete result[name];
      continue;
    }
    const merged = mergedField(Object.hasOwn(result, name) ? result[name] : undefined, change, struct?.fields.get(name));
    Object.defineProperty(result, name, { value: merged, enumerable: true, writable: true, configurable: true });
  }
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(ORDER) || !Array.isArray(order)) continue;
    const field = name.slice(ORDER.length);
    const list = result[field];
    const before = Array.isArray(object[field]) ? object[field] : [];
    if (Array.isArray(list)) result[field] = ordered(list, order, { key: struct?.fields.get(field)?.traits.mergeKey, before });
  }
  return result;
}

function mergedField(before: unknown, change: unknown, field: GoField | undefined): unknown {
  if (isMembers(change)) {
    const isReplaced = field?.traits.patch === "replace";
    const struct = field === undefined ? undefined : structIn(field.type);
    return mergedMembers(isMembers(before) && !isReplaced ? before : {}, change, struct);
  }
  if (!Array.isArray(change)) return change;
  const strategies = (field?.traits.patch ?? "").split(",");
  if (!strategies.includes("merge")) return change.filter((each) => !(isMembers(each) && each[DIRECTIVE] !== undefined));
  const list: readonly unknown[] = Array.isArray(before) ? before : [];
  const key = field?.traits.mergeKey ?? "";
  if (key === "") return [...list, ...change.filter((each) => !list.some((known) => equalJson(known, each)))];
  return mergedList(list, change, { key, struct: field === undefined ? undefined : structIn(field.type) });
}

interface KeyedList {
  readonly key: string;
  readonly struct: GoStruct | undefined;
}

function mergedList(list: readonly unknown[], changes: readonly unknown[], { key, struct }: KeyedList): readonly unknown[] {
  const isReplacement = changes.some((each) => isMembers(each) && each[DIRECTIVE] === "replace");
  const elements = changes.filter(isMembers);
  if (isReplacement)
    return elements
      .filter((each) => each[DIRECTIVE] !== "replace" || Object.keys(each).length > 1)
      .map((each) => without(each, [DIRECTIVE]));
  let result: unknown[] = [...list];
  for (const element of elements) {
    if (element[key] === undefined) throw badRequest(`map: ${JSON.stringify(element)} does not contain declared merge key: ${key}`);
    const is = (each: unknown) => isMembers(each) && equalJson(each[key], element[key]);
    if (element[DIRECTIVE] === "delete") {
      result = result.filter((each) => !is(each));
      continue;
    }
    const position = result.findIndex(is);
    if (position < 0) result.push(mergedMembers({}, element, struct));
    else result[position] = mergedMembers(result[position] as Members, element, struct);
  }
  return ordered(result, elements, { key, before: list });
}

/**
 * Elements of the patch in its order; those that it does not name go before the first one that stood behind them. Source: strategicpatch,
 * normalizeElementOrder.
 */
function ordered(
  list: readonly unknown[],
  order: readonly unknown[],
  { key, before }: { readonly key: string | undefined; readonly before: readonly unknown[] },
): readonly unknown[] {
  const idOf = (each: unknown) => JSON.stringify(isMembers(each) && key !== undefined && key !== "" ? each[key] : each);
  const wanted = order.map(idOf);
  const live = before.map(idOf);
  const result = list.filter((each) => wanted.includes(idOf(each))).sort((a, b) => wanted.indexOf(idOf(a)) - wanted.indexOf(idOf(b)));
  let place = 0;
  for (const each of list.filter((one) => !wanted.includes(idOf(one)))) {
    const position = live.indexOf(idOf(each));
    while (place < result.length && live.indexOf(idOf(result[place])) <= position) place++;
    result.splice(place++, 0, each);
  }
  return result;
}

function structIn(type: GoType): GoStruct | undefined {
  if (type.form === "struct") return structNamed(type.name);
  if (type.form === "pointer") return structIn(type.to);
  return type.form === "list" || type.form === "map" ? structIn(type.of) : undefined;
}

function without(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
