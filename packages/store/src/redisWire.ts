import type { Fence, StoreArea, StoreDelta, StoreHead, StoreNotice, StoreSection, StoreVersion, StoreWrite } from "@isthmus/plane/ports";
import { headAfter } from "./areas.ts";

/** The names of keys in Redis; ARCHITECTURE.md lists them. */
export interface RedisKeys {
  readonly id: string;
  readonly fences: string;
  readonly channel: string;
  versions(section: StoreSection): string;
  heads(section: StoreSection): string;
  /** What the keys of an area's objects begin with; the kind key follows. */
  objects(area: StoreArea): string;
  /** What the keys of a group's records begin with; the name follows. */
  record(group: string): string;
  records(group: string): string;
}

export function redisKeys(prefix: string): RedisKeys {
  return {
    id: `${prefix}id`,
    fences: `${prefix}fences`,
    channel: `${prefix}changes`,
    versions: (section) => `${prefix}${section}:versions`,
    heads: (section) => `${prefix}${section}:heads`,
    objects: ({ section, clusterName }) => `${prefix}${section}:objects:${clusterName}:`,
    record: (group) => `${prefix}record:${group}:`,
    records: (group) => `${prefix}records:${group}`,
  };
}

function versionText(version: StoreVersion | undefined): string {
  return version === undefined ? "" : `${version.fence}.${version.sequence}`;
}

export function versionFrom(text: string): StoreVersion | undefined {
  const [fence, sequence] = text.split(".").map(Number);
  return text === "" || fence === undefined || sequence === undefined ? undefined : { fence, sequence };
}

/** The arguments of a write: what the script needs, and what everybody hears. */
export function writeArguments(write: StoreWrite, keys: RedisKeys): string[] {
  const { area, fence, base, delta, complete } = write;
  const head = headAfter(write);
  const fixed = [
    "written",
    fence.name,
    String(fence.number),
    area.section,
    area.clusterName,
    versionText(base),
    versionText(head.version),
    JSON.stringify(head),
    keys.objects(area),
    complete ? "all" : "head",
    ...[delta.erase, delta.remove, delta.put].map(({ length }) => String(length)),
  ];
  return [
    ...fixed,
    ...delta.erase,
    ...delta.remove.flatMap(({ kindKey, key }) => [kindKey, key]),
    ...delta.put.flatMap(({ kindKey, key, text }) => [kindKey, key, text]),
  ];
}

/** What a message of the channel says; undefined for one that a newer version may have sent. */
export function noticeFrom(message: string): StoreNotice | undefined {
  const told = JSON.parse(message) as readonly string[];
  const [type = "", first = "", second = "", third = "", fourth = ""] = told;
  switch (type) {
    case "written":
      return writtenFrom(told);
    case "cleared":
      return { type, fence: fenceFrom(first, second), area: { section: third as StoreSection, clusterName: fourth } };
    case "raised":
      return { type, fence: fenceFrom(first, second), by: third };
    case "recorded":
      return { type, group: first, name: second };
    default:
      return undefined;
  }
}

function writtenFrom(told: readonly string[]): StoreNotice {
  const at = (index: number) => told[index] ?? "";
  const area: StoreArea = { section: at(3) as StoreSection, clusterName: at(4) };
  const notice = { type: "written", area, base: versionFrom(at(5)), head: JSON.parse(at(7)) as StoreHead } as const;
  return at(9) === "all" ? { ...notice, delta: deltaFrom(told) } : notice;
}

function deltaFrom(told: readonly string[]): StoreDelta {
  const [erased, removed, put] = told.slice(10, 13).map(Number) as [number, number, number];
  const at = (index: number) => told[index] ?? "";
  const fromRemove = 13 + erased;
  const fromPut = fromRemove + 2 * removed;
  return {
    erase: told.slice(13, fromRemove),
    remove: Array.from({ length: removed }, (_, i) => ({ kindKey: at(fromRemove + 2 * i), key: at(fromRemove + 2 * i + 1) })),
    put: Array.from({ length: put }, (_, i) => ({
      kindKey: at(fromPut + 3 * i),
      key: at(fromPut + 3 * i + 1),
      text: at(fromPut + 3 * i + 2),
    })),
  };
}

export function fenceFrom(name: string, number: string): Fence {
  return { name, number: Number(number) };
}
