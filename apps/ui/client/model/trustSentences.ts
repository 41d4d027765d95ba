import type { TrustProgressStatus } from "@isthmus/api";
import { t } from "../strings.ts";

/** What a mesh waits for with its root, and what it is blocked by: without what one of `said` says already. */
export function trustSentences(trust: TrustProgressStatus | undefined, said: readonly string[] = []): readonly string[] {
  const { waitsFor = [], blockedBy = "" } = trust ?? {};
  const waits = waitsFor.map(({ mesh = "", offline }) => `${mesh}${offline ? ` (${t.meshes.offline})` : ""}`).join(", ");
  const isNew = (text: string) => text !== "" && !said.some((one) => one.includes(text));
  return [...(isNew(waits) ? [`${t.meshes.waitsFor} ${waits}`] : []), ...(isNew(blockedBy) ? [`${t.meshes.blockedBy} ${blockedBy}`] : [])];
}
