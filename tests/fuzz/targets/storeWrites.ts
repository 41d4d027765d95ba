import type { KindDigest, Store, StoreDelta } from "@isthmus/plane";
import { hashOf, hexOf, plus, ZERO } from "@isthmus/relay/session";

/** An object of a partition. */
export type Put = StoreDelta["put"][number];

/** Objects of an input: kind, key and text of each. */
export function putsOf(parts: readonly string[]): readonly Put[] {
  const put: Put[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [kindKey = "", key = "", text = ""] = parts.slice(at, at + 3);
    put.push({ kindKey, key, text });
  }
  return put;
}

/** The digests that a right head has of these objects. */
export function digestsOf(put: readonly Put[]): Readonly<Record<string, KindDigest>> {
  const kinds = new Map<string, Map<string, string>>();
  for (const { kindKey, key, text } of put) kinds.set(kindKey, (kinds.get(kindKey) ?? new Map<string, string>()).set(key, text));
  return Object.fromEntries(
    [...kinds].map(([kindKey, texts]) => {
      const sum = [...texts].reduce((all, [key, text]) => plus(all, hashOf(key, text)), ZERO);
      return [kindKey, { count: texts.size, digest: hexOf(sum) }];
    }),
  );
}

/** Of a head; anyone who writes through a store says something that JSON can hold. */
export function metaFrom(text: string): Parameters<Store["write"]>[0]["meta"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ReturnType<typeof metaFrom>) : {};
  } catch {
    return {};
  }
}
