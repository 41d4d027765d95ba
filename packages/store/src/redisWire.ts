import { type Fence, isSameVersion, type StoreHead, type StorePartition, type StoreSection, type StoreVersion } from "@isthmus/ports";
import type { Seals } from "./seals.ts";

/** The names of keys in Redis; README.md of this package lists them. */
export interface RedisKeys {
  readonly id: string;
  readonly fences: string;
  readonly channel: string;
  versions(section: StoreSection): string;
  heads(section: StoreSection): string;
  /** What the keys of a partition's objects begin with; the kind key follows. */
  objects(partition: StorePartition): string;
  /** What the keys of a group's records begin with; the name follows. */
  record(group: string): string;
  records(group: string): string;
}

/** Names that begin with `prefix`, that of the plane (`RedisSettings.prefix`), and the version of the format. */
export function redisKeys(prefix: string): RedisKeys {
  const own = `${prefix}${FORMAT}`;
  return {
    id: `${own}id`,
    fences: `${own}fences`,
    channel: `${own}changes`,
    versions: (section) => `${own}${section}:versions`,
    heads: (section) => `${own}${section}:heads`,
    objects: ({ section, clusterName }) => `${own}${section}:objects:${clusterName}:`,
    record: (group) => `${own}record:${group}:`,
    records: (group) => `${own}records:${group}`,
  };
}

// Servers of another format have keys and a channel of their own: they neither understand nor disturb each other.
const FORMAT = "2:";

/** The longest texts that are read, in bytes: what is longer was not written by a server. */
export const LONGEST = { key: 1_024, small: 512, record: 64 * 1_024, head: 8 * 1_024 * 1_024, object: 4 * 1_024 * 1_024 } as const;

/** What the texts in Redis say, once it is clear that a server wrote them. Each gives undefined for one that none wrote to this place. */
export interface RedisTexts {
  fence(fence: Fence): string;
  fenceIn(name: string, text: string): Fence | undefined;
  version(partition: StorePartition, version: StoreVersion): string;
  versionIn(partition: StorePartition, text: string): StoreVersion | undefined;
  head(partition: StorePartition, head: StoreHead): string;
  headIn(partition: StorePartition, text: string): StoreHead | undefined;
  /** `until`: milliseconds since 1970 after which it does not count, whatever Redis says. */
  record(group: string, name: string, said: { readonly value: string; readonly until: number | undefined }): string;
  recordIn(group: string, name: string, text: string): { readonly value: string; readonly until: number | undefined } | undefined;
}

/** Signs what is written, for its use and place, and reads only what one of the keys of `seals` has signed for the same. */
export function redisTexts(seals: Seals): RedisTexts {
  const placeOf = ({ section, clusterName }: StorePartition) => [section, clusterName];
  return {
    fence: ({ name, number }) => seals.seal("fence", [name], String(number)),
    fenceIn(name, text) {
      const content = seals.open("fence", [name], text);
      const number = Number(content);
      return content === undefined || !Number.isSafeInteger(number) ? undefined : { name, number };
    },
    version: (partition, version) => seals.seal("version", placeOf(partition), versionText(version)),
    versionIn(partition, text) {
      const content = seals.open("version", placeOf(partition), text);
      return content === undefined ? undefined : versionFrom(content);
    },
    head: (partition, head) => seals.seal("head", placeOf(partition), JSON.stringify(head)),
    headIn(partition, text) {
      const content = seals.open("head", placeOf(partition), text);
      return content === undefined ? undefined : (JSON.parse(content) as StoreHead);
    },
    record: (group, name, { value, until }) => seals.seal("record", [group, name], `${until ?? ""}:${value}`),
    recordIn(group, name, text) {
      const content = seals.open("record", [group, name], text);
      if (content === undefined) return undefined;
      const colon = content.indexOf(":");
      const until = content.slice(0, colon);
      return { value: content.slice(colon + 1), until: until === "" ? undefined : Number(until) };
    },
  };
}

/** The head of a partition, if its version is the one that is published of it apart: else one of them was put there later. */
export function headOf(texts: RedisTexts, partition: StorePartition, [version, head]: readonly [string, string]): StoreHead | undefined {
  const known = version === "" ? undefined : texts.versionIn(partition, version);
  const found = known === undefined || head === "" ? undefined : texts.headIn(partition, head);
  return found !== undefined && isSameVersion(found.version, known) ? found : undefined;
}

/** A version as fence.sequence, such as `3.17`; "" where there is none. */
export function versionText(version: StoreVersion | undefined): string {
  return version === undefined ? "" : `${version.fence}.${version.sequence}`;
}

/** The inverse of `versionText`. Whether the parts are numbers is not checked: only texts that were signed are read. */
export function versionFrom(text: string): StoreVersion | undefined {
  const [fence, sequence] = text.split(".").map(Number);
  return text === "" || fence === undefined || sequence === undefined ? undefined : { fence, sequence };
}
